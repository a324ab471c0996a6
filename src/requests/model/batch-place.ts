import { amountIn } from "./batch-amounts.ts";
import {
  beginningsOf,
  hostIn,
  HostTraits,
  isClimbing,
  isNamedHost,
  isRooted,
  shapeOf,
  signsIn,
} from "./batch-texts.ts";
import { KeyCounts } from "./key-counts.ts";

/** Is called after each text. */
export type ServeOthers = () => Promise<void> | undefined;

/** Longer texts are compared by their length alone. */
const LONGEST_COMPARED = 500;

/** Texts and numbers of several calls at one place within an argument: each is read once, whichever call is looked at. */
export class PlaceTexts {
  /** The texts of each call; empty where it has none there. */
  readonly own: readonly (readonly string[])[];
  readonly values = new KeyCounts();
  readonly hosts = new KeyCounts();
  readonly hostTraits = new HostTraits();
  readonly shapes = new KeyCounts();
  readonly signs = new KeyCounts();
  readonly beginnings = new KeyCounts();
  /** `climbs`, `rooted` and `short`: how many texts are so. */
  readonly traits = new KeyCounts();
  readonly amounts: { call: number; amount: number }[] = [];
  #lengths: { call: number; length: number }[] = [];

  readonly #namedHost: boolean;

  /** Reads the texts of each call at a place whose last name is `name`; `serveOthers` lets others be served. */
  static async read(
    texts: readonly (readonly string[])[],
    name: string,
    serveOthers: ServeOthers,
  ): Promise<PlaceTexts> {
    const place = new PlaceTexts(texts, name);
    for (const [call, some] of texts.entries()) {
      for (const text of some) {
        place.#read(call, text);
        await serveOthers();
      }
    }
    place.amounts.sort((one, other) => one.amount - other.amount);
    place.#lengths.sort((one, other) => other.length - one.length);
    return place;
  }

  private constructor(texts: readonly (readonly string[])[], name: string) {
    this.#namedHost = isNamedHost(name);
    this.own = texts;
  }

  #read(call: number, text: string): void {
    this.values.add(call, text);
    this.#lengths.push({ call, length: text.length });
    const amount = amountIn(text);
    if (amount !== null) this.amounts.push({ call, amount });
    const host = this.hostOf(text);
    if (host !== null) this.hosts.add(call, host);
    if (isClimbing(text)) this.traits.add(call, "climbs");
    if (isRooted(text)) this.traits.add(call, "rooted");
    for (const beginning of beginningsOf(text)) this.beginnings.add(call, beginning);
    if (text.length > LONGEST_COMPARED) return;
    this.traits.add(call, "short");
    this.shapes.add(call, shapeOf(text));
    for (const sign of signsIn(text)) this.signs.add(call, sign);
  }

  /** Returns the host that a text of this place names; null for other texts. */
  hostOf(text: string): string | null {
    return hostIn(text, this.#namedHost);
  }

  /** Returns the amounts of the other calls, the least first. */
  amountsOfOthers(call: number): number[] {
    return this.amounts.filter((one) => one.call !== call).map(({ amount }) => amount);
  }

  /** Returns the length of the longest text of the other calls. */
  longestOfOthers(call: number): number {
    return this.#lengths.find((one) => one.call !== call)?.length ?? 0;
  }
}

/** Returns whether a text is compared by more than its length. */
export const isShort = (text: string): boolean => text.length <= LONGEST_COMPARED;
