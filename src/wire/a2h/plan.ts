/** Plans: several function calls that people decide at once, with evidence (spec/a2h 22). */
import { z } from "zod";
import {
  EVIDENCE_KINDS,
  IMAGE_TYPES,
  LONGEST_DIFF,
  LONGEST_EVIDENCE_TITLE,
  LONGEST_MARKDOWN,
  MOST_EVIDENCE,
  MOST_PLAN_CALLS,
  MOST_TABLE_COLUMNS,
  MOST_TABLE_ROWS,
} from "../../requests/model/plan.ts";
import { wireMoment } from "../time.ts";
import { WireContactChannel } from "./channel.ts";
import { text } from "./fields.ts";
import {
  CALL_ID,
  MOST_WORDS,
  NewFunctionCallBody,
  NO_CONTROLS,
  requestIdField,
  state,
  timingShape,
} from "./new-request.ts";
import { askedShape, WireCallStatus } from "./request.ts";

const { fn, kwargs } = NewFunctionCallBody.shape.spec.shape;

/** The longest id of a plan: those of its calls may be made of it. */
const LONGEST_PLAN_ID = 240;

const title = text({ max: LONGEST_EVIDENCE_TITLE, without: NO_CONTROLS }).optional();

/** The evidence of each kind, as an agent sends it. */
export const NEW_EVIDENCE = {
  markdown: z.object({ kind: z.literal("markdown"), title, text: text({ min: 1, max: LONGEST_MARKDOWN }) }),
  diff: z.object({ kind: z.literal("diff"), title, text: text({ min: 1, max: LONGEST_DIFF }) }),
  table: z.object({
    kind: z.literal("table"),
    title,
    columns: z
      .array(text({ max: MOST_WORDS }))
      .min(1)
      .max(MOST_TABLE_COLUMNS),
    rows: z.array(z.array(text({ max: MOST_WORDS })).max(MOST_TABLE_COLUMNS)).max(MOST_TABLE_ROWS),
  }),
  link: z.object({
    kind: z.literal("link"),
    title,
    url: text({ min: 1, max: 2000, pattern: /^https?:\/\/[^\s]+$/, says: "must be a URL of http or https" }),
    digest: text({ max: 71, pattern: /^sha256:[0-9a-f]{64}$/ })
      .describe("Of what stands there")
      .optional(),
  }),
  image: z.object({
    kind: z.literal("image"),
    title,
    media_type: z.enum(IMAGE_TYPES),
    data: z.string().describe("Base64, of at most 1 MiB of bytes"),
  }),
} as const;

/** The kinds of evidence. */
export const evidenceKind = z.enum(EVIDENCE_KINDS);

const { markdown, diff, table, link, image } = NEW_EVIDENCE;
export const NewEvidence = z
  .discriminatedUnion("kind", [markdown, diff, table, link, image])
  .meta({ id: "NewEvidence" });
export type EvidenceBody = z.output<typeof NewEvidence>;
export const newEvidenceField = z.array(NewEvidence).max(MOST_EVIDENCE);

export const NewPlanBody = z
  .object({
    plan_id: text({ min: 1, max: LONGEST_PLAN_ID, pattern: CALL_ID })
      .describe("Names the plan; left out, the Idempotency-Key does, or a fresh one")
      .optional(),
    run_id: text({ min: 1, max: 256, without: NO_CONTROLS }).describe("Groups the requests of one run").optional(),
    title: text({ min: 1, max: LONGEST_EVIDENCE_TITLE, without: NO_CONTROLS }).optional(),
    msg: text({ max: MOST_WORDS }).describe("The agent's words, no part of what is approved").optional(),
    calls: z
      .array(z.object({ call_id: requestIdField.optional(), spec: z.object({ fn, kwargs }) }))
      .min(1)
      .max(MOST_PLAN_CALLS)
      .describe("In the order in which they are to run"),
    evidence: newEvidenceField.optional(),
    channel: WireContactChannel.optional(),
    state,
    ...timingShape,
  })
  .meta({ id: "NewPlan" });

export const PlanUseBody = z
  .object({
    fn: fn.optional(),
    kwargs: kwargs.optional(),
    call_id: requestIdField.describe("The call; alone, or beside its function and arguments").optional(),
    run: text({ min: 1, max: 64, without: NO_CONTROLS })
      .describe("Names the use of the call beside it, in the place of an Idempotency-Key")
      .optional(),
  })
  .meta({ id: "PlanUse" });

const plannedCall = z
  .object({
    call_id: z.string(),
    ask_id: z.string().describe("Its receipt stands under this id"),
    ord: z.int(),
    fn: z.string(),
    consent_digest: z.string(),
    approved: z.boolean().describe("Left out while nobody has decided").optional(),
    comment: z.string().optional(),
    used_at: wireMoment.optional(),
  })
  .meta({ id: "PlannedCall", description: "A call of a plan." });

export const WirePlan = z
  .object({
    plan_id: z.string(),
    run_id: z.string(),
    call_ids: z.array(z.string()),
    calls: z.array(plannedCall),
    spec: z
      .object({ title: z.string().optional(), msg: z.string().optional(), ...askedShape })
      .meta({ id: "PlanSpec" }),
    status: WireCallStatus.extend({
      approved_calls: z
        .int()
        .describe("So many calls are approved, the first ones; left out while nobody decided")
        .optional(),
    }).meta({ id: "PlanStatus" }),
  })
  .meta({ id: "WholePlan", description: "Several function calls that people decide at once." });
export type WirePlan = z.output<typeof WirePlan>;

export const WirePlanUse = z
  .object({ plan_id: z.string(), call_id: z.string(), ask_id: z.string(), ord: z.int(), used_at: wireMoment })
  .meta({ id: "PlanUsed", description: "The call that was used." });
export type WirePlanUse = z.output<typeof WirePlanUse>;
