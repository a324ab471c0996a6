import { Refusal } from "../../../refusals.ts";
import { yieldToEventLoop } from "../../../lib/event-loop.ts";
import { printableExactly } from "../../../lib/printable.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import { argumentsOf, membersOf } from "../../../requests/model/argument-order.ts";
import { NO_DEADLINE } from "../../../requests/model/request.ts";
import { riskOf, riskReasonsOf } from "../../../requests/model/risk.ts";
import { sentenceOf } from "../../../requests/model/sentence.ts";
import { languageOf, type Language } from "../../../requests/model/sentence-words.ts";
import { askerName } from "../../../requests/model/view.ts";
import { decideBatch } from "../../../requests/decide/decide-batch.ts";
import { responderOf } from "../../../requests/decide/decider.ts";
import { ownCardOf, readBatch, type Batch } from "../../../requests/inbox/read-batch.ts";
import { isCall } from "../../../requests/read/recorded-decision.ts";
import { readInInbox } from "../../../requests/read/read-request.ts";
import { BatchDecisionBody, WireBatch, WireDecidedBatch } from "../../../wire/batch.ts";
import { ErrorBody } from "../../../wire/error.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";
import { drawnRows } from "../drawing/draw-thread.ts";
import { shownName } from "./arguments.ts";
import { MOST_REASONS, type WithArguments } from "./wire.ts";

const refusals = { 401: ErrorBody, 404: ErrorBody } as const;

interface OneBatch {
  Params: { id: string };
}

/** Mounts the calls of one agent and function beside one another, and decisions about several of them at once. */
export function batchRoutes(app: Door, door: DoorContext): void {
  app.get<OneBatch>(
    "/people/me/batches/:id",
    {
      schema: {
        tags: ["inbox"],
        summary: "The waiting calls of the same agent and function",
        response: { 200: jsonReply(WireBatch), ...refusals },
      },
    },
    async (http) => {
      const { ctx } = door;
      const { person } = await signedInPerson(door, http);
      const who = { ...(await responderOf(ctx.db, person, "web")), person };
      return batchBody(await readBatch(ctx, who, http.params.id), languageOf(http.headers["accept-language"]));
    },
  );

  app.post(
    "/people/me/decisions",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Approve or reject several calls, all or none",
        body: BatchDecisionBody,
        response: { 200: jsonReply(WireDecidedBatch), 400: ErrorBody, ...refusals, 403: ErrorBody, 409: ErrorBody },
      },
    },
    async (http) => decideTogether(door, http),
  );
}

/** Returns calls beside one another; each looks at all of its arguments, so others are served between two of them. */
async function batchBody(
  { calls, same, differing, marks, more }: Batch,
  language: Language,
): Promise<WithArguments<WireBatch>> {
  const [first] = calls;
  if (!first) throw new Refusal("request_not_found");
  const { request: one } = first;
  const shared = await drawnRows(one, onlyOf(one.form.kwargs, same));
  const rows: WithArguments<WireBatch["calls"]> = [];
  for (const [at, { request, alone }] of calls.entries()) {
    rows.push({
      id: request.id,
      digest: request.digest ?? "",
      sentence: sentenceOf(request, language),
      risk: riskOf(request),
      risk_reasons: riskReasonsOf(request).slice(0, MOST_REASONS),
      created_at: wireTime(request.createdAt),
      expires_at: request.expiresAt >= NO_DEADLINE ? null : wireTime(request.expiresAt),
      arguments: await drawnRows(request, onlyOf(request.form.kwargs, differing)),
      marks: (marks[at] ?? []).map((mark) => ({
        ...mark,
        argument: mark.argument === null ? null : shownName(mark.argument),
        says: printableExactly(mark.says),
      })),
      alone,
    });
    await yieldToEventLoop();
  }
  return {
    agent: askerName(one),
    principal: one.asker,
    fn: printableExactly(one.form.fn),
    arguments: shared,
    differing: differing.map(shownName),
    calls: rows,
    more,
  };
}

/** Returns the text of a call's arguments with these alone. */
function onlyOf(kwargs: string, names: readonly string[]): string {
  return argumentsOf(membersOf(kwargs).filter(({ name }) => names.includes(name)));
}

/** Records what the signed-in person decided about several calls. */
async function decideTogether(door: DoorContext, http: FastifyRequest): Promise<WireDecidedBatch> {
  const { ctx } = door;
  const { person, byKey, session } = await signedInPerson(door, http);
  const { approved, comment, calls } = http.body as BatchDecisionBody;
  if (new Set(calls.map(({ id }) => id)).size < calls.length) {
    throw refuseFields([{ message: "calls names a call twice", field: "calls", constraint: "unique" }]);
  }
  for (const { id } of calls) {
    const request = await readInInbox(ctx, person, id);
    if (!isCall(request)) throw new Refusal("wrong_decision", { ask_id: id });
    const why = approved ? ownCardOf(request) : null;
    if (why !== null) {
      const message = `${id} ${why === "secret" ? "holds a secret" : "is too long for a table"}: approve it alone`;
      throw refuseFields([{ message, field: "calls", constraint: "excluded" }]);
    }
  }
  const responder = await responderOf(ctx.db, person, byKey ? "api" : "web");
  const decided = await decideBatch(ctx, {
    calls: calls.map(({ id, digest }) => ({ requestId: id, digest })),
    approved,
    ...(comment?.trim() && { comment }),
    responder,
    byKey,
    session,
  });
  return {
    calls: decided.map(({ id, state, presses = [] }) => {
      const own = presses.find((press) => press.person === person);
      return { id, state, until: own ? wireTime(own.dueAt) : null };
    }),
  };
}
