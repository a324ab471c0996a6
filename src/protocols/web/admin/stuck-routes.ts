import { remind } from "../../../requests/inbox/remind.ts";
import { Refusal } from "../../../refusals.ts";
import { type StuckReport, readStuck } from "../../../stuck/read-stuck.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { WireReminded, WireStuckReport } from "../../../wire/stuck.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { isId } from "../../http/ids.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { ADMIN_REFUSALS, timeText } from "./access-routes.ts";

/** Mounts the routes that tell admins what is stuck, and that remind those who are asked. */
export function adminStuckRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx, policy } = door;
  return async (app) => {
    app.get(
      "/admin/stuck",
      {
        schema: {
          tags: ["administration"],
          summary: "What waits and will not end by itself, by its cause",
          response: { 200: jsonReply(WireStuckReport), ...ADMIN_REFUSALS },
        },
      },
      async (http) => {
        await administrator(door, http);
        return printReport(await readStuck(ctx, { problem: policy.problem() }));
      },
    );

    app.post<{ Params: { id: string } }>(
      "/admin/requests/:id/remind",
      {
        schema: {
          tags: ["administration"],
          summary: "Tell everybody who is asked once more",
          response: { 200: jsonReply(WireReminded), ...ADMIN_REFUSALS, 404: ErrorBody, 409: ErrorBody, 410: ErrorBody },
        },
      },
      async (http) => {
        const by = await administrator(door, http);
        const { id } = http.params;
        if (!isId(id)) throw new Refusal("request_not_found");
        return (await remind(ctx, id, by)) satisfies WireReminded;
      },
    );
  };
}

function printReport({ atMs, running, isPart, causes, names }: StuckReport): WireStuckReport {
  return {
    at: timeText(atMs),
    running,
    more_open: isPart,
    causes: causes.map(({ cause, count, items }) => ({
      cause,
      count,
      items: items.map(({ kind, id, sentence, agent, people, sinceMs, channel, error }) => ({
        kind,
        id,
        sentence,
        agent,
        people: people.map((person) => ({ id: person, name: names.get(person) ?? person })),
        since: sinceMs === null ? null : timeText(sinceMs),
        channel,
        error,
      })),
    })),
  };
}
