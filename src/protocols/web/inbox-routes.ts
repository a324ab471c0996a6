import { z } from "zod";
import { canonicalExact, parseExactJson } from "../../lib/exact-json.ts";
import { BadJson, parseJsonBody } from "../../lib/json-body.ts";
import type { AddressedAsk, Decision } from "../../model/addressed-ask.ts";
import { optionsOf } from "../../model/ask-view.ts";
import { refuseFields } from "../../model/field-problem.ts";
import { Refusal } from "../../refusals.ts";
import { decideAsk, responderOf } from "../../verbs/decide-ask.ts";
import { followInbox } from "../../verbs/follow-inbox.ts";
import { namePeople } from "../../verbs/name-people.ts";
import { mayAllowForGood } from "../../verbs/policy-grants.ts";
import { listInboxOf, readDetails, readInInbox } from "../../verbs/read-addressed.ts";
import { readTaskOfAsk } from "../../verbs/read-task-of-ask.ts";
import type { Door, DoorContext, FastifyRequest } from "../door.ts";
import { booleanField, fields, laterField, optional, textField, wordField } from "../door-fields.ts";
import { signedInPerson } from "../door-principals.ts";
import { wireTime } from "../door-question.ts";
import { sendEvents } from "../door-sse.ts";
import { listedAsk, wholeAsk } from "./inbox-wire.ts";

const PAGE = 50;
const DAY_MS = 86_400_000;
/** As long as the arguments that may be edited. */
const DECISION_BYTES = 1_048_576;
const MAX_DEPTH = 32;

const List = fields({
  state: optional(wordField("state", ["open", "over"])),
  before: optional(textField("before", 1, 100, { description: "`next` of the page before." })),
});

const DecisionBody = fields({
  approved: optional(booleanField("approved", { description: "Of an approval: yes or no." })),
  comment: optional(textField("comment", 0, 5000)),
  option: optional(textField("option", 1, 64, { description: "The name of a ready-made answer or way to reject." })),
  text: optional(textField("text", 0, 40_000)),
  value: laterField({ description: "A value that fits the schema." }),
  kwargs: laterField({ description: "Edited arguments: an object, or its JSON text to keep every digit." }),
  digest: optional(textField("digest", 1, 100, { description: "Of what was shown; an approval needs it." })),
  standing: optional(booleanField("standing", { description: "Approve, and allow exactly this for good." })),
});
type Given = z.output<typeof DecisionBody>;

const Item = z.looseObject({ id: z.string(), kind: z.enum(["approval", "reply", "value"]), state: z.string() });
const Page = z.object({ asks: z.array(Item), next: z.string().nullable() });
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const refusals = { 401: Refused, 404: Refused } as const;

/** What is addressed to a signed-in person: the list, each ask in full, deciding, and hints of what changes. */
export function inboxRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;

  return async (app) => {
    app.addHook("preValidation", async (request) => parseDecision(request));

    app.get(
      "/people/me/asks",
      {
        schema: {
          tags: ["inbox"],
          summary: "What waits for me",
          querystring: List,
          response: { 200: Page, ...refusals },
        },
      },
      async (request) => {
        const { person } = await signedInPerson(door, request);
        const { state = "open", before } = request.query as z.output<typeof List>;
        const from = before === undefined ? undefined : readCursor(before);
        const found = await listInboxOf(ctx, person, { state, limit: PAGE, ...(from && { before: from }) });
        const deciders = found.flatMap(({ outcome }) => (outcome?.by?.kind === "person" ? [outcome.by.id] : []));
        const names = await namePeople(ctx, deciders);
        const last = state === "over" && found.length === PAGE ? found.at(-1) : undefined;
        return {
          asks: found.map((ask) => listedAsk(ask, names)),
          next: last ? `${last.settledAt ?? 0}_${last.id}` : null,
        };
      },
    );

    app.get<OneAsk>(
      "/people/me/asks/:id",
      { schema: { tags: ["inbox"], summary: "One ask in full", response: { 200: Item, ...refusals } } },
      async (request) => {
        const { person } = await signedInPerson(door, request);
        return whole(person, await readInInbox(ctx, person, request.params.id));
      },
    );

    app.post<OneAsk>(
      "/people/me/asks/:id/decision",
      {
        bodyLimit: DECISION_BYTES,
        config: { takesBody: true, maxBodyBytes: DECISION_BYTES },
        schema: {
          tags: ["inbox"],
          summary: "Approve, reject, reply",
          body: DecisionBody,
          response: { 200: Item, 400: Refused, ...refusals, 403: Refused, 409: Refused },
        },
      },
      async (request) => {
        const { person, byKey } = await signedInPerson(door, request);
        const ask = await readInInbox(ctx, person, request.params.id);
        const decision = decisionOf(ask, request.body as Given);
        if (decision.kind === "approve" && decision.standing && !(await mayAllowForGood(ctx, ask, person))) {
          throw new Refusal("not_grantable", {}, "This cannot be allowed for good here; approve it alone.");
        }
        const responder = await responderOf(ctx.db, person, byKey ? "api" : "web");
        const decided = await decideAsk(ctx, { askId: ask.id, responder, decision, byKey });
        return whole(person, decided.ask);
      },
    );

    app.get(
      "/people/me/events",
      { schema: { tags: ["inbox"], summary: "Follow my inbox (SSE)", response: { 401: Refused, 429: Refused } } },
      async (request, reply) => {
        const { person } = await signedInPerson(door, request);
        using _place = door.parked.park("inbox streams", person, door.config.limits.humanStreams);
        await sendEvents(door, request, reply, async function* (signal) {
          for await (const changed of followInbox(ctx, person, signal)) {
            for (const id of changed) yield { event: "changed", data: JSON.stringify(id === null ? {} : { id }) };
          }
        });
        return reply;
      },
    );

    async function whole(person: string, ask: AddressedAsk): Promise<object> {
      const who = await responderOf(ctx.db, person, "web");
      const mayStand = await mayAllowForGood(ctx, ask, person);
      const task = await readTaskOfAsk(ctx, ask);
      const now = ctx.clock.now();
      const standingUntil = mayStand ? wireTime(now + ctx.addressed.grantDays * DAY_MS) : null;
      const whole = wholeAsk(ask, await readDetails(ctx, ask), who, now);
      return { ...whole, may_stand: mayStand, standing_until: standingUntil, task };
    }
  };
}

