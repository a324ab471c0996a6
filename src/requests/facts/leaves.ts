/** A value of a call that is no object. Digits are as in the canonical text. */
export type LeafValue =
  | { kind: "text" | "number"; text: string }
  | { kind: "switch"; on: boolean }
  | { kind: "list"; items: readonly unknown[] };

/** An argument, at whatever depth, with the names it stands below. */
export interface ArgumentLeaf {
  path: readonly string[];
  /** The known words of its own name. */
  words: readonly string[];
  /** The known words of all names above it. */
  above: readonly string[];
  value: LeafValue;
}

/** Returns whether a word is in the name of a leaf. */
export function isNamed({ words }: ArgumentLeaf, kind: ReadonlySet<string>): boolean {
  return words.some((word) => kind.has(word));
}

/** Returns the text of a leaf that is a text or a number; null for any other. */
export function textOf({ value }: ArgumentLeaf): string | null {
  return value.kind === "text" || value.kind === "number" ? value.text : null;
}
