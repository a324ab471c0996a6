import { isAmount } from "../facts/money.ts";

/** Fewer other amounts say nothing of what is usual. */
const LEAST_OTHERS = 4;
/** A gap to the nearest other number that is wide, as a share of the span of all others, and of that number. */
const WIDE_OF_SPAN = 0.3;
/** The same of money, where the highest of many is worth a look. */
const WIDE_OF_MONEY = 0.12;
const WIDE_OF_AMOUNT = 0.1;
/** So many times the span of the middle half above it, an amount is far off, whatever others are. */
const FAR_FROM_MIDDLE = 3;

/**
 * Returns the number in a text that is an amount, with or without a currency; null for other texts. Where the text has
 * one kind of separator, three digits behind it count as thousands. It is exact enough to compare sizes.
 */
export function amountIn(text: string): number | null {
  if (!isAmount(text.trim()) && !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return null;
  if (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return Number(text);
  const digits = text.replace("−", "-").replaceAll(/[^\d.,-]/g, "");
  const last = Math.max(digits.lastIndexOf("."), digits.lastIndexOf(","));
  const isThousands = /^-?\d{1,3}(?:[.,]\d{3})+$/.test(digits) && new Set(digits.match(/[.,]/g)).size === 1;
  const whole = (last < 0 || isThousands ? digits : digits.slice(0, last)).replaceAll(/[.,]/g, "");
  const part = last < 0 || isThousands ? "" : digits.slice(last + 1);
  const amount = Number(`${whole}.${part}`);
  return Number.isFinite(amount) ? amount : null;
}

/** Returns whether an amount is far from all others, the least first, or of another sign than all of them. */
export function isFarFrom(amount: number, others: readonly number[], { isMoney }: { isMoney: boolean }): boolean {
  if (others.length < LEAST_OTHERS) return false;
  const at = (share: number): number => others[Math.round(share * (others.length - 1))] ?? 0;
  const [least, most] = [at(0), at(1)];
  if (amount < 0 !== least < 0 && amount < 0 !== most < 0) return true;
  const isWide = (gap: number, near: number) =>
    gap > (isMoney ? WIDE_OF_MONEY : WIDE_OF_SPAN) * (most - least) && gap > WIDE_OF_AMOUNT * Math.abs(near);
  const middle = at(0.75) - at(0.25);
  const isAboveMiddle = middle > 0 && amount > at(0.75) + FAR_FROM_MIDDLE * middle;
  return isWide(amount - most, most) || isWide(least - amount, least) || (isAboveMiddle && amount > 2 * at(0.5));
}

/** Returns whether the amount in a text is above every other one; the least of these is the first. */
export function isHighest(text: string, others: readonly number[]): boolean {
  const amount = amountIn(text);
  return amount !== null && others.length >= LEAST_OTHERS && (others.at(-1) ?? 0) < amount;
}
