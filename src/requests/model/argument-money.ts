import { keepResults } from "../../lib/kept-results.ts";

/** So much of a currency, in its main unit and with every digit. */
export interface Money {
  amount: string;
  currency: string;
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));
const SUMS = new Set("amount sum total price cost fee budget balance refund payment salary".split(" "));
const SMALLEST = new Set("cents cent minor pence".split(" "));

/**
 * Returns an amount of money where name and value leave no doubt about its unit: the name ends in a currency
 * (`price_usd`), says that it counts cents beside a `currency`, or the number has a fraction beside one. A whole number
 * beside a currency is no money here, since many programs mean cents by it.
 */
export function moneyOf(name: string, digits: string, all: Readonly<Record<string, unknown>>): Money | null {
  if (!/^-?\d+(\.\d+)?$/.test(digits)) return null;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const isSum = words.some((word) => SUMS.has(word));
  const last = currencyOf(words.at(-1));
  if (last !== null && isSum) return { amount: digits, currency: last };
  const beside = currencyOf(all["currency"]);
  if (beside === null || !isSum) return null;
  if (digits.includes(".")) return { amount: digits, currency: beside };
  const isSmallest = words.some((word) => SMALLEST.has(word));
  return isSmallest && digitsOf(beside) === 2 ? { amount: hundredth(digits), currency: beside } : null;
}

function currencyOf(code: unknown): string | null {
  const upper = typeof code === "string" ? code.toUpperCase() : "";
  return CURRENCIES.has(upper) ? upper : null;
}

/** A format takes long to make, and a call may have thousands of amounts. */
const digitsOf = keepResults(CURRENCIES.size, (currency) => {
  return new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions().maximumFractionDigits;
});

function hundredth(digits: string): string {
  const [, sign = "", whole = "0"] = /^(-?)(\d+)$/.exec(digits) ?? [];
  const padded = whole.padStart(3, "0");
  return `${sign}${padded.slice(0, -2)}.${padded.slice(-2)}`;
}
