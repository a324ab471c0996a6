import { languageOf, type Language } from "../../../requests/model/sentence-words.ts";
import { freezerOf, mayFreeze } from "../../../policy/freezes.ts";
import { mayGrantCall } from "../../../requests/decide/grant-call.ts";
import { z } from "zod";
import type { Context } from "../../../context.ts";
import { yieldAfterLarge } from "../../../lib/event-loop.ts";
import type { Request, Decision } from "../../../requests/model/request.ts";
import { offeredBy, optionsOf } from "../../../requests/model/view.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import { INBOX_DUE, INBOX_ORDERS } from "../../../requests/model/inbox.ts";
import { decisionOfReply } from "../../../requests/model/decision-of-reply.ts";
import { keptForS } from "../../../asks/respond/put-to-people.ts";
import { Refusal } from "../../../refusals.ts";
import { decideRequest } from "../../../requests/decide/decide.ts";
import { mayDecideAt, responderOf } from "../../../requests/decide/decider.ts";
import { secretsOfArguments } from "../../../requests/create/guard-arguments.ts";
import { followInbox } from "../../../requests/inbox/follow-inbox.ts";
import { namePeople } from "../../../access/name-people.ts";
import { readDetails, readersFor, readInInbox } from "../../../requests/read/read-request.ts";
import { storeNow } from "../../../core/store-now.ts";
import { readInbox } from "../../../requests/inbox/read-inbox.ts";
import { snoozedUntil } from "../../../requests/inbox/snooze.ts";
import { readNotedRun } from "../../../requests/notes/send-note.ts";
import { agentNotesBody } from "../../http/agent-notes.ts";
import { WireAlike } from "../../../wire/alike.ts";
import { readTaskOfAsk } from "../../../tasks/read-task-of-ask.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { text } from "../../../wire/fields.ts";
import { InboxDecisionBody, InboxEditBody, WireEditedCall, WireInboxAsk, WireInboxPage } from "../../../wire/inbox.ts";
import { alikeBody, chosenGrant } from "./alike.ts";
import { cursorOf, readCursor } from "./cursor.ts";
import { evidenceRoutes } from "./evidence-routes.ts";
import { approvedCallsOf } from "./approved-calls.ts";
import { awayRoutes } from "./away-routes.ts";
import { freezeRoutes } from "./freeze-routes.ts";
import { canonicalArguments } from "./given-arguments.ts";
import { batchRoutes } from "./batch-routes.ts";
import { handedFields, handOnRoutes, printHandOns } from "./hand-on-routes.ts";
import { inquiryRoutes } from "./inquiry-routes.ts";
import { noteRoutes } from "./note-routes.ts";
import { runRoutes } from "./run-routes.ts";
import { snoozeRoutes } from "./snooze-routes.ts";
import { undoRoutes } from "./undo-routes.ts";
import { parseDecision } from "./parse-decision.ts";
import { planBody } from "./plan.ts";
import { precedentRoutes } from "./precedent-routes.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";
import { sendEvents } from "../../http/sse.ts";
import { editedCall, inboxCountsBody, listedAsks, wholeRequest, type WithArguments } from "./wire.ts";
import { ErrorBody } from "../../../wire/error.ts";

const PAGE = 50;
const DAY_MS = 86_400_000;
/** As long as the arguments that may be edited. */
const DECISION_BYTES = 1_048_576;

const List = z.object({
  state: z.enum(["open", "over"]).optional(),
  kind: z.enum(["approval", "reply", "value"]).optional(),
  agent: text(1, 200).describe("Only what this agent asked, by its name.").optional(),
  due: z.enum(INBOX_DUE).optional(),
  q: text(1, 200).describe("Only what holds all of these words.").optional(),
  order: z
    .enum(INBOX_ORDERS)
    .describe("Of what waits: soonest deadline, longest wait or highest risk first.")
    .optional(),
  snoozed: z
    .enum(["true", "false"])
    .describe("Of what waits: only what I have put aside or handed on, or none of it.")
    .optional(),
  before: text(1, 120).describe("`next` of the page before.").optional(),
});