interface OneAsk {
  Params: { id: string };
}

function readCursor(before: string): { at: number; id: string } {
  const found = /^(\d{1,15})_(\w{1,64})$/.exec(before);
  if (!found) throw refuseFields([{ message: "before is not a page's next", field: "before", constraint: "format" }]);
  return { at: Number(found[1]), id: found[2] ?? "" };
}

/**
 * Turns the bytes of a decision into its members, of which `null` counts as absent except for `value`. Integers of the
 * arguments keep their digits.
 *
 * @throws {Refusal} `invalid_json`, `body_not_object`, `invalid_input`
 */
function parseDecision(request: FastifyRequest): void {
  if (!request.routeOptions.config.takesBody) {
    request.body = undefined;
    return;
  }
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const exact = parse(bytes, parseExactJson);
  if (typeof exact !== "object" || exact === null || Array.isArray(exact)) {
    throw new Refusal("body_not_object", { constraint: "type" });
  }
  const { value } = parse(bytes, parseJsonBody) as { value?: unknown };
  if (canonicalExact(value) !== canonicalExact((exact as { value?: unknown }).value)) {
    const message = "value holds an integer that is too large";
    throw refuseFields([{ message, field: "value", constraint: "range" }]);
  }
  const kept = Object.entries(exact).filter(([name, member]) => name !== "value" && member !== null);
  request.body = { ...Object.fromEntries(kept), ...(value !== undefined && { value }) };
}

function parse(bytes: Uint8Array, by: typeof parseJsonBody): unknown {
  try {
    return by(bytes, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof BadJson) throw new Refusal("invalid_json", { constraint: "json" });
    throw error;
  }
}

/**
 * Returns what somebody decided, in the terms of what was asked; a ready-made answer alone says its own words
 * (contract-a2h.md, section 5.2).
 *
 * @throws {Refusal} `invalid_input`
 */
function decisionOf(ask: AddressedAsk, given: Given): Decision {
  const { option, digest } = given;
  const fill = optionsOf(ask).find(({ name }) => name === option)?.promptFill;
  const comment = given.comment?.trim() ? given.comment : fill;
  const said = { ...(comment !== undefined && { comment }), ...(digest !== undefined && { digest }) };
  const { form } = ask;
  if (form.kind === "approval") {
    if (given.approved === undefined) throw missing("approved");
    if (!given.approved) return { kind: "reject", ...said, ...(option !== undefined && { option }) };
    // Nobody approves what was not shown to them.
    if (digest === undefined) throw missing("digest");
    if (option !== undefined) {
      throw refuseFields([{ message: "option is a way to reject", field: "option", constraint: "excluded" }]);
    }
    const kwargs = given.kwargs === undefined ? undefined : canonicalExact(argumentsOf(given.kwargs));
    const standing = given.standing ? { standing: true } : {};
    return { kind: "approve", ...said, ...(kwargs !== undefined && { kwargs }), ...standing };
  }
  if (form.kind === "reply") {
    const text = given.text?.trim() ? given.text : fill;
    if (text === undefined && option === undefined) throw missing("text");
    return { kind: "reply", ...(text !== undefined && { text }), ...(option !== undefined && { option }) };
  }
  if (form.schema === null) {
    if (!given.text?.trim()) throw missing("text");
    return { kind: "value", text: given.text };
  }
  if (given.value === undefined) throw missing("value");
  return { kind: "value", text: JSON.stringify(given.value), value: given.value };
}

function argumentsOf(kwargs: unknown): unknown {
  const notAnObject = () =>
    refuseFields([{ message: "kwargs must be a JSON object", field: "kwargs", constraint: "type" }]);
  let value = kwargs;
  try {
    if (typeof kwargs === "string") value = parseExactJson(Buffer.from(kwargs), { maxDepth: MAX_DEPTH });
  } catch {
    throw notAnObject();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notAnObject();
  return value;
}

function missing(field: string): Refusal {
  return refuseFields([{ message: `${field} is required`, field, constraint: "required" }]);
}
