import type { Context } from "../../context.ts";
import { titleOf } from "../../core/model/title.ts";
import type { Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import { noteObserved } from "../../policy/grants.ts";
import type { Policy } from "../../policy/model/policy.ts";
import { Refusal } from "../../refusals.ts";
import {
  noteCreated,
  notifyRecipientsIn,
  storeRequestIn,
  type RequestContext,
  type RequestInput,
} from "../create/create-request.ts";
import { argumentsWithSecrets } from "../create/guard-arguments.ts";
import { countRuled, judgeCall, type CallToStore, type JudgedCall, type Ruled } from "../create/judge-call.ts";
import { finishRequest, type Ending } from "../end/finish.ts";
import { bindCall, type BoundCall } from "../model/bound-call.ts";
import { callIdOf, imagesOf, PLAN_DOOR, PLAN_FN, planArguments, type Evidence } from "../model/plan.ts";
import type { Request } from "../model/request.ts";
import { riskiestOf } from "../model/risk.ts";
import { sentencesOf } from "../model/sentence.ts";
import { insertPlanImages } from "../store/plans.ts";

/** A plan: whom it asks, its calls in their order, at least one, and the evidence that people see beside them. */
export type PlanInput = Omit<RequestInput, "door" | "title" | "form" | "digest" | "subject" | "plan" | "planOrd"> & {
  title?: string;
  calls: readonly PlannedCall[];
  evidence: readonly Evidence[];
  /** People decide even if policy allows every call. */
  forPeople?: boolean;
};

/** One call of a plan, as its door stores it. */
export type PlannedCall = Pick<RequestInput, "door" | "ref" | "sameHash" | "wire"> & { bound: BoundCall };

type PlanContext = RequestContext & Ending & Pick<Context, "secrets">;

/**
 * Asks whether several function calls may run one after the other. Each is judged by the rules: one that a rule denies
 * rejects the plan, and a plan of which rules allow every call is approved at once. Permissions count for nothing here.
 * Else people see all of it as one request. Each call is a request too, which ends with the plan (spec/a2h 22).
 *
 * @throws {Refusal} `ref_taken` also for the id of a call, `rate_limited`, `quota_exceeded`
 */
export async function createPlan(
  ctx: PlanContext,
  policy: Policy,
  input: PlanInput,
): Promise<{ request: Request; replayed: boolean }> {
  const { plan, calls } = await readyToStore(ctx, policy, input);
  const store = (forPeople: boolean) =>
    transact(ctx, (tx) => storePlanIn(ctx, tx, { policy, plan, calls, evidence: input.evidence, forPeople }));
  try {
    return await store(input.forPeople ?? false);
  } catch (error) {
    // The allowance of a rule is used up within the plan, or its agent was frozen: nothing is counted, and people decide.
    if (error !== USED_UP && !(error instanceof Refusal && error.code === "frozen")) throw error;
    return store(true);
  }
}

const USED_UP = new Error("the rules allow only a part of a plan");

async function readyToStore(
  ctx: PlanContext,
  policy: Policy,
  { title, calls, evidence, forPeople: _, ...input }: PlanInput,
): Promise<{ plan: CallToStore; calls: CallToStore[] }> {
  const { limits } = policy;
  const bounds = calls.map(({ bound }) => bound);
  const whole = bindCall(PLAN_FN, planArguments(bounds, evidence, title));
  const said = title === undefined ? "" : (await withoutSecrets(ctx, title)).trim();
  const asked = {
    ...input,
    door: PLAN_DOOR,
    title: said === "" ? `${calls.length} ${calls.length === 1 ? "call" : "calls"}` : titleOf(said),
    wire: { ...input.wire, ...(await argumentsWithSecrets(ctx, whole)) },
    form: approvalOf(whole, calls.length),
    digest: whole.digest,
  };
  const requester = ctx.requesters.ofRequest(asked);
  const presented = (await requester.present?.(ctx.db, asked)) ?? asked;
  const { asker, audience, timeoutSeconds, conversation } = input;
  const shared = { asker, audience, timeoutSeconds, ...(conversation !== undefined && { conversation }) };
  const stored: CallToStore[] = [];
  for (const [i, { bound, ...call }] of calls.entries()) {
    const guarded = await argumentsWithSecrets(ctx, bound);
    const says = policy.says?.get(bound.fn);
    const wire = { ...call.wire, ...guarded, ...(says !== undefined && { says }), ...(limits && { limits }) };
    const form = approvalOf(bound);
    stored.push({
      ...shared,
      ...call,
      wire,
      form,
      digest: bound.digest,
      title: bound.fn,
      words: "",
      planOrd: i + 1,
      uncharged: true,
    });
  }
  const [first] = stored;
  const plan = said === "" && first ? withWire(presented, { first: sentencesOf(first) }) : presented;
  return { plan, calls: stored };
}

function approvalOf({ fn, canonical }: BoundCall, calls?: number): CallToStore["form"] {
  const form = { kind: "approval", fn, kwargs: canonical, rejectOptions: [], editable: false } as const;
  return calls === undefined ? form : { ...form, calls };
}

interface PlanToStore {
  policy: Policy;
  plan: CallToStore;
  calls: readonly CallToStore[];
  evidence: readonly Evidence[];
  forPeople: boolean;
}

async function storePlanIn(
  ctx: PlanContext,
  tx: Tx,
  { policy, plan, calls, evidence, forPeople }: PlanToStore,
): Promise<{ request: Request; replayed: boolean }> {
  const judged: JudgedCall[] = [];
  for (const call of calls) judged.push(await judgeCall(tx, { policy, call, forPeople, byRules: true }));
  const ruled = judged.map(({ call, policyDecision: { risk } }) => withWire(call, risk && { risk }));
  const input = withWire(plan, { judged: riskiestOf(ruled) });
  const stored = await storeRequestIn(ctx, tx, input);
  if (stored.replayed) return stored;
  const { request } = stored;
  await ctx.requesters.ofRequest(request).stored?.(tx, request);
  const members: Request[] = [];
  for (const call of ruled) {
    const member = await storeRequestIn(ctx, tx, { ...call, plan: request.id });
    if (member.replayed) throw new Refusal("ref_taken", { requested_at: member.request.createdAt });
    await ctx.requesters.ofRequest(member.request).stored?.(tx, member.request);
    members.push(member.request);
  }
  await insertPlanImages(tx, request.id, imagesOf(evidence));
  const ends = await ruleOn(
    tx,
    judged.map((one) => ({ ...one, forPeople: forPeople || stored.isFrozen })),
  );
  for (const { policyDecision } of judged) await noteObserved(tx, policyDecision);
  if (ends.length === 0) await notifyRecipientsIn(ctx, tx, input, request);
  else await noteCreated(tx, request);
  for (const member of members) await noteCreated(tx, member);
  const [first] = ends;
  if (!first) return stored;
  for (const { at, ruled: by } of ends) {
    const member = members[at];
    if (member) await finishRequest(ctx, tx, member, endBy(member, by, { plan: request.id, ord: at + 1 }));
  }
  const named = members[first.at];
  const end = endBy(request, wholeBy(request, first.ruled, named), {});
  return { request: await finishRequest(ctx, tx, request, end), replayed: false };
}

function withWire<T extends CallToStore>(call: T, more: object | undefined): T {
  return { ...call, wire: { ...call.wire, ...more } };
}

/** A call that a rule decided, by its place in the plan, from 0 on. */
interface RuledCall {
  at: number;
  ruled: Ruled;
}

/** Returns the first call that a rule denies, or all of them where rules allow each; nothing where people decide. */
async function ruleOn(tx: Tx, judged: readonly JudgedCall[]): Promise<RuledCall[]> {
  const denied = judged.findIndex(({ policyDecision }) => policyDecision.decision === "DENY");
  const ruled = async (at: number, one: JudgedCall | undefined) => {
    const decided = one && (await countRuled(tx, one));
    return decided ? [{ at, ruled: decided }] : [];
  };
  if (denied >= 0) {
    const found = await ruled(denied, judged[denied]);
    if (found.length > 0) return found;
  }
  if (!judged.every(({ policyDecision, forPeople }) => policyDecision.decision === "ALLOW" && !forPeople)) return [];
  const all: RuledCall[] = [];
  for (const [at, one] of judged.entries()) all.push(...(await ruled(at, one)));
  if (all.length < judged.length && all.length > 0) throw USED_UP;
  return all;
}

function endBy(request: Request, { outcome, by }: Ruled, more: object) {
  const { policy_version } = outcome.trace;
  const action = outcome.approved === true ? "approved" : "rejected";
  return { outcome, at: request.createdAt, by, action, data: { policy_version, ...more } };
}

/** The rule of the first call stands for the plan; a rejection names the call. */
function wholeBy({ digest }: Request, { outcome, by }: Ruled, call: Request | undefined): Ruled {
  const bound = { ...outcome, digest: digest ?? "" };
  if (outcome.approved === true || call?.form.kind !== "approval") return { outcome: bound, by };
  const because = outcome.comment === undefined ? "" : `: ${outcome.comment}`;
  return { outcome: { ...bound, comment: `${call.form.fn} (${callIdOf(call)}) is refused${because}` }, by };
}
