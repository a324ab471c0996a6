import { like, STAR } from "./policy-like.ts";

/** An argument of a call; a number is the text that stands in the JSON. */
export type RawArgument = { number: string } | string | boolean | null | readonly string[];
export type RawArguments = Readonly<Record<string, RawArgument>>;

/** Returns the JSON of arguments, each number as it is written. */
export function argumentsText(args: RawArguments): string {
  const members = Object.entries(args).map(([name, value]) => `${JSON.stringify(name)}:${valueText(value)}`);
  return `{${members.join(",")}}`;
}

function valueText(value: RawArgument): string {
  return isNumber(value) ? value.number : JSON.stringify(value);
}

function isNumber(value: RawArgument | undefined): value is { number: string } {
  return typeof value === "object" && value !== null && "number" in value;
}

/**
 * Decides the block `args` of a rule once more, from spec/relay 8 alone: numbers are fractions of whole numbers, and an
 * answer that is open is `ifOpen`.
 */
export function argumentsAgree(block: Readonly<Record<string, unknown>>, args: RawArguments, ifOpen: boolean): boolean {
  return Object.entries(block).every(([pointer, wanted]) => {
    const value = args[pointer.slice(1)];
    const isBlock = typeof wanted === "object" && wanted !== null && !Array.isArray(wanted);
    const tests = isBlock ? Object.entries(wanted) : [["glob", wanted] as const];
    const answers = tests.map(([test, given]) => answerOf(test, given, value));
    return !answers.includes(false) && (ifOpen || !answers.includes(null));
  });
}

function answerOf(test: string, given: unknown, value: RawArgument | undefined): boolean | null {
  if (test === "exists") return (value !== undefined) === given;
  if (value === undefined) return null;
  switch (test) {
    case "min":
    case "max": {
      if (!isNumber(value)) return null;
      const order = compare(value.number, String(given));
      return test === "min" ? order >= 0 : order <= 0;
    }
    case "length":
      if (Array.isArray(value)) return value.length === given;
      return typeof value === "string" ? [...value].length === given : null;
    default: {
      if (Array.isArray(value)) return null;
      const answers = [given].flat().map((one) => isOne(one, value, test === "glob"));
      return answers.includes(true) ? true : answers.includes(null) ? null : false;
    }
  }
}

function isOne(wanted: unknown, value: RawArgument, hasStars: boolean): boolean | null {
  if (isNumber(value)) return typeof wanted === "number" && compare(value.number, String(wanted)) === 0;
  if (typeof value !== "string" || typeof wanted !== "string") return wanted === value;
  const [pattern, text] = [wanted.normalize("NFC"), value.normalize("NFC")];
  if (!hasStars || !pattern.includes("*")) return pattern === text;
  if (!like(pattern.replaceAll("*", STAR), text)) return false;
  const ats = (one: string) => one.split("@").length;
  return !pattern.includes("@") || (ats(pattern) === ats(text) && !/[\s,;]/.test(text)) ? true : null;
}

/** Returns a number in millionths; undefined for one that is below 0, above 9,000,000,000, or finer. */
export function millionthsOf(value: RawArgument | undefined): number | undefined {
  if (!isNumber(value)) return undefined;
  const [numerator, denominator] = fractionOf(value.number);
  const amount = (numerator * 1_000_000n) / denominator;
  const isWhole = amount * denominator === numerator * 1_000_000n;
  return isWhole && amount >= 0n && amount <= 9_000_000_000_000_000n ? Number(amount) : undefined;
}

/** Compares two numbers as fractions. */
function compare(one: string, other: string): number {
  const [[a, b], [c, d]] = [fractionOf(one), fractionOf(other)];
  const difference = a * d - c * b;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function fractionOf(text: string): [numerator: bigint, denominator: bigint] {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", decimals = ""] = mantissa.split(".");
  const power = BigInt(exponent) - BigInt(decimals.length);
  const digits = BigInt(whole + decimals);
  return power < 0n ? [digits, 10n ** -power] : [digits * 10n ** power, 1n];
}
