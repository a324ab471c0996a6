import type { StateChange } from "./changes.ts";
import type { ArgumentLeaf } from "./leaves.ts";
import { knownWords, spokenWords } from "./name-words.ts";
import type { ArgumentRole } from "./roles.ts";

/** The arguments of a call by their roles. */
export interface Sorted {
  byRole: (...wanted: ArgumentRole[]) => ArgumentLeaf[];
  changes: readonly StateChange[];
}

/** Words of names that say nothing without their parents. */
const GENERIC = new Set("id number name key code title value text type data item uid email address slug".split(" "));
/** Values by these names say themselves what they are. */
const SPEAKING = new Set(
  "name title service application app component mail sku username target resource pattern symbol url uri link user id key".split(
    " ",
  ),
);

/** Returns the name of an argument for people; with its parent, where the name says nothing, or stands twice. */
export function labelOf({ path }: ArgumentLeaf, all: readonly ArgumentLeaf[]): string {
  const last = path.at(-1) ?? "";
  const parent = path.at(-2);
  const isTwice = all.filter((other) => other.path.at(-1) === last).length > 1;
  const words = spokenWords(last);
  const isGeneric = knownWords(last).every((word) => GENERIC.has(word));
  if (parent === undefined || !(isTwice || isGeneric)) return withoutId(words);
  return isGeneric && !isTwice ? withoutId(spokenWords(parent)) : [...spokenWords(parent), ...words].join(" ");
}

function withoutId(words: readonly string[]): string {
  return (words.length > 1 && words.at(-1) === "id" ? words.slice(0, -1) : words).join(" ");
}

/** Returns whether a value needs no name before it. */
export function isSpeaking(leaf: ArgumentLeaf, text: string): boolean {
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return true;
  const own = leaf.words.filter((word) => !GENERIC.has(word));
  return leaf.above.length === 0 && (own.length === 0 ? leaf.words : own).every((word) => SPEAKING.has(word));
}

/** Returns whether a function names what an argument is: the table of `drop_table`. */
export function isNamedAmong({ words, above, path }: ArgumentLeaf, called: readonly string[]): boolean {
  const own = words.filter((word) => !GENERIC.has(word));
  const all = own.length === 0 ? [...above.slice(-1), ...own] : own;
  return all.length === 0 ? path.length === 1 : all.every((word) => called.includes(word));
}
