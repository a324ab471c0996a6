import { BadJson, parseJsonBody } from "../../lib/json/json-body.ts";

/** A JSON value that stood in a text, or why what stood there cannot be taken for one. */
export type FoundJson = { value: unknown; isWhole: boolean } | { unusable: string } | null;

/** As every JSON field of the relay (spec/relay 1). */
const MOST_DEPTH = 32;
/** Brackets in a prose that opens more of them than this are no JSON. */
const MOST_STARTS = 200;
const FENCE = "```";
const BACKSLASH = "\\";

/**
 * Returns the JSON value in a model's reply: the whole text, else its first fenced block, else the first balanced
 * value (spec/relay 12). Any text is read at most a few hundred times over.
 */
export function findJson(text: string): FoundJson {
  const whole = parse(text.trim());
  if (whole) return "value" in whole ? { ...whole, isWhole: true } : whole;

  const fenced = fencedBlock(text);
  const inFence = fenced === null ? null : parse(fenced);
  if (inFence) {
    const isAlone = text.trim().startsWith(FENCE) && text.trim().endsWith(FENCE);
    return "value" in inFence ? { ...inFence, isWhole: isAlone } : inFence;
  }
  return firstBalanced(text);
}

function parse(text: string): { value: unknown } | { unusable: string } | null {
  if (text === "") return null;
  try {
    return { value: parseJsonBody(Buffer.from(text), { maxDepth: MOST_DEPTH }) };
  } catch (error) {
    if (!(error instanceof BadJson)) throw error;
    // Prose may open brackets without end, and still hold a value; one that is too deep is found so below.
    if (error.message === "not JSON" || error.message === "too deep") return null;
    return { unusable: `is JSON that cannot be taken: ${error.message}` };
  }
}

/** Returns what stands between two lines that begin with three backticks. */
function fencedBlock(text: string): string | null {
  const opens = text.startsWith(FENCE) ? 0 : text.indexOf(`\n${FENCE}`) + 1;
  if (opens === 0 && !text.startsWith(FENCE)) return null;
  const begins = text.indexOf("\n", opens);
  if (begins < 0) return null;
  const ends = text.indexOf(`\n${FENCE}`, begins);
  return ends < 0 ? null : text.slice(begins + 1, ends).trim();
}

function firstBalanced(text: string): FoundJson {
  const opening = /[[{]/g;
  for (let tries = 0; tries < MOST_STARTS; tries += 1) {
    const start = opening.exec(text)?.index;
    if (start === undefined) return null;
    const end = balancedEnd(text, start);
    if (end === "deep") return { unusable: "is nested too deep" };
    const found = end === null ? null : parse(text.slice(start, end));
    if (found) return "value" in found ? { ...found, isWhole: false } : found;
    opening.lastIndex = start + 1;
  }
  return null;
}

/** Returns where the bracket at `start` is closed again, whatever kind of bracket does; those within strings are none. */
function balancedEnd(text: string, start: number): number | "deep" | null {
  let depth = 0;
  for (let i = start; i < text.length; i += 1) {
    const sign = text[i] ?? "";
    if (sign === '"') {
      for (i += 1; i < text.length && text[i] !== '"'; i += 1) if (text[i] === BACKSLASH) i += 1;
    } else if (sign === "{" || sign === "[") {
      depth += 1;
      if (depth > MOST_DEPTH) return "deep";
    } else if (sign === "}" || sign === "]") {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return null;
}
