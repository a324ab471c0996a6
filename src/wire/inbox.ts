/** Asks to people, as the inbox shows them, and decisions on them (docs/how-to/inbox.md). */
import { z } from "zod";
import { VIAS } from "../requests/model/request.ts";
import { SILENCES } from "../requests/model/view.ts";
import { WireCallOutcome } from "./a2h/request.ts";
import { later, text } from "./fields.ts";
import { handedBy, handedOn } from "./hand-on.ts";
import { WireAgentNote } from "./agent-note.ts";
import { inquiriesField } from "./inquiry.ts";
import { taskField } from "./task-of-ask.ts";

const orNull = z.string().nullable();
const kind = z.enum(["approval", "reply", "value"]);
const via = z.enum(VIAS);
const jsonSchema = z.record(z.string(), z.unknown());

export const WireDecidedBy = z
  .object({
    kind: z.enum(["person", "address", "agent", "policy"]),
    name: orNull.describe("Null where somebody is known by a channel only"),
    via,
  })
  .meta({ id: "DecidedBy", description: "Who decided." });
export type WireDecidedBy = z.output<typeof WireDecidedBy>;

export const WireDiffLine = z.object({ sign: z.enum(["+", "-", " ", "@"]), text: z.string() }).meta({
  id: "DiffLine",
  description: "A line of a diff, whole, and whether it is added, goes, stays, or says where the others belong.",
});
export type WireDiffLine = z.output<typeof WireDiffLine>;

const lines = z.array(z.string());

/** `is` is the name of `kind` in versions before 0.3.0. */
const typed = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.object({ kind: z.literal(kind), is: z.literal(kind).meta({ deprecated: true }), ...shape });

export const WireTypedArgument = z
  .discriminatedUnion("kind", [
    typed("text", { lines }),
    typed("diff", { lines: z.array(WireDiffLine) }),
    typed("list", { items: lines }),
    typed("table", { columns: lines, rows: z.array(lines) }),
    typed("fields", { rows: z.array(z.tuple([z.string(), z.string()])) }),
    typed("link", { text: z.string(), href: z.string(), host: z.string() }),
    typed("date", { text: z.string(), at: z.string() }),
    typed("money", { text: z.string(), amount: z.string(), currency: z.string() }),
  ])
  .meta({ id: "TypedArgument", description: "An argument drawn as what it is, in place of its JSON." });
export type WireTypedArgument = z.output<typeof WireTypedArgument>;

export const WireArgumentRow = z
  .object({
    name: z.string(),
    text: z.string().describe("Its JSON, in full"),
    typed: WireTypedArgument.nullable().describe("The same, drawn as what it is; null where the JSON says as much"),
    secret: z.boolean().describe("It holds a secret, and is shown whole once somebody presses for it"),
    masked: orNull.describe(
      "Its JSON with the secrets masked, which is shown at once; null where it holds none, or where they are not known",
    ),
  })
  .meta({ id: "ArgumentRow", description: "One argument of a call as people are shown it." });
export type WireArgumentRow = z.output<typeof WireArgumentRow>;

const argumentRows = z.array(WireArgumentRow).nullable();

export const WireInboxOutcome = z
  .object({
    status: z.enum(["answered", "expired", "cancelled"]),
    approved: z.boolean().nullable(),
    option: orNull,
    comment: orNull,
    text: orNull,
    value: orNull,
    edited: z.boolean(),
    arguments: argumentRows.describe("The arguments to run, for an approval that edited them"),
    sentence: orNull.describe("The call to run in a sentence, for an approval that edited it"),
    digest: orNull,
    approved_calls: z
      .int()
      .nullable()
      .describe("Of an approved plan, how many of its calls, the first ones; else null"),
    by: WireDecidedBy.nullable(),
  })
  .meta({ id: "InboxOutcome", description: "How an ask to people ended." });
export type WireInboxOutcome = z.output<typeof WireInboxOutcome>;

