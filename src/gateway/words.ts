import type { WireToolApproval } from "../wire/mcp.ts";

/** Says to a model that people have not decided, and what to do about it. */
export function pendingWords(fn: string, { call_id, expires_at }: WireToolApproval): string {
  return (
    `${fn} has not run yet: it waits for a person to decide (${call_id}). ` +
    "Go on with other work if you can. Later make exactly the same call again, with the same arguments: " +
    "once somebody has approved it, it runs then, and you get its result. " +
    `Without an answer by ${expires_at} it counts as rejected.`
  );
}

/** Says to a model that the call before it in its plan has not run. */
export function behindWords(fn: string, { call_id }: WireToolApproval): string {
  return (
    `${fn} has not run yet: it is approved, and waits for the call before it in its plan (${call_id}). ` +
    "Make that call again if you have not got its result. Then make exactly this call again, with the same arguments."
  );
}

/** Says to a model that people could not be shown the targets of a call. */
export function unshownWords(name: string, why: string): string {
  return `${name} did not run: people have to see its targets, and ${why}.`;
}

/** Says to a model that a call would change other things than people saw. */
export function otherTargetsWords(fn: string): string {
  return `${fn} did not run: its targets have changed since it was approved. Make the call again, and people see its targets of then.`;
}

/** Says to a model who did not let a call run, and why. */
export function deniedWords(fn: string, { status, comment, decided_by: by, call_id }: WireToolApproval): string {
  if (status === "expired") return `${fn} did not run: nobody decided in time (${call_id}).`;
  if (status === "cancelled") return `${fn} did not run: the request for approval was cancelled (${call_id}).`;
  const why = comment === undefined ? "." : `: ${comment}`;
  return `${fn} did not run: rejected by ${by?.name ?? "somebody"}${why}\nThis is a decision: do not try the same again, and weigh what was said.`;
}

/** Says to a model that a tool is another than was accepted. */
export function changedWords(fn: string): string {
  return (
    `${fn} did not run: its name, description, schema or annotations are not what was accepted. ` +
    "A person has to look at the difference with parley tools list, and accept it with parley tools accept."
  );
}

/** Says to a model that a run has no known end. */
export function unknownWords(fn: string): string {
  return `${fn} was started, and its server ended without an answer: whether it ran is unknown.`;
}

/** Says to a model that the answer of a run cannot be read. */
export function unreadableWords(fn: string): string {
  return `${fn} was started, and its server's answer is not JSON-RPC: its result is lost. It may have done its work.`;
}

/** Says to a model that the answer of a run is of a revision that its client does not speak. */
export function misfitWords(fn: string): string {
  return (
    `${fn} was started, and did not complete: its server's answer is of a revision of MCP that this client does not ` +
    "speak. It may have done a part of its work."
  );
}

/** Says to a model that other arguments ran than it asked for. */
export function editedWords(fn: string, args: string, name: string): string {
  return `${fn} ran with arguments that ${name} changed before approving: ${args}`;
}
