import { canonicalExact, isExactNumber, isJsonObject, readExactJson } from "../../lib/json/exact-json.ts";
import { isSum } from "../facts/money-names.ts";
import { knownWords } from "../facts/name-words.ts";
import { weightOf } from "./argument-order.ts";
import { amountIn, isFarFrom, isHighest } from "./batch-amounts.ts";
import { folderOfMost, hostIn, isClimbing, isRooted, likeliestHost, shapeOf, signsIn } from "./batch-texts.ts";

/** One way in which a call stands out of others of its agent and function. */
export interface BatchMark {
  /** The argument at the top that holds it; null for the call as a whole. */
  argument: string | null;
  /**
   * `risk`: higher than that of the others; `amount`: far from the others; `highest`: the highest amount, though not far
   * from the others; `receiver`: another host or receiver; `place`: outside of the folder of the others; `missing`: the
   * others have it; `added`: only this call has it; `unlike`: another value, form or length than the others.
   */
  kind: "risk" | "amount" | "highest" | "receiver" | "place" | "missing" | "added" | "unlike";
  /** The value, folder or host of the others; empty where this has no short words. */
  says: string;
}

/** A text or a number within an argument; those of a list stand at one place. */
interface Leaf {
  place: string;
  text: string;
}

/** As many of the others are most of them. */
const MOST = 0.8;
const LEAST_OTHERS = 2;
/** Longer texts are compared by their length alone. */
const LONGEST_COMPARED = 500;
const LONGEST_SAID = 80;
const MOST_LEAVES = 200;
const MOST_LEVELS = 20;

/**
 * Returns what stands out of each value of one argument; `values` are their canonical JSON, call by call, undefined
 * where a call does not have the argument.
 */
export function argumentMarks(name: string, values: readonly (string | undefined)[]): BatchMark[][] {
  const having = values.filter((value) => value !== undefined).length;
  const isSpeaking = values.every((value) => value === undefined || weightOf({ name, value }) <= 0) && speaks(name);
  const leaves = values.map((value) => (value === undefined || isSpeaking ? [] : leavesOf(name, value)));
  const places = new Map<string, (string[] | undefined)[]>();
  for (const [at, some] of leaves.entries()) {
    for (const { place, text } of some) {
      const texts = places.get(place) ?? values.map(() => undefined);
      places.set(place, texts);
      texts[at] = [...(texts[at] ?? []), text];
    }
  }
  const marks = values.map((value): BatchMark[] => presenceMark(name, value, { having, of: values.length }));
  for (const [place, texts] of places) {
    for (const [at, mark] of placeMarks(name, place, texts).entries()) if (mark) marks[at]?.push(mark);
  }
  // One mark of a kind says enough of an argument.
  return marks.map((some) => [...new Map(some.map((mark) => [mark.kind, mark])).values()]);
}

const SPEAKING = /^(?:description|reason|comment|note|explanation|summary|context|title|label)$/i;
const speaks = (name: string): boolean => SPEAKING.test(name);

function presenceMark(
  argument: string,
  value: string | undefined,
  { having, of }: { having: number; of: number },
): BatchMark[] {
  const others = of - 1;
  if (value === undefined) return having >= MOST * others ? [{ argument, kind: "missing", says: "" }] : [];
  return having - 1 <= (1 - MOST) * others && having < of ? [{ argument, kind: "added", says: "" }] : [];
}

/** Marks the values at one place within an argument; a call has several values there where it has a list. */
function placeMarks(argument: string, place: string, texts: readonly (readonly string[] | undefined)[]) {
  const isMoney = isSum(knownWords(place.split("/").at(-1) ?? ""));
  return texts.map((own, at): BatchMark | null => {
    const others = texts.flatMap((some, i) => (i === at || some === undefined ? [] : some));
    if (own === undefined || others.length < LEAST_OTHERS) return null;
    const found = own.flatMap((text) => markOf(text, others, { isMoney }) ?? []);
    const [gravest] = found.toSorted((one, other) => GRAVEST.indexOf(one.kind) - GRAVEST.indexOf(other.kind));
    if (gravest) return { argument, ...gravest };
    return isMoney && own.some((text) => isHighest(text, others)) ? { argument, kind: "highest", says: "" } : null;
  });
}

