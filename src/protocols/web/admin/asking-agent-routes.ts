import { z } from "zod";
import { type AgentPage, readAgents } from "../../../agents/read-agents.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import { printable } from "../../../lib/printable.ts";
import { agentName } from "../../../requests/model/view.ts";
import { WireAskingAgentPage } from "../../../wire/asking-agent.ts";
import { ErrorBody } from "../../../wire/error.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { cursorField, PAGE } from "../../http/list-pages.ts";
import { administrator } from "../../http/principals.ts";
import { ADMIN_REFUSALS, timeText } from "./access-routes.ts";

const Page = z.object(cursorField);
/** A principal, as `next` has it. */
const PRINCIPAL = /^[a-z]+:[^\p{Cc}]+$/u;

/** Mounts the list of programs that ask. */
export function adminAskingAgentRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.get(
      "/admin/asking_agents",
      {
        schema: {
          tags: ["administration"],
          summary:
            "Every program that ever asked, or holds a key for it: what waits, and how its newest requests ended",
          querystring: Page,
          response: { 200: jsonReply(WireAskingAgentPage), 400: ErrorBody, ...ADMIN_REFUSALS },
        },
      },
      async (http) => {
        await administrator(door, http);
        const { cursor = "" } = http.query as z.output<typeof Page>;
        if (cursor !== "" && !PRINCIPAL.test(cursor)) {
          throw refuseFields([{ message: "cursor is not a page's next", field: "cursor", constraint: "format" }]);
        }
        return printPage(await readAgents(door.ctx, { after: cursor, limit: PAGE }));
      },
    );
  };
}

function printPage({ atMs, agents, next }: AgentPage): WireAskingAgentPage {
  const time = (ms: number | null) => (ms === null ? null : timeText(ms));
  return {
    at: timeText(atMs),
    agents: agents.map(({ principal, askedAt, waiting, questions, isFrozen, keys, grants, ...figures }) => ({
      principal,
      name: printable(agentName(principal)),
      asked_at: time(askedAt),
      waiting,
      questions,
      newest: {
        of: figures.of,
        approved: figures.approved,
        rejected: figures.rejected,
        median_wait_ms: figures.medianWaitMs,
      },
      frozen: isFrozen,
      keys: keys.map(({ id, usedAt }) => ({ id, used_at: time(usedAt) })),
      grants,
    })),
    next,
  };
}
