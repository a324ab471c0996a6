import { sha256Digest } from "../../lib/json/exact-json.ts";
import { Refusal } from "../../refusals.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { BoundCall } from "./bound-call.ts";
import type { CountedDecision, DecidedBy, Outcome, Request } from "./request.ts";
import type { Language } from "./sentence-words.ts";

/** The door of the requests that put plans to people, and the function that such a request names. */
export const PLAN_DOOR = "plan";
export const PLAN_FN = "plan";

/** The beginning of the ref of a plan's request. */
export const planRef = (planId: string): string => `plan:${planId}`;

export const MOST_PLAN_CALLS = 200;
export const MOST_EVIDENCE = 20;
export const LONGEST_EVIDENCE_TITLE = 200;
export const LONGEST_MARKDOWN = 20_000;
export const LONGEST_DIFF = 200_000;
export const MOST_TABLE_COLUMNS = 20;
export const MOST_TABLE_ROWS = 500;
export const MOST_IMAGE_BYTES = 1_048_576;

/** The parts of a plan's `wire` that lists need, so that they read none of its calls. */
export interface PlanWire {
  /** The sentences of the first call, of a plan without a title. */
  first?: Readonly<Record<Language, string>>;
}

/** The first bytes of an image of each type, in hex; `.` is any digit. */
const MAGIC = {
  "image/png": /^89504e470d0a1a0a/,
  "image/jpeg": /^ffd8ff/,
  "image/webp": /^52494646.{8}57454250/,
  "image/gif": /^47494638(?:37|39)61/,
} as const satisfies Record<string, RegExp>;

export type ImageType = keyof typeof MAGIC;
export const IMAGE_TYPES = Object.keys(MAGIC) as [ImageType, ...ImageType[]];

/** The kinds of evidence. */
export const EVIDENCE_KINDS = ["markdown", "diff", "table", "link", "image"] as const satisfies Evidence["kind"][];

/** One thing that an agent shows beside its plan. People's programs fetch none of it. */
export type Evidence = { title?: string } & (
  | { kind: "markdown"; text: string }
  | { kind: "diff"; text: string }
  | { kind: "table"; columns: readonly string[]; rows: readonly (readonly string[])[] }
  | { kind: "link"; url: string; digest?: string }
  /** `data` is base64. */
  | { kind: "image"; media_type: ImageType; data: string }
);

