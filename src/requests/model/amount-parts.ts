import type { StateChange } from "../facts/changes.ts";
import type { FunctionWords } from "../facts/function-name.ts";
import { textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { sumOf } from "../facts/batch.ts";
import { codeOf, isSum } from "../facts/money-names.ts";
import { currencyFor, hasCurrency, moneyIn, moneyText } from "../facts/money.ts";
import { labelOf, type Sorted } from "../facts/labels.ts";
import { knownSet, knownWords, spokenWords } from "../facts/name-words.ts";
import { bare, type Part } from "./sentence-parts.ts";

/** The amount that a call is about comes before its parts. */
const MAIN = ["amount", "gross", "total", "sum", "value"];
/** A part of an amount or what comes on top of it, also where its number stands below that name. */
const BESIDES = knownSet("fee tax tip discount deposit charge commission bonus cost");
const UNNAMED = new Set([...MAIN, "minor", "price", "in"]);
const MOST_AMOUNTS = 4;

/** Returns the amounts of a call, the main one first and without its name. */
export function amountParts({ byRole }: Sorted, called: FunctionWords, all: readonly ArgumentLeaf[]): Part[] {
  const amounts = byRole("amount").toSorted((one, other) => rankOf(one, called) - rankOf(other, called));
  if (amounts.length === 0) return batchParts(byRole("target"), all);
  return amounts.slice(0, MOST_AMOUNTS).map((leaf, i) => {
    const digits = textOf(leaf) ?? "";
    const text = moneyText([...leaf.above, ...leaf.words], digits, currencyFor(leaf, all));
    const isMain =
      i === 0 && leaf.words.every((word) => UNNAMED.has(word) || codeOf(word) !== null || called.words.includes(word));
    const label = isMain && (text !== digits || hasCurrency(digits)) ? "" : `${labelOf(leaf, all)} `;
    return {
      joint: label === "" || (i === 0 && text === digits) ? " " : ", ",
      weight: i < 2 ? Infinity : 6,
      say: (most) => `${label}${bareAmount(text, most)}`,
    };
  });
}

function batchParts(lists: readonly ArgumentLeaf[], all: readonly ArgumentLeaf[]): Part[] {
  const sums = lists.flatMap((leaf) => sumOf(leaf, all) ?? []);
  return sums.map(({ amount, currency }) => ({
    joint: " ",
    weight: Infinity,
    say: (most) => bareAmount(`${amount} ${currency}`, most),
  }));
}

function rankOf(leaf: ArgumentLeaf, called: FunctionWords): number {
  const isBesides = leaf.above.some((word) => BESIDES.has(word) && !called.words.includes(word));
  const rank = isBesides ? -1 : MAIN.findIndex((word) => leaf.words.includes(word));
  return rank === -1 ? MAIN.length : rank;
}

/** Digits and the code of a currency can pass for nothing else. */
function bareAmount(text: string, most: number): string {
  return /^(?:[A-Z]{3} ?)?[\d.,'’\u00a0\u202f +\-−]*[€$£¥]?(?: ?\p{L}{1,12})?$/u.test(text) ? text : bare(text, most);
}

/** Returns what a call changes, as `before → after`. */
export function changeParts(
  changes: readonly StateChange[],
  called: FunctionWords,
  all: readonly ArgumentLeaf[],
): Part[] {
  return changes.map(({ before, after, words }, i): Part => {
    const [old, now] = [stateOf(before), stateOf(after)];
    const path = [...after.above, ...after.words];
    const isMoney = isSum(path) || currencyFor(after, all) !== null;
    const currency = isMoney ? currencyFor(after, all) : null;
    const [money, was] = [moneyIn(path, now, currency), moneyIn([...before.above, ...before.words], old, currency)];
    const isPercent = path.includes("percent");
    const name = after.path
      .flatMap(spokenWords)
      .filter((word) => knownWords(word).every((known) => words.includes(known) && !called.words.includes(known)))
      .filter((word) => !UNSAID.has(word))
      .join(" ");
    return {
      joint: i === 0 ? ": " : ", ",
      weight: Infinity,
      say: (most) => {
        const isTold = (money !== null || isPercent) && changes.length === 1;
        const label = name === "" || isTold ? "" : `${name} `;
        if (money && was) return `${label}${was.amount} → ${money.amount} ${money.currency}`;
        if (isPercent) return `${label}${old} → ${now}%`;
        return `${label}${bare(old, most)} → ${bare(now, most)}`;
      },
    };
  });
}

const UNSAID = new Set(["value", "version", "current", "data", "changes", "updates"]);

function stateOf(leaf: ArgumentLeaf): string {
  return leaf.value.kind === "switch" ? String(leaf.value.on) : (textOf(leaf) ?? "");
}