const refusals = { 401: ErrorBody, 404: ErrorBody } as const;

/** Mounts the signed-in person's inbox: the list, each ask in full, decisions, and hints of changes. */
export function inboxRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseDecision(http));
    askRoutes(app, door);
    decisionRoutes(app, door);
    batchRoutes(app, door);
    evidenceRoutes(app, door);
    snoozeRoutes(app, door);
    undoRoutes(app, door);
    handOnRoutes(app, door);
    inquiryRoutes(app, door);
    noteRoutes(app, door);
    awayRoutes(app, door);
    freezeRoutes(app, door);
    precedentRoutes(app, door);
    runRoutes(app, door);
  };
}

function askRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/people/me/asks",
    {
      schema: {
        tags: ["inbox"],
        summary: "What waits for me",
        querystring: List,
        response: { 200: jsonReply(WireInboxPage), ...refusals },
      },
    },
    async (http) => inboxPage(door, http),
  );

  app.get<OneAsk>(
    "/people/me/asks/:id",
    {
      schema: { tags: ["inbox"], summary: "One ask in full", response: { 200: jsonReply(WireInboxAsk), ...refusals } },
    },
    async (http) => {
      const { person } = await signedInPerson(door, http);
      return wholeFor(ctx, readerOf(http, person), await readInInbox(ctx, person, http.params.id));
    },
  );

  app.get<OneAsk>(
    "/people/me/asks/:id/alike",
    {
      schema: {
        tags: ["inbox"],
        summary: "Calls like this one, as I may allow them",
        response: { 200: jsonReply(WireAlike), ...refusals },
      },
    },
    async (http) => {
      const { person } = await signedInPerson(door, http);
      const request = await readInInbox(ctx, person, http.params.id);
      return alikeBody(ctx, request, readerOf(http, person));
    },
  );

  app.get(
    "/people/me/events",
    { schema: { tags: ["inbox"], summary: "Follow my inbox (SSE)", response: { 401: ErrorBody, 429: ErrorBody } } },
    async (http, reply) => {
      const { person } = await signedInPerson(door, http);
      using _place = door.limiter.enter("inbox streams", person, door.config.limits.humanStreams);
      await sendEvents(door, http, reply, async function* (signal) {
        for await (const changed of followInbox(ctx, person, signal)) {
          for (const id of changed) yield { event: "changed", data: JSON.stringify(id === null ? {} : { id }) };
        }
      });
      return reply;
    },
  );
}

function decisionRoutes(app: Door, door: DoorContext): void {
  app.post<OneAsk>(
    "/people/me/asks/:id/decision",
    {
      bodyLimit: DECISION_BYTES,
      config: { takesBody: true, maxBodyBytes: DECISION_BYTES },
      schema: {
        tags: ["inbox"],
        summary: "Approve, reject, reply",
        body: InboxDecisionBody,
        response: { 200: jsonReply(WireInboxAsk), 400: ErrorBody, ...refusals, 403: ErrorBody, 409: ErrorBody },
      },
    },
    async (http) => decide(door, http),
  );

  app.post<OneAsk>(
    "/people/me/asks/:id/edited",
    {
      bodyLimit: DECISION_BYTES,
      config: { takesBody: true, maxBodyBytes: DECISION_BYTES },
      schema: {
        tags: ["inbox"],
        summary: "A call with edited arguments, before it is approved",
        body: InboxEditBody,
        response: { 200: jsonReply(WireEditedCall), 400: ErrorBody, ...refusals },
      },
    },
    async (http) => showEdited(door, http),
  );
}

/** The signed-in person, and the language that their program asks for. */
interface InboxReader {
  person: string;
  language: Language;
}

function readerOf({ headers }: FastifyRequest, person: string): InboxReader {
  return { person, language: languageOf(headers["accept-language"]) };
}

