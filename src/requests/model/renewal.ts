/** The step of a planned reminder is 1; those from here on take the place of a message that answers nothing any more. */
export const FIRST_RENEWAL = 2;

/** True for a message that takes the place of one whose token was seen in words that agents can read. */
export function isRenewal({ kind, step }: { kind: string; step: number }): boolean {
  return kind === "remind" && step >= FIRST_RENEWAL;
}
