import type { WriteResult } from "./ledger.ts";

/** An outcome as a reply shows it. */
interface Shown {
  state: string;
  result_digest?: string;
}

/** One call of an agent, with the replies that its agent got. */
export interface Call {
  id: string;
  key: string;
  reports: "start" | "end" | "none";
  /** The request for it, known once acknowledged. */
  askId: string | null;
  approved: WriteResult | null;
  /** The runs that tried to claim it. */
  claims: Map<string, WriteResult>;
  report: { outcome: string; result_digest: string; told: WriteResult } | null;
  /** The newest outcome that any reply has shown. */
  seen: Shown | null;
  /** Its agent has died, and sends nothing more. */
  isLeft: boolean;
}

/** The row of a call and its entries of the record, in the store itself. */
export interface Stored {
  state: string;
  digest: string | null;
  run: string | null;
  claims: string[];
  changes: string[];
}

/** The states that may come after each (spec/a2h 24), also where a state between was not seen. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  awaited: ["started", "done", "failed", "withdrawn", "unknown", "not_run"],
  not_reported: ["started", "done", "failed", "withdrawn", "unknown"],
  started: ["done", "failed", "unknown"],
  unknown: ["done", "failed"],
};
const WAITING = ["awaited", "started"];
/** Ends that are seen at their time, and may be replaced before they are stored. */
const REPLACED = "unknown";

/** Notes an outcome that a reply has shown. Returns the problem, where the one before cannot have become this. */
export function see(call: Call, shown: Shown): string | null {
  const { seen } = call;
  call.seen = shown;
  if (!seen) return null;
  const isSame = seen.state === shown.state && seen.result_digest === shown.result_digest;
  if (isSame || AFTER[seen.state]?.includes(shown.state)) return null;
  return `W4: ${call.id} was ${text(seen)}, and then ${text(shown)}`;
}

const text = ({ state, result_digest: digest }: Shown) => (digest === undefined ? state : `${state} with ${digest}`);

/** Returns the problems of a call for which more than one run was told to go on. */
export function problemsOfClaims({ id, claims }: Call): string[] {
  const given = [...claims].filter(([, told]) => told === "acknowledged").map(([run]) => run);
  return given.length > 1 ? [`W4: ${id} was given to ${given.join(" and ")}`] : [];
}

/** Returns the problems of a call in the store, once the time of every report is over. */
export function problemsAtEnd(call: Call, stored: Stored | undefined): string[] {
  const { id, reports, approved, claims, report, seen } = call;
  if (!stored) return approved === "acknowledged" && reports !== "none" ? [`W4: ${id} has no outcome`] : [];
  const { state, digest, run, changes } = stored;
  const problems = problemsOfClaims(call);
  if (WAITING.includes(state)) problems.push(`W4: ${id} is ${state} after its time`);
  if (report?.told === "acknowledged" && (state !== report.outcome || digest !== report.result_digest)) {
    problems.push(`W4: ${id} was acknowledged as ${report.outcome} with ${report.result_digest}, and is ${state}`);
  }
  if (seen && state !== seen.state && !AFTER[seen.state]?.includes(state)) {
    problems.push(`W4: ${id} was ${seen.state}, and is ${state} in the store`);
  }
  const given = [...claims].filter(([, told]) => told === "acknowledged").map(([name]) => name);
  if (stored.claims.length > 1 || given.some((name) => !stored.claims.includes(name) || run !== name)) {
    problems.push(`W4: ${id} was given to ${given.join()}, the record has ${stored.claims.join()}, the store ${run}`);
  }
  if (!isWhole(changes, state)) problems.push(`W4: ${id} is ${state}, and the record has ${changes.join(", ")}`);
  return problems;
}

/** True where each change is in the record once: one end, which may come after one that nobody reported. */
function isWhole(changes: readonly string[], state: string): boolean {
  const [first, ...more] = changes;
  if (changes.at(-1) !== state) return false;
  return more.length === 0 || (first === REPLACED && more.length === 1 && AFTER[REPLACED]?.includes(state) === true);
}