const callOutcome = WireCallOutcome.nullable().describe("What became of an approved call; null for everything else");
const line = {
  id: z.string(),
  kind,
  title: z.string(),
  fn: orNull,
  sentence: z
    .string()
    .describe(
      "Of a call what is done to what, with amounts and switches that destroy, in the language of `Accept-Language`; else the title",
    ),
  risk: z
    .enum(["low", "normal", "high", "unjudged"])
    .describe(
      "How much a hasty yes may cost: `low` only reads; `high` has a grave fact; `unjudged` has a part that cannot be read, to be treated as `normal`",
    ),
  agent: z.string(),
  state: z.enum(["open", "answered", "expired", "cancelled"]),
  created_at: z.string(),
  expires_at: orNull,
  settled_at: orNull,
  being_decided: z.boolean().describe("Somebody pressed a decision that has not left yet"),
  outcome: WireInboxOutcome.nullable(),
  call_outcome: callOutcome,
};

const snoozedUntil = orNull.describe("Until when I have put it aside; null where I have not");

export const WireInboxAskLine = z
  .object({
    ...line,
    alike: z
      .object({ id: z.string().describe("Names them all: `GET /people/me/batches/ID`"), count: z.int() })
      .meta({ id: "AlikeCalls", description: "Waiting calls of one agent and function." })
      .nullable()
      .describe("Of a waiting call, how many of its agent and function wait here, itself among them; null below two"),
    snoozed_until: snoozedUntil,
    handed_by: handedBy,
    handed_on: handedOn,
  })
  .meta({ id: "InboxAskLine", description: "An ask to people, as a line of a list." });
export type WireInboxAskLine = z.output<typeof WireInboxAskLine>;

export const WireInboxCounts = z
  .object({
    at: z.string(),
    all: z.int(),
    kinds: z.object({ approval: z.int(), reply: z.int(), value: z.int() }),
    due: z
      .object({ soon: z.int(), today: z.int(), later: z.int(), none: z.int() })
      .describe("Within an hour, within a day, after that, or never"),
    agents: z.array(z.object({ agent: z.string(), count: z.int() })),
    newest_at: orNull.describe("When the newest of them was asked"),
    snoozed: z
      .int()
      .describe("How many of what is wanted I have put aside or handed on; the other counts leave them out"),
  })
  .meta({ id: "InboxCounts", description: "How many wait of what is wanted, at a time by the server's clock." });
export type WireInboxCounts = z.output<typeof WireInboxCounts>;

export const WireInboxPage = z
  .object({
    asks: z.array(WireInboxAskLine),
    next: orNull,
    counts: WireInboxCounts.nullable().describe("With the first page of what waits"),
  })
  .meta({ id: "InboxPage" });
export type WireInboxPage = z.output<typeof WireInboxPage>;

export const WireInboxOption = z
  .object({ name: z.string(), title: z.string(), description: orNull, prompt_fill: orNull, interactive: z.boolean() })
  .meta({ id: "InboxOption", description: "A ready-made answer, or a way to reject." });
export type WireInboxOption = z.output<typeof WireInboxOption>;

const needs = z
  .object({ rule: z.enum(["one", "all", "some", "several"]), of: z.int(), least: z.int() })
  .meta({ id: "NeededAnswers", description: "How many of those who are asked have to agree." });

const mayAnswer = z
  .object({
    name: orNull,
    channel: z.string(),
    me: z.boolean(),
    many: z.boolean().describe("It stands for several people: all who see the whole inbox, or who are in a channel"),
    group: orNull.describe("The group as one of which this person is asked"),
    from: orNull,
  })
  .meta({ id: "MayAnswer", description: "Somebody who is asked, and from when on." });

const counted = z
  .object({ by: WireDecidedBy, mine: z.boolean(), approved: z.boolean().nullable(), comment: orNull, at: z.string() })
  .meta({ id: "CountedDecision", description: "A decision that counts." });