/** An image of the evidence at its place there, from 1 on. */
export interface PlanImage {
  ord: number;
  mediaType: ImageType;
  /** Base64. */
  data: string;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Returns what is wrong with an image, as the end of a sentence about its data; null where nothing is. */
export function imageFault(mediaType: ImageType, data: string): string | null {
  if (data === "" || !BASE64.test(data)) return "must be base64";
  if (Buffer.byteLength(data, "base64") > MOST_IMAGE_BYTES) return `may have at most ${MOST_IMAGE_BYTES} bytes`;
  const start = Buffer.from(data.slice(0, 32), "base64").toString("hex");
  return MAGIC[mediaType].test(start) ? null : `must be an image of type ${mediaType}`;
}

/** A fault of evidence that no single member shows: where it stands in the evidence, and what is wrong there. */
export interface EvidenceFault {
  at: readonly (string | number)[];
  says: string;
  constraint: "pattern" | "range";
}

/** Returns what is wrong with evidence whose members are sound by themselves; null where nothing is. */
export function evidenceFault(evidence: Evidence): EvidenceFault | null {
  if (evidence.kind === "image") {
    const says = imageFault(evidence.media_type, evidence.data);
    return says === null ? null : { at: ["data"], says, constraint: "pattern" };
  }
  if (evidence.kind !== "table") return null;
  const { columns, rows } = evidence;
  const odd = rows.findIndex((row) => row.length !== columns.length);
  return odd < 0 ? null : { at: ["rows", odd], says: `must have ${columns.length} cells`, constraint: "range" };
}

/** Returns what people approve: the calls in their order, with the evidence, in which an image is its digest. */
export function planArguments(
  calls: readonly BoundCall[],
  evidence: readonly Evidence[],
  title: string | undefined,
): Record<string, unknown> {
  return {
    calls: calls.map(({ fn, parsed }) => ({ fn, kwargs: parsed })),
    evidence: evidence.map(shownEvidence),
    ...(title !== undefined && { title }),
  };
}

/** Evidence as people approve it, in the arguments of the plan. */
export type ShownEvidence = Exclude<Evidence, { kind: "image" }> | ShownImage;
type ShownImage = { title?: string; kind: "image"; media_type: ImageType; digest: string };

function shownEvidence(one: Evidence): ShownEvidence {
  if (one.kind !== "image") return one;
  const { data, ...rest } = one;
  return { ...rest, digest: sha256Digest(Buffer.from(data, "base64")) };
}

export function imagesOf(evidence: readonly Evidence[]): PlanImage[] {
  return evidence.flatMap((one, i) =>
    one.kind === "image" ? [{ ord: i + 1, mediaType: one.media_type, data: one.data }] : [],
  );
}

const TAKEN_OUT = "It was taken out of the plan";
const BEHIND = "It stands behind a call that was taken out of the plan";

/** A call of a plan as its own end depends on it. */
export type EndingCall = { ord: number; digest: string };

/**
 * Returns how a call ends with its plan: as the plan does, but rejected from the first call on that was taken out of it.
 * `decisions` are those that count for the plan.
 */
export function outcomeOfCall(plan: Outcome, decisions: readonly CountedDecision[], call: EndingCall): Outcome {
  const { status, by, comment, trace } = plan;
  if (status !== "answered") return { status, approved: false, ...(comment !== undefined && { comment }) };
  const said = { status, digest: call.digest, ...(trace && { trace }) };
  const { upTo = Infinity } = plan;
  if (plan.approved !== true || call.ord <= upTo) {
    const approved = plan.approved === true;
    return { ...said, approved, ...(by && { by }), ...(comment !== undefined && { comment }) };
  }
  const why = call.ord === upTo + 1 ? TAKEN_OUT : BEHIND;
  const rejecter = rejecterOf(by, decisions, call.ord);
  return {
    ...said,
    approved: false,
    ...(rejecter && { by: rejecter }),
    comment: comment === undefined || comment === "" ? `${why}.` : `${why}: ${comment}`,
  };
}

/** Several may have approved the plan, and not all of them left the call out. */
function rejecterOf(
  by: DecidedBy | undefined,
  decisions: readonly CountedDecision[],
  ord: number,
): DecidedBy | undefined {
  const rejecters = decisions.filter((one) => !isCallApproved(one, ord)).map((one) => one.by);
  return rejecters.find(({ id }) => id === by?.id) ?? rejecters[0] ?? by;
}

/** Returns the decision on a plan as the decision on one of its calls, which the person saw in it. */
export function decisionOnCall(decision: CountedDecision, { ord, digest }: EndingCall): CountedDecision {
  const { upTo: _, ...rest } = decision;
  return { ...rest, digest, approved: isCallApproved(decision, ord) };
}

function isCallApproved({ approved, upTo = Infinity }: CountedDecision, ord: number): boolean {
  return approved === true && ord <= upTo;
}

/** A call of a plan, without its arguments. */
export interface PlanCall extends EndingCall {
  requestId: RequestId;
  ref: string;
  fn: string;
  state: Request["state"];
  /** The key of its use; empty for one that counts as used after a restore. */
  usedBy: string | null;
  usedAt: number | null;
}

/** A use of a call: by its digest, or by its place in the plan through its id, or both. */
export interface WantedUse {
  /** The same key names the same use. */
  key: string;
  digest?: string;
  callId?: string;
}

/** Returns how many of the calls of a plan are approved. */
export function approvedCalls({ form, outcome }: Pick<Request, "form" | "outcome">): number {
  if (outcome?.approved !== true || form.kind !== "approval") return 0;
  return outcome.upTo ?? form.calls ?? 0;
}

/**
 * Returns the call that a use takes: the next approved call that nobody has used, or the one that this use took before.
 *
 * Pure: the caller holds the plan, and marks the call. `now` is by the store's clock.
 *
 * @throws {Refusal} `not_in_plan` with its `reason`: `not_approved`, `expired`, `order`, `arguments` or `spent`;
 *   `idempotency_mismatch` for a key of another use
 */
export function nextUse(
  plan: Pick<Request, "form" | "outcome" | "state" | "expiresAt">,
  calls: readonly PlanCall[],
  wanted: WantedUse,
  now: number,
): PlanCall {
  const former = calls.find(({ usedBy }) => usedBy === wanted.key);
  if (former && isWanted(former, wanted)) return former;
  if (former) throw new Refusal("idempotency_mismatch", { field: "Idempotency-Key" });
  if (plan.state === "expired") throw notInPlan("expired");
  const approved = calls.slice(0, approvedCalls(plan));
  if (approved.length === 0) throw notInPlan("not_approved");
  if (now >= plan.expiresAt) throw notInPlan("expired");
  const next = approved.find(({ usedBy }) => usedBy === null);
  if (next && isWanted(next, wanted)) return next;
  const like = calls.filter((one) => isWanted(one, wanted));
  const other = like.find((one) => approved.includes(one) && one.usedBy === null) ?? like[0];
  if (!other) throw notInPlan("arguments", next);
  if (!approved.includes(other)) throw notInPlan("not_approved", next);
  throw notInPlan(other.usedBy === null ? "order" : "spent", next);
}

function isWanted(call: PlanCall, { digest, callId }: WantedUse): boolean {
  return call.digest === (digest ?? call.digest) && callIdOf(call) === (callId ?? callIdOf(call));
}

const SAYS = {
  not_approved: "The plan, or this call of it, is not approved.",
  expired: "The time of the plan is over.",
  order: "Another call of the plan comes first.",
  arguments: "The plan has no call of this function with exactly these arguments.",
  spent: "This call of the plan was used before.",
} as const;

function notInPlan(reason: keyof typeof SAYS, next?: PlanCall): Refusal {
  const expected = next && { expected_call_id: callIdOf(next) };
  return new Refusal("not_in_plan", { reason, ...expected }, SAYS[reason]);
}

export function callIdOf({ ref }: Pick<PlanCall, "ref">): string {
  return ref.slice(ref.indexOf(":") + 1);
}
