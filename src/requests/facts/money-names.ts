import type { ArgumentLeaf } from "./leaves.ts";
import { knownSet, knownWords } from "./name-words.ts";

export const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));
/** Codes that are an amount's whole name; others are words as well, such as `all` and `try`. */
const SPOKEN = new Set("eur usd gbp chf jpy cad aud nzd sek nok dkk pln czk cny inr".split(" "));
const SUMS = knownSet(
  "amount sum total price cost fee budget balance refund payment payout salary gross net subtotal deposit discount tax bonus",
  "credit debit tip charge bid donation fine rent spend spending value principal premium wage compensation commission",
  "allowance stipend expense reimbursement revenue",
);
const UNITS = knownSet("unit denomination");
const COINS = knownSet("asset coin token crypto");
const COIN = /^[A-Z]{3,5}$/;
/** Numbers that are no money, beside a currency too. */
const OTHER_NUMBERS = knownSet(
  "quantity count number id rate percent month day week year term hour minute second version revision page limit offset",
  "size seat installment position priority index attempt row",
);

/** Returns the code of a currency in capitals; null for any other value. */
export function codeOf(code: unknown): string | null {
  const upper = typeof code === "string" ? code.toUpperCase() : "";
  return CURRENCIES.has(upper) ? upper : null;
}

/** Returns whether a name is that of an amount of money. */
export function isSum(words: readonly string[]): boolean {
  return words.some((word) => SUMS.has(word)) || currencyInName(words) !== null;
}

/** Returns the currency that a name ends with: `total_eur`. */
export function currencyInName(words: readonly string[]): string | null {
  const last = words.at(-1) ?? "";
  const code = codeOf(last);
  if (code === null) return null;
  return SPOKEN.has(last) || words.some((word) => SUMS.has(word)) ? code : null;
}

/**
 * Returns the members of an object with the words that only their neighbours tell: `unit: "EUR"` is a currency, a number
 * counts cents beside `unit: "cents"`, and the one number beside a currency is an amount, whatever its name.
 */
export function withMoneyWords(members: readonly ArgumentLeaf[]): ArgumentLeaf[] {
  const named = members.map((leaf) => (isCurrency(leaf) ? { ...leaf, words: ["currency"] } : leaf));
  const isMinor = named.some(isSmallUnit);
  const numbers = named.filter(
    ({ value, words }) => value.kind === "number" && !words.some((word) => OTHER_NUMBERS.has(word)),
  );
  const hasCurrency = named.some(({ words, value }) => words.includes("currency") && value.kind === "text");
  const isOnly = hasCurrency && numbers.length === 1 && !named.some(({ words }) => isSum(words));
  if (!isMinor && !isOnly) return named;
  return named.map((leaf) => {
    if (!numbers.includes(leaf)) return leaf;
    const added = [...(isOnly ? ["amount"] : []), ...(isMinor ? ["minor"] : [])];
    return { ...leaf, words: [...leaf.words, ...added] };
  });
}

function isCurrency({ words, value }: ArgumentLeaf): boolean {
  const [word = "", ...others] = words;
  if (value.kind !== "text" || others.length > 0) return false;
  return (UNITS.has(word) && codeOf(value.text) !== null) || (COINS.has(word) && COIN.test(value.text));
}

/** Returns whether an argument says that the numbers beside it count cents. */
export function isSmallUnit({ words, value }: ArgumentLeaf): boolean {
  const [word = "", ...others] = words;
  return value.kind === "text" && others.length === 0 && UNITS.has(word) && knownWords(value.text)[0] === "minor";
}
