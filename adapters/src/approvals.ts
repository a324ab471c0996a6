import type { ApprovalOptions, DecidedCall, DecidedPlan, EndReports, Parley, PlanOptions } from "@parley/sdk";
import { withoutSteering } from "./ask-human.ts";
import { reportsIn } from "./reports.ts";

/** The part of `Parley` that asks whether a call may run, and takes the decision for one run. */
export type Approver = Pick<Parley, "approve" | "claim">;

/**
 * The people whom a gate asks about a tool's call, and the time they get. The key or the server sets `to` and `channel`
 * if they are left out.
 */
export type GateOptions = Pick<
  ApprovalOptions,
  "to" | "channel" | "reason" | "rejectOptions" | "timeoutSeconds" | "signal"
>;

/** The part of `Parley` that asks about several calls at once. */
export type Planner = Approver & Partial<Pick<Parley, "approveAll">>;

export interface PlanGateOptions extends GateOptions {
  /**
   * Calls that wait at the same moment, two or more, are one plan: people decide them once, in their order, and edit
   * nothing. Evidence and a title may go with it. Left out, each call is a request of its own.
   */
  asPlan?: boolean | Pick<PlanOptions, "title" | "evidence">;
}

/** A tool, and exactly the arguments it would run with. */
export interface ToolRun {
  fn: string;
  args: object;
}

/**
 * The decision on a call. An approved call runs with these arguments; a rejected call has a reason in words for a
 * model.
 */
export type Verdict = { isApproved: true; args: object; isEdited: boolean } | { isApproved: false; why: string };

/** A decision, and the id of the request that it was made on. */
export interface Decided {
  id: string;
  verdict: Verdict;
  /** The reason why the framework runs no approved call, in words for people. */
  notRun?: string;
  /** The reports about the end of an approved call. */
  reports?: EndReports | undefined;
}

export interface VerdictOptions extends GateOptions {
  /** Names the request among all others. */
  asked: readonly string[];
  isEditable?: boolean;
  /** The schema that edited arguments must fit. */
  argsSchema?: object;
}

/**
 * Resolves once a person or a rule of policy has decided, or the time has run out. The approved call has been compared
 * with the arguments. The same `asked` again joins the earlier request.
 *
 * @throws {ParleyError} and {ApprovalMismatch} as `Parley.approve`, or the signal's reason
 */
export async function verdictOn(
  parley: Approver,
  run: ToolRun,
  { isEditable, asked, ...options }: VerdictOptions,
): Promise<Decided> {
  const idempotencyKey = await keyOf(asked);
  try {
    const request = { ...options, ...run, idempotencyKey, ...(isEditable && { editable: true }) };
    const decision = await parley.approve(request);
    const { args, edited: isEdited } = decision;
    return { id: idempotencyKey, verdict: { isApproved: true, args, isEdited }, reports: reportsIn(decision) };
  } catch (error) {
    if (!(error instanceof Error) || !NOT_GIVEN.has(error.name)) throw error;
    return { id: idempotencyKey, verdict: { isApproved: false, why: withoutSteering(error.message) } };
  }
}

/** A decision of a plan, and the way to take its call for the run that goes on. */
export interface PlannedVerdict {
  verdict: Verdict;
  use: DecidedCall["use"];
}

/**
 * The same for several calls that wait at once: one plan (spec/a2h 22). `rejectOptions` do not go with plans.
 *
 * @throws {ParleyError} and {ApprovalMismatch} as `Parley.approveAll`, {TypeError} for a client without it
 */
export async function verdictsOnPlan(
  parley: Planner,
  runs: readonly ToolRun[],
  { asked, asPlan, rejectOptions: _, ...options }: PlanGateOptions & { asked: readonly string[] },
): Promise<PlannedVerdict[]> {
  if (!parley.approveAll) throw new TypeError("This client has no approveAll: update @parley/sdk.");
  const shown = typeof asPlan === "object" ? asPlan : {};
  const plan = await parley.approveAll(runs, { ...options, ...shown, idempotencyKey: await keyOf(asked) });
  return plan.calls.map(({ fn, args, approved, comment, use }) => {
    if (approved) return { verdict: { isApproved: true, args, isEdited: false }, use };
    const said = plan.by ? `${plan.by.name} rejected ${fn}` : `${undecidedOf(plan)}: ${fn} is not approved`;
    const why = withoutSteering(comment === undefined ? said : `${said}: ${comment}`);
    return { verdict: { isApproved: false, why }, use };
  });
}

function undecidedOf({ status }: Pick<DecidedPlan, "status">): string {
  return status.cancelled ? "It was cancelled before anybody decided" : "Nobody decided in time";
}

/**
 * Takes the approved calls of a plan in their order, for the run that resumes a framework with them. Resolves with the
 * reports about the end of each of the plan's calls.
 *
 * @throws {ParleyError} `not_in_plan` where another run has one of them, or their time is over
 */
export async function useAll(
  planned: readonly PlannedVerdict[],
  signal: AbortSignal | undefined,
): Promise<(EndReports | undefined)[]> {
  const run = crypto.randomUUID();
  const used: (EndReports | undefined)[] = [];
  for (const { verdict, use } of planned)
    used.push(verdict.isApproved ? await use({ run, ...(signal && { signal }) }) : undefined);
  return used;
}

/** How often each name was decided about, for each client: a name that comes again after that is another call's. */
const decided = new WeakMap<Approver, Map<string, number>>();

/**
 * Decides on what a framework names by ids which a model may use again: once a decision was returned here, the same names
 * ask anew, so that one decision is for one call.
 *
 * @throws {unknown} as `decide`, which then counts for nothing
 */
export async function decideOnce<Decision>(
  parley: Approver,
  asked: readonly string[],
  decide: (asked: readonly string[]) => Promise<Decision>,
): Promise<Decision> {
  const counts = decided.get(parley) ?? new Map<string, number>();
  decided.set(parley, counts);
  const name = await keyOf(asked);
  const before = counts.get(name) ?? 0;
  const decision = await decide(before === 0 ? asked : [...asked, String(before)]);
  counts.set(name, before + 1);
  return decision;
}

/**
 * The same for one call, by its names and what would run.
 *
 * @throws {ParleyError} and {ApprovalMismatch} as `Parley.approve`, or the signal's reason
 */
export async function verdictOnce(parley: Approver, run: ToolRun, options: VerdictOptions): Promise<Decided> {
  const names = [...options.asked, run.fn, JSON.stringify(run.args)];
  return decideOnce(parley, names, (asked) => verdictOn(parley, run, { ...options, asked }));
}

/**
 * Takes these decisions for the run that resumes a framework with them: of any number of processes that wait at one pause
 * the first gets all, since each takes them in the same order. Called once all are made, and directly before the framework
 * goes on.
 *
 * @throws {ParleyError} `already_claimed` where another run has one of them, or the signal's reason
 */
export async function claimAll(
  parley: Approver,
  decisions: readonly Pick<Decided, "id">[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const run = crypto.randomUUID();
  const ids = [...new Set(decisions.map(({ id }) => id))].sort();
  for (const id of ids) await parley.claim(id, { run, ...(signal && { signal }) });
}

/** By name, since an application may hold more than one copy of the SDK. */
const NOT_GIVEN = new Set(["ApprovalRejected", "ApprovalUndecided"]);

/** Returns an id in letters that a request may have, whatever a framework's own ids are made of. */
export async function keyOf(names: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(names));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
