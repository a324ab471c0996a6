/** Numbers as JSON writes them, compared by their digits: no text is rounded to a double (spec/relay 8). */

interface Digits {
  /** -1, 0 or 1. */
  sign: number;
  /** Significant digits, without a zero at either end; empty for zero. */
  digits: string;
  /** The power of ten of the first digit. */
  power: bigint;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,18}))?$/;

/** Returns whether a text is a number as JSON writes it, with an exponent of at most 18 digits. */
export function isNumberText(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,18})?$/.test(text);
}

/**
 * Returns a negative number, 0 or a positive number as the first is less than, equal to or greater than the second.
 *
 * @throws {RangeError} when one is no number as JSON writes it
 */
export function compareNumberTexts(one: string, other: string): number {
  const [a, b] = [digitsOf(one), digitsOf(other)];
  if (a.sign !== b.sign) return a.sign - b.sign;
  return a.sign < 0 ? compareSizes(b, a) : compareSizes(a, b);
}

function compareSizes(a: Digits, b: Digits): number {
  if (a.power !== b.power) return a.power < b.power ? -1 : 1;
  // Digits from the same place on order as texts do: a shorter one ends where the longer goes on.
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -1 : 1;
}

function digitsOf(text: string): Digits {
  const [, minus, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  if (minus === undefined) throw new RangeError("no number");
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first < 0) return { sign: 0, digits: "", power: 0n };
  let end = all.length;
  while (all[end - 1] === "0") end -= 1;
  const digits = all.slice(first, end);
  return { sign: minus === "" ? 1 : -1, digits, power: BigInt(exponent) + BigInt(whole.length - first - 1) };
}
