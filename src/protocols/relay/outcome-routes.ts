import { reportAskOutcome } from "../../asks/outcome/report-ask-outcome.ts";
import { WireAskOutcome } from "../../wire/relay/ask.ts";
import { AskOutcomeBody } from "../../wire/relay/new-ask.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { askIdOf, enter, writerOf } from "./job-requests.ts";
import { askOutcomeWire } from "./print.ts";
import { bodyOf, routeOptions } from "./request.ts";

/** Reporting what became of a call that an ask allowed (spec/relay 13). */
export function outcomeRoutes(app: Door, door: DoorContext): void {
  app.post<{ Params: { id: string } }>(
    "/asks/:id/outcome",
    routeOptions({
      summary: "Report what became of the call that an ask allowed",
      body: AskOutcomeBody,
      reply: WireAskOutcome,
    }),
    async (http, reply): Promise<WireAskOutcome> => {
      const caller = await enter(door, http, ["executor", "agent"]);
      const id = askIdOf(http);
      const { outcome: state, result_digest: resultDigest, text: words } = bodyOf(http, AskOutcomeBody);
      const end = { ...(resultDigest !== undefined && { resultDigest }), ...(words && { words }) };
      const report = state === "started" ? { state } : { state, ...end };
      const { outcome, repeated } = await reportAskOutcome(door.ctx, id, writerOf(http, caller), report);
      if (repeated) reply.header("idempotency-replayed", "true");
      return askOutcomeWire(outcome);
    },
  );
}
