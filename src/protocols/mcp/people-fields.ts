import { z } from "zod";
import { approvingMember } from "../../requests/model/reply-grammar.ts";
import {
  evidenceFault,
  LONGEST_EVIDENCE_TITLE,
  MOST_EVIDENCE,
  MOST_PLAN_CALLS,
  type Evidence,
} from "../../requests/model/plan.ts";
import { MOST_OUTCOME_WORDS, REPORTS } from "../../requests/model/call-outcome.ts";
import { LONGEST_INQUIRY_ANSWER } from "../../requests/model/inquiry.ts";
import type { ForeignSchema, ResponseOption } from "../../requests/model/request.ts";
import { textFault, type Fault } from "../../core/model/field-problem.ts";
import { evidenceKind, NewEvidence } from "../../wire/a2h/plan.ts";
import { integer, list, members, rule, text } from "../../wire/fields.ts";

const MOST_OPTIONS = 25;
const A_DAY_S = 86_400;
export const AN_HOUR_S = 3600;

/** A text of one line. */
function line(min: number, max: number): z.ZodString {
  const fault: Fault = { says: "may hold no control characters", constraint: "characters" };
  return z.string().check(rule((value) => (/\p{Cc}/u.test(value) ? fault : textFault(value, min, max))));
}

const option = z.looseObject({
  name: line(1, 64),
  title: line(0, 75).optional(),
  description: text(0, 500).optional(),
});
type GivenOption = z.output<typeof option>;

const fault: Fault = { says: `may have at most ${MOST_OPTIONS} items`, constraint: "length" };
const counted = list(option, [0, MOST_OPTIONS], fault);
const named = rule((options: readonly GivenOption[]) => {
  const names = new Set(options.map(({ name }) => name));
  return names.size === options.length ? null : { says: "must all have different names", constraint: "unique" };
});

/** Ready-made answers, each with a name of its own. */
const options = counted.check(named);

/** Ways to reject, of which none reads as an approval. */
const rejectOptions = counted.check(
  rule((given) => {
    const at = given.findIndex((option) => approvingMember(option) !== undefined);
    return at < 0 ? null : [{ at: [at], says: "must not read as an approval", constraint: "pattern" }];
  }),
  named,
);

/** Returns ready-made answers as the model has them: one press answers. */
export function optionsOf(given: readonly GivenOption[] = []): ResponseOption[] {
  return given.map(({ name, title, description }) => ({
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    interactive: false,
  }));
}

const common = {
  to: line(1, 200).optional(),
  idempotency_key: line(1, 255).optional(),
  max_wait_seconds: integer(0, 3600).optional(),
};
const MOST_TIMEOUT_S = 604_800;

/** The arguments of `contact_human` (spec/mcp 4.2). */
export const Contact = z.object({
  message: text(1, 40_000),
  subject: line(0, 998).optional(),
  options: options.optional(),
  response_schema: (members as z.ZodType<ForeignSchema & Record<string, unknown>>).optional(),
  timeout_seconds: integer(60, MOST_TIMEOUT_S).meta({ default: A_DAY_S }).optional(),
  ...common,
});

const approvalShape = {
  reason: text(0, 2000).optional(),
  timeout_seconds: integer(60, MOST_TIMEOUT_S).meta({ default: AN_HOUR_S }).optional(),
  ...common,
};

/** The arguments of `request_approval` for one call (spec/mcp 4.3). */
export const Approval = z.object({
  fn: line(1, 256),
  kwargs: members,
  reject_options: rejectOptions.optional(),
  ...approvalShape,
});

const plannedCall = z.object({ fn: line(1, 256), kwargs: members });
const countOf = (least: number, most: number): [[number, number], Fault] => [
  [least, most],
  { says: `must have ${least} to ${most} items`, constraint: "length", min: least, max: most },
];

const evidence = list(z.looseObject({ kind: evidenceKind }).pipe(NewEvidence), ...countOf(0, MOST_EVIDENCE)).check(
  rule((given) => {
    const faults = given.map((one, i) => ({ i, fault: evidenceFault(one as Evidence) }));
    return faults.flatMap(({ i, fault }) => (fault ? [{ ...fault, at: [i, ...fault.at] }] : []));
  }),
);

/** The arguments of `request_approval` for several calls (spec/mcp 4.6). */
export const Plan = z.object({
  calls: list(plannedCall, ...countOf(1, MOST_PLAN_CALLS)),
  title: line(1, LONGEST_EVIDENCE_TITLE).optional(),
  evidence: evidence.optional(),
  ...approvalShape,
});

/** The arguments of `use_approved_call` (spec/mcp 4.6). */
export const Use = z.object({ call_id: line(1, 256) });

/** The arguments of `answer_inquiry` (spec/mcp 4.7). */
export const InquiryAnswer = z.object({ inquiry_id: line(1, 256), answer: text(1, LONGEST_INQUIRY_ANSWER) });

/** The arguments of `approve` (spec/mcp 4.4). */
export const Permission = z.object({
  tool_name: line(1, 256),
  input: members,
  tool_use_id: line(1, 255).optional(),
});

/** The arguments of `list_humans` (spec/mcp 4.4). */
export const People = z.object({
  query: text(0, 200).optional(),
  limit: integer(1, 100).meta({ default: 50 }).optional(),
  cursor: line(1, 20).optional(),
});

export const usualTimeout = { contact: A_DAY_S, approval: AN_HOUR_S } as const;

const SHA256: Fault = { says: "must be sha256: and 64 hexadecimal digits", constraint: "pattern" };

/** The arguments of `report_outcome` (spec/mcp 4.8). */
export const Outcome = z.object({
  call_id: line(1, 256),
  outcome: z.enum(REPORTS),
  text: text(0, MOST_OUTCOME_WORDS).optional(),
  result_digest: z
    .string()
    .check(rule((value) => (/^sha256:[0-9a-f]{64}$/.test(value) ? null : SHA256)))
    .optional(),
});
