import { keepResults } from "../../lib/kept-results.ts";
import { textOf, type ArgumentLeaf } from "./leaves.ts";
import { codeOf, CURRENCIES, currencyInName, isSum } from "./money-names.ts";
import { knownWords } from "./name-words.ts";

/** So much of a currency, in its main unit and with every digit. */
export interface Money {
  amount: string;
  currency: string;
}

const AMOUNT = /^[-+−]?\d[\d.,'’\u00a0\u202f ]*$/;
const WITH_CURRENCY = /^(?:[€$£¥]|[A-Z]{3}) ?[-+]?\d[\d.,'’ ]*$|^[-+]?\d[\d.,'’ ]* ?(?:[€$£¥]|[A-Z]{3})$/;

/** Returns whether a text can be an amount: digits with any separators, or these with a currency. */
export function isAmount(text: string): boolean {
  return AMOUNT.test(text) || WITH_CURRENCY.test(text);
}

/** Returns whether an amount holds its currency: "€12.90", "USD 5". */
export function hasCurrency(text: string): boolean {
  return WITH_CURRENCY.test(text);
}

/** Returns an amount with its currency: the one in the amount, else in its name, else the one beside it. */
export function moneyText(words: readonly string[], digits: string, beside: string | null): string {
  if (hasCurrency(digits)) return digits;
  const money = moneyIn(words, digits, beside);
  return money ? `${money.amount} ${money.currency}` : digits;
}

/** Returns an amount where name, value and the currency beside it say one; the name alone decides about smaller units. */
export function moneyIn(words: readonly string[], digits: string, beside: string | null): Money | null {
  const currency = currencyInName(words) ?? beside;
  if (currency === null || currency === "" || !AMOUNT.test(digits)) return null;
  const isMinor = words.includes("minor");
  return { amount: isMinor ? inMainUnit(digits, currency) : digits, currency: codeOf(currency) ?? currency };
}

/** Returns an argument as money; `beside` are the arguments that it stands among. */
export function moneyOf(name: string, digits: string, beside: Readonly<Record<string, unknown>>): Money | null {
  const words = knownWords(name);
  if (!isSum(words) || !/^-?\d+(\.\d+)?$/.test(digits)) return null;
  const currency = codeOf(beside["currency"]);
  return moneyIn(words, digits, currency);
}

/** A format takes long to make, and a call may have thousands of amounts. */
const digitsOf = keepResults(CURRENCIES.size, (currency) => {
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits ?? 2;
});

function inMainUnit(digits: string, currency: string): string {
  const code = codeOf(currency);
  const [, sign = "", whole = ""] = /^(-?)(\d+)$/.exec(digits) ?? [];
  if (whole === "" || code === null) return `${digits} minor units of`;
  const places = digitsOf(code);
  if (places === 0) return digits;
  const padded = whole.padStart(places + 1, "0");
  return `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
}

/** Returns an amount in the main unit of its currency, without the currency. */
export function inMainUnits(words: readonly string[], digits: string, currency: string | null): string {
  return words.includes("minor") && isSum(words) && codeOf(currency) !== null
    ? inMainUnit(digits, currency ?? "")
    : digits;
}

/** Returns the currency that stands nearest to an amount: beside it, above it, or the only one of the call. */
export function currencyFor(leaf: ArgumentLeaf, all: readonly ArgumentLeaf[]): string | null {
  const currencies = all.filter(({ words, value }) => words.includes("currency") && value.kind === "text");
  for (let depth = leaf.path.length - 1; depth >= 0; depth -= 1) {
    const beside = currencies.find(
      ({ path }) => path.length === depth + 1 && path.slice(0, -1).join("\n") === leaf.path.slice(0, depth).join("\n"),
    );
    if (beside) return textOf(beside)?.slice(0, 12) ?? null;
  }
  const only = new Set(currencies.map(textOf));
  return only.size === 1 ? ([...only][0]?.slice(0, 12) ?? null) : null;
}