/** Returns an ask as a person sees it in full, with what they may do about it. */
async function wholeFor(
  ctx: Context,
  { person, language }: InboxReader,
  request: Request,
): Promise<WithArguments<WireInboxAsk>> {
  const who = await responderOf(ctx.db, person, "web");
  const mayStand = await mayGrantCall(ctx, request, person);
  const task = await readTaskOfAsk(ctx, request);
  const now = await storeNow(ctx.db);
  const until = await snoozedUntil(ctx, { requestId: request.id, person });
  const handed = await handedFields(ctx, person, [request.id]);
  const grantUntil = mayStand ? wireTime(now + ctx.addressed.grantDays * DAY_MS) : null;
  const plan = await planBody(ctx, request, language);
  const reader = { who, now, language, besideCalls: plan !== null };
  const whole = await wholeRequest(request, await readDetails(ctx, request), reader);
  const mayDecide = whole.may_decide && mayDecideAt(ctx, { request, now }, who);
  const keptS = keptForS(request);
  const keepUntil = keptS === null ? null : wireTime(now + keptS * 1000);
  return {
    ...whole,
    plan,
    may_decide: mayDecide,
    keep_until: keepUntil,
    principal: request.asker,
    has_run: request.run !== undefined,
    may_freeze: await mayFreezeAsker(ctx, request.asker, person),
    may_stand: mayStand,
    snoozed_until: until === null ? null : wireTime(until),
    ...handed.get(request.id),
    standing_until: grantUntil,
    task,
    notes: await notesFor(ctx, request, person),
  };
}

/** Returns the notes to the agent of an ask; null where it reads none. */
async function notesFor(ctx: Context, request: Request, person: string): Promise<WireInboxAsk["notes"]> {
  const run = await readNotedRun(ctx, ctx.db, request);
  return run && agentNotesBody(ctx, run, person, await readersFor(ctx.db, person));
}

/** Attempts at tasks, and the server itself where it asks, are frozen with everything only. */
async function mayFreezeAsker(ctx: Context, asker: string, person: string): Promise<boolean> {
  if (!/^(?:agent|executor|assign|open):/.test(asker)) return false;
  return mayFreeze(ctx.db, { scope: "agent", subject: asker }, await freezerOf(ctx, person, "web"));
}

/** Returns a page of what is addressed to the signed-in person. */
async function inboxPage(door: DoorContext, http: FastifyRequest): Promise<WithArguments<WireInboxPage>> {
  const { ctx } = door;
  const { person } = await signedInPerson(door, http);
  const { kind, agent, due, order, q, snoozed, before, ...wanted } = http.query as z.output<typeof List>;
  const { state = q === undefined ? "open" : "over" } = wanted;
  const ofOpen = due ? "due" : agent !== undefined ? "agent" : order ? "order" : snoozed ? "snoozed" : undefined;
  if (state === "over" && ofOpen) {
    throw refuseFields([{ message: `${ofOpen} is of what waits`, field: ofOpen, constraint: "excluded" }]);
  }
  const language = languageOf(http.headers["accept-language"]);
  const filter = { state, ...(kind && { kind }), agent, due, snoozed: snoozed === "true" };
  const input = { ...filter, language, ...(order && { order }), ...(q !== undefined && { query: q }) };
  const after = before === undefined ? undefined : readCursor(before);
  const page = { limit: PAGE, after };
  const { asks, next, counts, alike, snoozes, handOns, callOutcomes } = await readInbox(ctx, person, input, page);
  const deciders = asks.flatMap(({ outcome }) => (outcome?.by?.kind === "person" ? [outcome.by.id] : []));
  const names = await namePeople(ctx, deciders);
  const handed = await printHandOns(ctx, handOns);
  return {
    asks: await listedAsks(asks, { names, language, callOutcomes }, ({ id }) => {
      const until = snoozes.get(id);
      const snoozedTo = until === undefined ? null : wireTime(until);
      return { alike: alike.get(id) ?? null, snoozed_until: snoozedTo, ...handed.get(id) };
    }),
    next: next && cursorOf(next),
    counts: counts && inboxCountsBody(counts),
  };
}

