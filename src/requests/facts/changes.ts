import { wordsIn } from "../model/argument-order.ts";
import type { ArgumentLeaf } from "./leaves.ts";

/** A value before a call, and the value after it. */
export interface StateChange {
  before: ArgumentLeaf;
  after: ArgumentLeaf;
  /** The words that both names share. */
  words: readonly string[];
}

/** Names by which `from` and `to` are two states of one thing, and no two places. */
const STATES = wordsIn(
  "version tag release revision plan tier size status state class type level price amount role name email mail phone",
  "title label description password url policy language quantity stock capacity replica limit owner assignee value color",
  "priority change update modification",
);
const UNSAID = new Set(["currency"]);

/** Returns the pairs of an old and a new value, such as `old_price` and `price` or `{ from, to }` of a number. */
export function changesIn(leaves: readonly ArgumentLeaf[]): StateChange[] {
  const taken = new Set<ArgumentLeaf>();
  const named = leaves
    .filter(({ words, value }) => !words.some((word) => UNSAID.has(word)) && value.kind !== "list")
    .map((leaf) => ({ leaf, all: [...leaf.above, ...leaf.words] }));
  return named.flatMap(({ leaf: before, all }): StateChange[] => {
    const pair = pairs.find(([old]) => all.includes(old));
    if (!pair) return [];
    const words = all.filter((word) => word !== pair[0]);
    const isAfter = (other: (typeof named)[number]) =>
      other.leaf !== before && !taken.has(other.leaf) && other.leaf.value.kind === before.value.kind;
    const after =
      named.find((other) => isAfter(other) && sameWithout(other.all, pair[1], words)) ??
      (pair[0] === "old" ? named.find((other) => isAfter(other) && endsWith(other.all, words)) : undefined);
    if (!after || !isState(pair[0], before, words)) return [];
    taken.add(before).add(after.leaf);
    return [{ before, after: after.leaf, words }];
  });
}

const pairs: readonly [before: string, after: string][] = [
  ["old", "new"],
  ["from", "to"],
];

function sameWithout(all: readonly string[], without: string, words: readonly string[]): boolean {
  return all.includes(without) && all.filter((word) => word !== without).join(" ") === words.join(" ");
}

function endsWith(all: readonly string[], words: readonly string[]): boolean {
  return words.length > 0 && !all.includes("old") && all.slice(-words.length).join(" ") === words.join(" ");
}

function isState(before: string, leaf: ArgumentLeaf, words: readonly string[]): boolean {
  return before === "old" || leaf.value.kind === "number" || words.some((word) => STATES.has(word));
}
