import type { z } from "zod";
import { readAudit } from "../../core/read-audit.ts";
import type { FastifyRequest } from "../http/door.ts";
import { keyHolder } from "../http/principals.ts";
import { callerFrom } from "./caller.ts";
import { checked, given, read } from "./fields.ts";
import { queryText } from "../http/query.ts";
import { queryNumber, routeOptions, type Mount } from "./route.ts";
import { moment } from "../../wire/a2h/fields.ts";
import { WireAuditPage } from "../../wire/audit.ts";
import { WireProject, WireServerStatus } from "../../wire/server.ts";

/** The protocol's own version, which its clients compare. */
export const A2H_VERSION = "1.0.0";

/** Both sets of fields that clients read. */
const PROJECT: WireProject = {
  name: "default",
  slug: "default",
  organization: "self-hosted",
  project_slug: "default",
  org_slug: "self-hosted",
};

/** Mounts the routes about the server itself, and those of the audit record (spec/a2h 6 and 18). */
export function serverRoutes(mount: Mount): void {
  const { app, door } = mount;
  const { ctx } = door;

  const about = (summary: string, reply: z.ZodType) => routeOptions(mount, { noun: "path", summary, reply });

  app.get("/status", about("That the server answers", WireServerStatus), async (): Promise<WireServerStatus> => ({
    status: "ok",
    version: A2H_VERSION,
  }));

  app.get("/project", about("The one project", WireProject), async (http) => {
    await keyHolder(door, http, { bound: true });
    return PROJECT;
  });

  app.get("/audit", about("Who did what, chained", WireAuditPage), async (http): Promise<WireAuditPage> => {
    await callerFrom(door, http, ["admin"]);
    const agent = queryText(http.query, "agent");
    const mostSeq = Number.MAX_SAFE_INTEGER;
    const beforeSeq = queryNumber(http, "before_seq", { min: 1, max: mostSeq, usual: undefined });
    const { items, hasMore, head, unsealed } = await readAudit(ctx, {
      ...given({
        subjectId: queryText(http.query, "ask_id"),
        callId: queryText(http.query, "call_id"),
        agent,
        action: queryText(http.query, "action"),
        sinceMs: queryTime(http, "since"),
        untilMs: queryTime(http, "until"),
        beforeSeq,
      }),
      afterSeq: queryNumber(http, "after_seq", { min: 0, max: mostSeq, usual: 0 }),
      limit: queryNumber(http, "limit", { min: 1, max: 1000, usual: 100 }),
    });
    return { items, has_more: hasMore, head, unsealed };
  });
}

function queryTime(http: FastifyRequest, name: string): number | undefined {
  const text = queryText(http.query, name);
  if (text === undefined) return undefined;
  return Date.parse(checked((problems) => read(moment, text, { loc: ["query", name], problems })));
}
