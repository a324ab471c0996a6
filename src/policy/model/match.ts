/**
 * The inputs that a rule may look at; besides these, `meta.<key>` of the data that the asker sent along (spec/relay 8).
 * `fn` is the function of a call that agents ask people about (spec/a2h 8), and missing from everything else.
 */
export const POLICY_INPUTS = [
  "action",
  "resource",
  "env",
  "ask_type",
  "role",
  "tool",
  "agent",
  "repo",
  "job",
  "fn",
] as const;
export type PolicyInputName = (typeof POLICY_INPUTS)[number];

/**
 * The pattern of one value: the texts between its stars, or one text where it has no star; null for a missing value.
 */
export type Pattern = readonly string[] | null;

/**
 * Stands for a value that is there and cannot be compared: a list, a block, or a number that no rule can hold. It is
 * equal to nothing; rules read it to the disadvantage of its sender (spec/relay 8).
 */
export const NOT_COMPARABLE = Object.freeze({ not_comparable: true } as const);

/** A value as it is compared; null where it is missing. */
export type PolicyValue = string | typeof NOT_COMPARABLE | null;

/** A line of `when` or `unless` about an input: what it may be. */
export interface InputCondition {
  input: PolicyInputName | `meta.${string}`;
  any: readonly Pattern[];
}

/** Stands for a star when a pattern is itself looked at as a text; no character has this number. */
const ANY_RUN = "\u{10ffff}";

/**
 * Returns a value as it is compared. `action` and `env`, which are written in many ways and mean one thing, are
 * compared without regard to case, width and space around them; the rest exactly.
 */
export function normalised(input: string, text: string): string {
  if (input !== "action" && input !== "env") return text.normalize("NFC");
  return text.normalize("NFKC").trim().toLowerCase();
}

/** Returns a rule's value as a pattern. Only the plain `*` is a star, not what normalising would make of others. */
export function patternOf(input: string, text: string): Pattern {
  const pieces = (input === "action" || input === "env" ? text.trim() : text).split("*");
  if (pieces.length === 1) return [normalised(input, text)];
  return pieces.map((piece) => foldPiece(input, piece));
}

/** Keeps space beside a star, which is part of the pattern. */
function foldPiece(input: string, piece: string): string {
  const folded = normalised(input, `|${piece}|`);
  return folded.slice(1, -1);
}

/**
 * Returns whether a pattern takes a value. Each text between two stars is looked for once, from where the one before it
 * ended; nothing is ever tried again, so that no pattern takes long.
 */
export function fits(pattern: Pattern, value: string | null): boolean {
  if (pattern === null || value === null) return pattern === null && value === null;
  const [head = "", ...between] = pattern;
  const tail = between.pop();
  if (tail === undefined) return value === head;
  if (value.length < head.length + tail.length || !value.startsWith(head) || !value.endsWith(tail)) return false;

  const end = value.length - tail.length;
  let from = head.length;
  for (const piece of between) {
    const at = value.indexOf(piece, from);
    if (at < 0 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}

/** Returns whether one pattern certainly takes whatever the other takes. */
export function covers(one: Pattern, other: Pattern): boolean {
  return fits(one, other && other.join(ANY_RUN));
}
