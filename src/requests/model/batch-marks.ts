import { canonicalExact, isExactNumber, isJsonObject, readExactJson } from "../../lib/json/exact-json.ts";
import { isSum } from "../facts/money-names.ts";
import { knownWords } from "../facts/name-words.ts";
import { weightOf } from "./argument-order.ts";
import { amountIn, isFarFrom, isHighest } from "./batch-amounts.ts";
import { KeyCounts } from "./key-counts.ts";
import { isShort, type ServeOthers, PlaceTexts } from "./batch-place.ts";
import { isClimbing, isRooted, likeliestHost, shapeOf, signsIn } from "./batch-texts.ts";

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
export const MOST = 0.8;
/** Fewer others have nothing in common that one could stand out of. */
export const LEAST_OTHERS = 2;
const LONGEST_SAID = 80;
/** Values behind so many of one argument are not compared, so that a call with more of them stands out. */
const MOST_LEAVES = 200;
const MOST_LEVELS = 20;

/**
 * Returns what stands out of each value of one argument; `values` are their canonical JSON, call by call, undefined
 * where a call does not have the argument. `serveOthers` is called after each text.
 */
export async function argumentMarks(
  name: string,
  values: readonly (string | undefined)[],
  serveOthers: ServeOthers,
): Promise<BatchMark[][]> {
  const having = values.filter((value) => value !== undefined).length;
  const isSpeaking = values.every((value) => value === undefined || weightOf({ name, value }) <= 0) && speaks(name);
  const leaves = values.map((value) => (value === undefined || isSpeaking ? [] : leavesOf(name, value)));
  const places = new Map<string, string[][]>();
  for (const [at, some] of leaves.entries()) {
    for (const { place, text } of some) {
      const texts = places.get(place) ?? values.map(() => []);
      places.set(place, texts);
      texts[at]?.push(text);
    }
  }
  const marks = values.map((value): BatchMark[] => presenceMark(name, value, { having, of: values.length }));
  const uncompared = leaves.flatMap((some, call) => (some.length >= MOST_LEAVES ? [call] : []));
  for (const call of [...uncompared, ...unlikeParts(leaves)])
    marks[call]?.push({ argument: name, kind: "unlike", says: "" });
  for (const [place, texts] of places) {
    const last = place.split("/").findLast((part) => part !== "*") ?? "";
    const marked = await placeMarks(
      name,
      await PlaceTexts.read(texts, last, serveOthers),
      isSum(knownWords(last)),
      serveOthers,
    );
    for (const [at, mark] of marked.entries()) if (mark) marks[at]?.push(mark);
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

/** Returns the calls whose argument has other parts than most others have: a list in place of a number, one part more. */
function unlikeParts(leaves: readonly (readonly Leaf[])[]): number[] {
  const parts = new KeyCounts();
  const own = leaves.map((some) => JSON.stringify([...new Set(some.map(({ place }) => place))].toSorted()));
  const having = [...leaves.keys()].filter((call) => leaves[call]?.length !== 0);
  for (const call of having) parts.add(call, own[call] ?? "");
  return having.filter((call) => {
    const others = parts.total(call);
    return others >= LEAST_OTHERS && ![own[call], null].includes(parts.ofMost(call, MOST * others));
  });
}

/** Marks the values at one place within an argument; a call has several values there where it has a list. */
async function placeMarks(
  argument: string,
  places: PlaceTexts,
  isMoney: boolean,
  serveOthers: ServeOthers,
): Promise<(BatchMark | null)[]> {
  const marks: (BatchMark | null)[] = [];
  for (const [call, own] of places.own.entries()) {
    const others = new Others(places, call);
    const found: Finding[] = [];
    for (const text of others.count < LEAST_OTHERS ? [] : own) {
      const mark = others.markOf(text, { isMoney });
      if (mark) found.push(mark);
      await serveOthers();
    }
    const [gravest] = found.toSorted((one, other) => GRAVEST.indexOf(one.kind) - GRAVEST.indexOf(other.kind));
    const isHighest = !gravest && isMoney && own.some((text) => others.isBelow(text));
    marks.push(gravest ? { argument, ...gravest } : isHighest ? { argument, kind: "highest", says: "" } : null);
  }
  return marks;
}

type Finding = Omit<BatchMark, "argument">;
const GRAVEST: readonly Finding["kind"][] = ["receiver", "place", "amount", "unlike"];

/** The texts of all calls but one at one place. */
class Others {
  readonly #places: PlaceTexts;
  readonly #call: number;
  readonly count: number;
  /** So many of them are most of them. */
  readonly #most: number;
  #sorted: readonly number[] | undefined;

  constructor(places: PlaceTexts, call: number) {
    this.#places = places;
    this.#call = call;
    this.count = places.values.total(call);
    this.#most = MOST * this.count;
  }

  /** Their amounts, the least first: gathered once for all texts of the call. */
  get #amounts(): readonly number[] {
    this.#sorted ??= this.#places.amountsOfOthers(this.#call);
    return this.#sorted;
  }

  /** Returns whether an amount is above all of theirs. */
  isBelow(text: string): boolean {
    return this.#amounts.length === this.count && isHighest(text, this.#amounts);
  }

  /** Returns in which way a text is unlike theirs, the plainest fact first; null where it is like them. */
  markOf(text: string, of: { isMoney: boolean }): Finding | null {
    const { values, hosts } = this.#places;
    const most = values.ofMost(this.#call, this.#most);
    if (most !== null) {
      if (text === most) return null;
      const isReceiver = this.#places.hostOf(text) !== null && this.#places.hostOf(most) !== null;
      return { kind: isReceiver ? "receiver" : "unlike", says: short(most) };
    }
    if (this.#amounts.length >= this.#most) {
      const amount = amountIn(text);
      if (amount === null) return { kind: "unlike", says: "" };
      return isFarFrom(amount, this.#amounts, of) ? { kind: "amount", says: "" } : null;
    }
    if (hosts.total(this.#call) >= this.#most) return this.#receiverMark(text);
    return this.#pathMark(text) ?? this.#formMark(text);
  }

  #receiverMark(text: string): Finding | null {
    const host = this.#places.hostOf(text);
    if (host === null) return { kind: "unlike", says: "" };
    const says = likeliestHost(host, this.#places.hosts, this.#call, this.#places.hostTraits);
    return says === null ? null : { kind: "receiver", says: short(says) };
  }

  #pathMark(text: string): Finding | null {
    const { traits, beginnings } = this.#places;
    const isRare = (trait: string) => this.count - traits.count(this.#call, trait) >= this.#most;
    if ((isClimbing(text) && isRare("climbs")) || (isRooted(text) && isRare("rooted"))) {
      return { kind: "place", says: "" };
    }
    let folder = "";
    for (const [beginning, count] of beginnings.ranked(this.#call)) {
      if (count < this.#most) break;
      if (beginning.length > folder.length) folder = beginning;
    }
    if (folder === "" || text.startsWith(folder)) return null;
    return { kind: /^\S*[/\\]$/.test(folder) ? "place" : "unlike", says: short(folder.trimEnd()) };
  }

  #formMark(text: string): Finding | null {
    const { shapes, signs, traits } = this.#places;
    if (!isShort(text)) {
      return this.#places.longestOfOthers(this.#call) * 2 < text.length ? { kind: "unlike", says: "" } : null;
    }
    const shape = shapes.ofMost(this.#call, this.#most);
    const isOtherShape = shape !== null && shapeOf(text) !== shape;
    const areShort = traits.count(this.#call, "short") >= this.#most;
    const hasOwnSign = areShort && [...signsIn(text)].some((sign) => signs.count(this.#call, sign) === 0);
    return isOtherShape || hasOwnSign ? { kind: "unlike", says: "" } : null;
  }
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
