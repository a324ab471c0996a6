import { diffArrays } from "diff/lib/diff/array.js";

/** A piece of two texts: in both, in the earlier one alone, or in the present one alone. */
export interface WordPart {
  kind: "same" | "before" | "now";
  text: string;
}

/** Texts with more different words are shown one after the other. It bounds the time to some milliseconds. */
const MOST_DIFFERENT = 300;

let segmenter: Intl.Segmenter | undefined;

/**
 * Returns two texts as one, word by word, in any script. The parts that are the same and those of `before` are the earlier
 * text, and the parts that are the same and those of `now` the present one. White space between two differences belongs
 * to both, so that words in a row that differ are one part.
 */
export function wordDiff(before: string, now: string): WordPart[] {
  const changes = diffArrays(wordsOf(before), wordsOf(now), { maxEditLength: MOST_DIFFERENT });
  const parts: WordPart[] = [];
  let differing = { before: "", now: "" };
  const endDifference = (): void => {
    for (const kind of ["before", "now"] as const) {
      if (differing[kind] !== "") parts.push({ kind, text: differing[kind] });
    }
    differing = { before: "", now: "" };
  };
  if (!changes) differing = { before, now };
  for (const [at, { value, added, removed }] of (changes ?? []).entries()) {
    const text = value.join("");
    const isBetween = at > 0 && changes !== undefined && at < changes.length - 1 && text.trim() === "";
    if (!added && !removed && !isBetween) {
      endDifference();
      parts.push({ kind: "same", text });
      continue;
    }
    if (!added) differing.before += text;
    if (!removed) differing.now += text;
  }
  endDifference();
  return parts;
}

function wordsOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter("en", { granularity: "word" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