type Finding = Omit<BatchMark, "argument">;
const GRAVEST: readonly Finding["kind"][] = ["receiver", "place", "amount", "unlike"];

/** Returns in which way a value is unlike those of the other calls, the plainest fact first; null where it is like them. */
function markOf(text: string, others: readonly string[], of: { isMoney: boolean }): Finding | null {
  const most = valueOfMost(others);
  if (most !== null) {
    if (text === most) return null;
    const isReceiver = hostIn(text) !== null && hostIn(most) !== null;
    return { kind: isReceiver ? "receiver" : "unlike", says: short(most) };
  }
  const amounts = others.flatMap((other) => amountIn(other) ?? []);
  if (isMost(amounts.length, others)) {
    const amount = amountIn(text);
    if (amount === null) return { kind: "unlike", says: "" };
    return isFarFrom(amount, amounts, of) ? { kind: "amount", says: "" } : null;
  }
  const hosts = others.flatMap((other) => hostIn(other) ?? []);
  if (isMost(hosts.length, others)) return receiverMark(text, hosts);
  return pathMark(text, others) ?? formMark(text, others);
}

function receiverMark(text: string, hosts: readonly string[]): Finding | null {
  const host = hostIn(text);
  if (host === null) return { kind: "unlike", says: "" };
  const says = likeliestHost(host, hosts);
  return says === null ? null : { kind: "receiver", says: short(says) };
}

function pathMark(text: string, others: readonly string[]): Finding | null {
  const isRare = (has: (one: string) => boolean) =>
    has(text) && isMost(others.filter((one) => !has(one)).length, others);
  if (isRare(isClimbing) || isRare(isRooted)) return { kind: "place", says: "" };
  const folder = folderOfMost(others, MOST);
  if (folder === null || text.startsWith(folder)) return null;
  return { kind: /^\S*[/\\]$/.test(folder) ? "place" : "unlike", says: short(folder.trimEnd()) };
}

function formMark(text: string, others: readonly string[]): Finding | null {
  const lengths = others.map(({ length }) => length).sort((one, other) => one - other);
  const longest = lengths.at(-1) ?? 0;
  if (text.length > LONGEST_COMPARED) return longest * 2 < text.length ? { kind: "unlike", says: "" } : null;
  const short_ = others.filter((other) => other.length <= LONGEST_COMPARED);
  const shape = valueOfMost(short_.map(shapeOf));
  if (shape !== null && shapeOf(text) !== shape) return { kind: "unlike", says: "" };
  const known = new Set(short_.flatMap((other) => [...signsIn(other)]));
  return isMost(short_.length, others) && [...signsIn(text)].some((sign) => !known.has(sign))
    ? { kind: "unlike", says: "" }
    : null;
}

const isMost = (count: number, others: readonly unknown[]): boolean => count >= MOST * others.length;

/** Returns the value that most of these have; null where no value is that of most. */
function valueOfMost(values: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [most] = [...counts].toSorted(([, one], [, other]) => other - one);
  return most !== undefined && isMost(most[1], values) ? most[0] : null;
}

const short = (text: string): string => (text.length > LONGEST_SAID ? `${text.slice(0, LONGEST_SAID)}…` : text);

/** Returns the texts and numbers within a value. How many a list has is a number, too. */
function leavesOf(name: string, canonical: string): Leaf[] {
  const leaves: Leaf[] = [];
  const collect = (value: unknown, place: string, level: number): void => {
    if (leaves.length >= MOST_LEAVES) return;
    if (level < MOST_LEVELS && Array.isArray(value)) {
      leaves.push({ place: `${place}/#`, text: String(value.length) });
      for (const item of value) collect(item, `${place}/*`, level + 1);
    } else if (level < MOST_LEVELS && isJsonObject(value) && !isExactNumber(value)) {
      for (const [name, member] of Object.entries(value)) collect(member, `${place}/${name}`, level + 1);
    } else leaves.push({ place, text: typeof value === "string" ? value : canonicalExact(value) });
  };
  collect(readExactJson(canonical), name, 0);
  return leaves;
}