const press = z
  .object({
    name: orNull,
    mine: z.boolean(),
    approved: z.boolean().nullable().describe("Null for an answer, and for what others pressed"),
    at: z.string(),
    approved_calls: z.int().nullable().describe("Of my approval of a plan, how many of its calls; else null"),
    until: z.string().describe("When it leaves; until then I can undo my own by `POST /people/me/undo`"),
  })
  .meta({ id: "Press", description: "A decision that somebody pressed in the app, and that can still be undone." });

const refused = z
  .object({ at: z.string(), by: orNull, via, reason: z.string() })
  .meta({ id: "RefusedAnswer", description: "The newest answer that was not accepted." });

const delivery = z
  .object({ channel: z.string(), name: orNull, state: z.string(), at: z.string() })
  .meta({ id: "AskDelivery", description: "A message that asks, and what became of it." });

const riskReason = z
  .object({
    kind: z.enum([
      "rule",
      "joint",
      "unseen",
      "long",
      "secret",
      "loses",
      "forces",
      "money",
      "people",
      "opens",
      "place",
      "file",
      "data",
      "unread",
    ]),
    says: z
      .string()
      .describe(
        "The fact, quoted from the call, or the words of the rule; empty for `joint`, `unseen`, `long` and `secret`",
      ),
  })
  .meta({
    id: "RiskReason",
    description:
      "A fact that makes a call risky or that could not be judged (`unread`), or the `rule` of the operator's policy that sets the risk.",
  });

const whole = {
  ...line,
  risk_reasons: z
    .array(riskReason)
    .describe(
      "Why this call is of high risk or not judged, the gravest reason first, five at most, after the rule that sets its risk; else empty",
    ),
  run: orNull,
  words: z.string(),
  arguments: argumentRows,
  guarded: z.boolean().describe("The arguments hold a secret"),
  digest: orNull,
  options: z.array(WireInboxOption),
  listed: z.boolean().describe("Only one of the options is an answer"),
  schema: jsonSchema.nullable(),
  editable: z.boolean(),
  kwargs: orNull,
  kwargs_schema: jsonSchema.nullable(),
  silence: z.enum(SILENCES).describe("The consequence if nobody answers"),
  on_silence: z.string(),
  may_decide: z.boolean(),
  needs,
  may_answer: z.array(mayAnswer),
  decisions: z.array(counted),
  presses: z.array(press),
  answers_inquiries: z.boolean().describe("Its agent can be asked back"),
  inquiries: inquiriesField,
  refused: refused.nullable(),
  deliveries: z.array(delivery),
};

export const WireAskToPeople = z
  .object(whole)
  .meta({ id: "AskToPeople", description: "An ask to people, as somebody sees it who is not asked." });
export type WireAskToPeople = z.output<typeof WireAskToPeople>;

const evidenceOf = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.object({ kind: z.literal(kind), title: orNull, ...shape });

export const WirePlanEvidence = z
  .discriminatedUnion("kind", [
    evidenceOf("markdown", { text: z.string() }),
    evidenceOf("diff", { lines: z.array(WireDiffLine) }),
    evidenceOf("table", { columns: lines, rows: z.array(lines) }),
    evidenceOf("link", { text: z.string(), href: z.string(), host: z.string(), digest: orNull }),
    evidenceOf("image", {
      src: z.string().describe("Its address on this server"),
      media_type: z.string(),
      digest: z.string(),
    }),
  ])
  .meta({
    id: "PlanEvidence",
    description: "One thing that an agent shows beside its plan, to be drawn and never run.",
  });
export type WirePlanEvidence = z.output<typeof WirePlanEvidence>;

const planCall = z
  .object({
    place: z.int().describe("In the plan, from 1 on"),
    fn: z.string(),
    sentence: line.sentence,
    risk: line.risk,
    risk_reasons: whole.risk_reasons,
    digest: z.string(),
    arguments: argumentRows.unwrap(),
    call_outcome: callOutcome,
  })
  .meta({ id: "InboxPlanCall", description: "One call of a plan." });

