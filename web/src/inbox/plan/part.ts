/** The part of a plan that is approved: its first calls, up to one. Pure. */
import type { Plan, PlannedCall, WholeAsk } from "../wire.ts";

/** Returns how many calls are left in after a press on one of them: it and all behind it go, or all come back. */
export function toggledAt(place: number, left: number, of: number): number {
  return place > left ? of : place - 1;
}

/** Returns the calls of high risk among the first `left` of a plan. */
export function graveAmong({ calls }: Plan, left: number): PlannedCall[] {
  return calls.slice(0, left).filter(({ risk }) => risk === "high");
}

/** True where the first `left` calls need the care of a high risk; that of no single call is the whole plan's. */
export function isGravePart({ risk }: Pick<WholeAsk, "risk">, plan: Plan, left: number): boolean {
  if (risk === "high" && graveAmong(plan, Infinity).length === 0) return true;
  return graveAmong(plan, left).length > 0;
}

/** Returns the first call among these of which somebody has not looked at a secret; `seen` has those that were. */
export function unseenAmong(
  { calls }: Plan,
  left: number,
  seen: ReadonlySet<string>,
): { place: number; name: string } | undefined {
  const secrets = calls.slice(0, left).flatMap(({ place, arguments: rows }) => {
    return rows.filter(({ secret }) => secret).map(({ name }) => ({ place, name }));
  });
  return secrets.find(({ place, name }) => !seen.has(seenName(place, name)));
}

/** Names an argument of a call in the set of those that were looked at. */
export const seenName = (place: number, name: string): string => `${place} ${name}`;

/** Returns how many calls are approved, or will be by this person's press; null while nobody has decided. */
export function approvedIn({ outcome, presses }: Pick<WholeAsk, "outcome" | "presses">): number | null {
  const press = presses.find(({ mine }) => mine);
  if (press) return press.approved ? press.approved_calls : 0;
  return outcome === null ? null : (outcome.approved_calls ?? 0);
}