/** Records what the signed-in person decided, and returns the ask as it is then. */
async function decide(door: DoorContext, http: FastifyRequest<OneAsk>): Promise<WithArguments<WireInboxAsk>> {
  const { ctx } = door;
  const { person, byKey, session } = await signedInPerson(door, http);
  const request = await readInInbox(ctx, person, http.params.id);
  const given = http.body as InboxDecisionBody;
  if (given.same_next_time && keptForS(request) === null) {
    throw new Refusal("not_grantable", {}, "This answer cannot be kept for the next time; give it alone.");
  }
  const read = await decisionOf(request, given);
  const withGrant = read.kind === "approve" ? await chosenGrant(ctx, request, { given, person }) : undefined;
  const decision = {
    ...read,
    ...(withGrant && { withGrant }),
    ...(given.same_next_time && { sameNextTime: true as const }),
  };
  const responder = await responderOf(ctx.db, person, byKey ? "api" : "web");
  const decided = await decideRequest(ctx, {
    requestId: request.id,
    read: request,
    responder,
    decision,
    byKey,
    session,
  });
  await yieldAfterLarge(decided.request.outcome?.kwargs ?? decided.request.outcome?.value ?? "");
  return wholeFor(ctx, readerOf(http, person), decided.request);
}

/** Returns a call as it would run with the arguments that somebody wrote. Changes nothing. */
async function showEdited(door: DoorContext, http: FastifyRequest<OneAsk>): Promise<WithArguments<WireEditedCall>> {
  const { person } = await signedInPerson(door, http);
  const request = await readInInbox(door.ctx, person, http.params.id);
  const { form } = request;
  if (form.kind !== "approval" || !form.editable) throw new Refusal("not_editable");
  const { kwargs } = http.body as InboxEditBody;
  if (kwargs === undefined) throw missing("kwargs");
  const canonical = await canonicalArguments(kwargs);
  const run = { kwargs: canonical, guard: await secretsOfArguments(door.ctx, canonical) };
  return editedCall(request, run, readerOf(http, person).language);
}

interface OneAsk {
  Params: { id: string };
}

/**
 * Returns what somebody decided, in the terms of what was asked; a ready-made answer alone says its own words
 * (spec/a2h 5.2).
 *
 * @throws {Refusal} `invalid_input`
 */
async function decisionOf(request: Request, given: InboxDecisionBody): Promise<Decision> {
  const { option, digest } = given;
  const fill = optionsOf(request).find(({ name }) => name === option)?.promptFill;
  const comment = given.comment?.trim() ? given.comment : fill;
  const decision = { ...(comment !== undefined && { comment }), digest };
  const { form } = request;
  if (form.kind === "approval") {
    if (given.approved === undefined) throw missing("approved");
    const upTo = approvedCallsOf(form.calls, given);
    if (!given.approved || upTo === 0) return { kind: "reject", ...decision, ...(option !== undefined && { option }) };
    // Nobody approves what was not shown to them.
    if (digest === undefined) throw missing("digest");
    if (option !== undefined) {
      throw refuseFields([{ message: "option is a way to reject", field: "option", constraint: "excluded" }]);
    }
    const kwargs = given.kwargs === undefined ? undefined : await canonicalArguments(given.kwargs);
    return {
      kind: "approve",
      ...decision,
      ...(kwargs !== undefined && { kwargs }),
      ...(upTo !== undefined && { upTo }),
    };
  }
  if (form.kind === "reply") {
    const text = given.text?.trim() ? given.text : fill;
    if (text === undefined && option === undefined) throw missing("text");
    return { kind: "reply", ...(text !== undefined && { text }), ...(option !== undefined && { option }) };
  }
  if (given.value === undefined && option !== undefined) {
    const chosen = decisionOfReply(
      request,
      { content: { choice: { kind: "option named", name: option, ...decision } } },
      "",
    );
    if (!chosen) throw new Refusal("unknown_option", { options: offeredBy(request).map(({ name }) => name) });
    return chosen;
  }
  if (form.schema === null || given.value === undefined) {
    if (!given.text?.trim()) throw missing(form.schema === null ? "text" : "value");
    return { kind: "value", text: given.text };
  }
  return { kind: "value", text: JSON.stringify(given.value), value: given.value };
}

function missing(field: string): Refusal {
  return refuseFields([{ message: `${field} is required`, field, constraint: "required" }]);
}
