import { reportOutcome } from "../../requests/outcome/report-outcome.ts";
import { reportUse } from "../../requests/outcome/report-use.ts";
import { noteGiven, readWaitingNotes } from "../../requests/notes/give-notes.ts";
import { WireReadableNotes } from "../../wire/agent-note.ts";
import { NotesGivenBody, OutcomeBody, UseOutcomeBody } from "../../wire/a2h/new-request.ts";
import { WireCallOutcome } from "../../wire/a2h/request.ts";
import { callerFrom } from "./caller.ts";
import { checkedBody } from "./fields.ts";
import { printOutcome } from "./print.ts";
import { findOwnRequest } from "./requests.ts";
import { bodyOf, routeOptions, type Mount } from "./route.ts";

interface WithId {
  Params: { id: string };
}

/** Reporting what became of an approved call (spec/a2h 24). */
export function outcomeRoutes(mount: Mount): void {
  const { app, door } = mount;
  const { ctx } = door;
  app.post<WithId>(
    "/function_calls/:id/outcome",
    routeOptions(mount, {
      noun: "call",
      summary: "Report what became of an approved function call",
      body: OutcomeBody,
      reply: WireCallOutcome,
    }),
    async (http, reply): Promise<WireCallOutcome> => {
      const caller = await callerFrom(door, http, ["agent"]);
      const { id } = await findOwnRequest(door, caller, "call", http.params.id);
      const { outcome: state, result_digest: resultDigest, text: words } = checkedBody(OutcomeBody, bodyOf(http));
      const report = { state, ...(resultDigest !== undefined && { resultDigest }), ...(words && { words }) };
      const { outcome, repeated } = await reportOutcome(ctx, id, report);
      if (repeated) reply.header("idempotency-replayed", "true");
      return printOutcome(outcome);
    },
  );
  hookRoutes(mount);
}

/** The hooks of coding agents report here after a tool, and take notes to their agents (spec/a2h 21 and 26). */
function hookRoutes(mount: Mount): void {
  const { app, door } = mount;
  const { ctx } = door;
  app.post(
    "/agent_prompts/outcome",
    routeOptions(mount, {
      noun: "call",
      summary: "Report how a use of a tool ended, whose prompt may have been approved",
      body: UseOutcomeBody,
      reply: WireReadableNotes,
      replies: {
        204: "Whether or not a request of the caller is about this use",
        200: "The same, with notes for the agent",
      },
    }),
    async (http, reply) => {
      const { principal, conversation } = await callerFrom(door, http, ["agent"]);
      const body = checkedBody(UseOutcomeBody, bodyOf(http));
      const { agent: promptOf, tool, use, use_digest: useDigest } = body;
      const { outcome: state, result_digest: resultDigest, text: words } = body;
      const whose = { promptOf, asker: principal, ...(conversation !== null && { conversation }) };
      const report = { state, ...(resultDigest !== undefined && { resultDigest }), ...(words && { words }) };
      await reportUse(ctx, { ...whose, tool, ...(use && { use }), ...(useDigest && { useDigest }) }, report);
      const { run_id: run } = body;
      const notes = run === undefined ? [] : await readWaitingNotes(ctx, { agent: principal, run });
      return notes.length === 0 ? reply.code(204).send() : reply.send({ notes } satisfies WireReadableNotes);
    },
  );
  app.post(
    "/agent_prompts/notes",
    routeOptions(mount, {
      noun: "call",
      summary: "Say that the agent of a session has notes of people",
      body: NotesGivenBody,
      replies: { 204: "Whether or not they waited for it" },
    }),
    async (http, reply) => {
      const { principal } = await callerFrom(door, http, ["agent"]);
      const { run_id: run, notes } = checkedBody(NotesGivenBody, bodyOf(http));
      await noteGiven(ctx, { agent: principal, run }, notes);
      return reply.code(204).send();
    },
  );
}
