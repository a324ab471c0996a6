import { decodedViews, type DecodedView } from "../../lib/secrets/decoded-views.ts";

/** A place in a text as it was written. */
export interface TextRange {
  from: number;
  to: number;
}

/** A run of characters that could be a credential of one of our messages. The store knows whether it is. */
export interface Candidate extends TextRange {
  kind: "link" | "reply" | "delivery";
  text: string;
}

/** Letters and digits as in a one-time link's token, and in a reply address. */
const LINK_RUN = /[\w-]{43,}/g;
const LINK_LENGTH = 43;
const REPLY_RUN = /[a-z2-7]{26,}/gi;
const REPLY_LENGTH = 26;
const DELIVERY = /dlv_[0-9A-Za-z]{22}/g;
/** Longer runs are looked at where a token is to be expected. */
const MOST_RUN = 2048;
/** A token of 43 characters with fewer of either is one in ten million; words that were joined have fewer. */
const LEAST_OF_A_CASE = 3;
/** With fewer characters known of it, a token is as good as unknown. */
const LEAST_OF_TOKEN = 16;
/** Separators that people put between the characters of a code; fewer for digits alone, which may be a list of numbers. */
const SPELLED = String.raw`[^\p{L}\p{N}]{0,6}`;
const SPELLED_NUMBER = String.raw`[\s\p{Pd}_.*|]{0,3}`;

/** A text, or a part of one, with every view of it. */
export interface ReadText {
  views: readonly DecodedView[];
  /** It is part of a text in which there is as much as in a file. */
  isLong: boolean;
}

/** Longer texts are read in parts, each of which begins so far before the end of the one before. */
const PART = 32_768;
const OVERLAP = 8192;
const LONG = 200_000;

const PLAIN_WORD = /^[a-z]{5,15}(?:_[a-z]{5,9})?$/i;

/**
 * True for a word of letters, such as the name of a field, that is longer than a code and shorter than what is looked for
 * of a token. Nothing has to be read for it.
 */
export function isPlainWord(written: string): boolean {
  return written.length < LEAST_OF_TOKEN && PLAIN_WORD.test(written);
}

/** Reads a text part by part; others may be served between two of them. */
export function* readParts(written: string): Generator<ReadText> {
  for (let from = 0; from === 0 || from + OVERLAP < written.length; from += PART - OVERLAP) {
    yield { views: decodedViews(written.slice(from, from + PART), from), isLong: written.length > LONG };
  }
}

/** Returns every run of a text that could be a token or the id of a message, however it is encoded there. */
export function candidatesIn({ views, isLong }: ReadText): Candidate[] {
  return views.flatMap((view) => [...linksIn(view, isLong), ...repliesIn(view, isLong), ...deliveriesIn(view)]);
}

function* linksIn(view: DecodedView, isLong: boolean): Generator<Candidate> {
  for (const { 0: run, index } of view.text.matchAll(LINK_RUN)) {
    for (const i of placesInRun(run, LINK_LENGTH, isLong)) {
      const text = run.slice(i, i + LINK_LENGTH);
      if (looksRandom(text)) yield { kind: "link", text, ...placeOf(view, index + i, LINK_LENGTH) };
    }
  }
}

/**
 * Returns where in a run a token may begin: anywhere, and where there is much text, as of a file in a mail, at the front
 * or so that it ends with the run.
 */
function* placesInRun({ length }: string, wanted: number, isLong: boolean): Generator<number> {
  const last = length - wanted;
  if (!isLong && length <= MOST_RUN) for (let i = 0; i <= last; i += 1) yield i;
  else yield* new Set([0, last]);
}

function looksRandom(text: string): boolean {
  let upper = 0;
  let lower = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 0x41 && code <= 0x5a) upper += 1;
    else if (code >= 0x61) lower += 1;
  }
  return upper >= LEAST_OF_A_CASE && lower >= LEAST_OF_A_CASE;
}

/** In words that were joined it stands in an address; elsewhere it may stand alone. */
function* repliesIn(view: DecodedView, isLong: boolean): Generator<Candidate> {
  for (const { 0: run, index } of view.text.matchAll(REPLY_RUN)) {
    for (const i of placesInRun(run, REPLY_LENGTH, isLong)) {
      const at = index + i;
      const isInAddress = view.text[at - 1] === "+" || view.text[at + REPLY_LENGTH] === "@";
      if (view.joined && !isInAddress) continue;
      const text = run.slice(i, i + REPLY_LENGTH);
      const folded = text.toLowerCase();
      if (text !== folded && text !== text.toUpperCase()) continue;
      yield { kind: "reply", text: folded, ...placeOf(view, at, REPLY_LENGTH) };
    }
  }
}

function* deliveriesIn(view: DecodedView): Generator<Candidate> {
  for (const { 0: text, index } of view.text.matchAll(DELIVERY)) {
    yield { kind: "delivery", text, ...placeOf(view, index, text.length) };
  }
}

/**
 * Returns where a text holds the beginning of a token, of whatever length: a text that was cut within a token leaves so
 * much of it that the rest can be tried.
 */
export function beginningsIn({ views }: ReadText, token: string): TextRange[] {
  const places: TextRange[] = [];
  for (const view of views) {
    const beginning = token.slice(0, LEAST_OF_TOKEN);
    for (let at = view.text.indexOf(beginning); at >= 0; at = view.text.indexOf(beginning, at + 1)) {
      let length = LEAST_OF_TOKEN;
      while (length < token.length && view.text[at + length] === token[length]) length += 1;
      places.push(placeOf(view, at, length));
    }
  }
  return places;
}

/** Returns where codes stand in a text, also spelled out; words and numbers of which they are a part stay. */
export function codesIn({ views }: ReadText, codes: readonly string[]): TextRange[] {
  if (codes.length === 0) return [];
  const each = codes.map((code) => [...code].join(/\D/.test(code) ? SPELLED : SPELLED_NUMBER)).join("|");
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${each})(?![\p{L}\p{N}])`, "giu");
  return views
    .filter(({ joined }) => !joined)
    .flatMap((view) => [...view.text.matchAll(pattern)].map(({ 0: code, index }) => placeOf(view, index, code.length)));
}

function placeOf({ starts, ends }: DecodedView, at: number, length: number): TextRange {
  return { from: starts[at] ?? 0, to: ends[at + length - 1] ?? 0 };
}

/** Returns a text with words in place of what stands at some places of it; where two overlap, the first says what. */
export function withPlaces(written: string, places: readonly (TextRange & { by: string })[]): string {
  const sorted = places.toSorted((a, b) => a.from - b.from || b.to - a.to);
  let out = "";
  let at = 0;
  for (const { from, to, by } of sorted) {
    if (from >= at) out += written.slice(at, from) + by;
    at = Math.max(at, to);
  }
  return out + written.slice(at);
}