const plan = z
  .object({ title: orNull, calls: z.array(planCall), evidence: z.array(WirePlanEvidence) })
  .meta({ id: "InboxPlan", description: "Calls that run one after the other, with the evidence of their agent." });

export const WireInboxAsk = z
  .object({
    ...whole,
    arguments: argumentRows.describe("Null for a plan, whose calls have theirs"),
    plan: plan.nullable().describe("Its calls, for a plan; else null"),
    keep_until: orNull.describe("Until when the answer can be given again to the same question; null where it cannot"),
    principal: z.string().describe("Its agent, as a freeze names it"),
    may_freeze: z.boolean().describe("This person may freeze its agent"),
    may_stand: z.boolean().describe("This person may approve it and allow the same for good"),
    snoozed_until: snoozedUntil,
    handed_by: handedBy,
    handed_on: handedOn,
    standing_until: orNull.describe("When that would end, approved now"),
    has_run: z.boolean().describe("It is part of a run, of which there is a timeline"),
    task: taskField,
    notes: z
      .array(WireAgentNote)
      .nullable()
      .describe("Notes of people to its agent at work, oldest first; null where it reads none"),
  })
  .meta({ id: "InboxAsk", description: "An ask to people, with what the signed-in person may do about it." });
export type WireInboxAsk = z.output<typeof WireInboxAsk>;

export const SnoozeBody = z
  .object({
    until: z.iso
      .datetime({ offset: true, error: "must be a time such as 2026-11-20T10:00:00Z" })
      .describe("In the future, and at most 30 days away."),
  })
  .meta({ id: "Snooze", description: "Until when an ask is put aside." });
export type SnoozeBody = z.output<typeof SnoozeBody>;

export const WireSnoozed = z
  .object({ id: z.string(), snoozed_until: snoozedUntil })
  .meta({ id: "Snoozed", description: "An ask that was put aside, or taken back." });
export type WireSnoozed = z.output<typeof WireSnoozed>;

const kwargs = later({ description: "Edited arguments: an object, or its JSON text to keep every digit." });

export const InboxEditBody = z.object({ kwargs }).meta({ id: "InboxEdit" });
export type InboxEditBody = z.output<typeof InboxEditBody>;

export const WireEditedCall = z
  .object({ sentence: line.sentence, risk: line.risk, arguments: argumentRows.unwrap() })
  .meta({ id: "EditedCall", description: "A call with edited arguments, as its approval would run it." });
export type WireEditedCall = z.output<typeof WireEditedCall>;

export const InboxDecisionBody = z
  .object({
    approved: z.boolean().describe("Yes or no, for an approval.").optional(),
    comment: text(0, 5000).optional(),
    option: text(1, 64).describe("The name of a ready-made answer or way to reject.").optional(),
    text: text(0, 40_000).optional(),
    value: later({ description: "A value that fits the schema; or say it in words, as `text`." }),
    kwargs,
    digest: text(1, 100).describe("The digest that was shown; an approval needs it.").optional(),
    approved_calls: z
      .int()
      .min(0)
      .max(200)
      .describe("Approve only so many calls of a plan, the first ones; 0 rejects it.")
      .optional(),
    standing: z.boolean().describe("Approve, and allow exactly this for good.").optional(),
    like: z
      .object({
        pattern: text(1, 100).describe("The `id` of a pattern that was shown."),
        for_s: z.int().min(60).max(2_592_000).describe("For how many seconds from now."),
        this_run: z.boolean().describe("Only for calls of the same session of the agent.").optional(),
      })
      .describe("Approve, and allow calls like this one for a time.")
      .optional(),
    same_next_time: z.boolean().describe("Answer the same question so, too.").optional(),
  })
  .meta({ id: "InboxDecision" });
export type InboxDecisionBody = z.output<typeof InboxDecisionBody>;
