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
    `A person has to look at the difference: parley tools list, and parley tools accept gate/${fn}.`
  );
}

/** Says to a model that other arguments ran than it asked for. */
export function editedWords(fn: string, args: string, name: string): string {
  return `${fn} ran with arguments that ${name} changed before approving: ${args}`;
}
