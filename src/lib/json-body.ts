export interface JsonLimits {
  maxDepth: number;
}

/** The body is not JSON that every parser reads alike. */
export class BadJson extends Error {}

const UTF8 = new TextDecoder("utf-8", { fatal: true });
const QUOTE = '"'.charCodeAt(0);
const COLON = ":".charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const LONE_SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/**
 * Parses a request body, refusing whatever two parsers could read differently (security.md, section 4.1).
 *
 * `JSON.parse` keeps the last of two equal names and turns 1e400 into a value that prints as null; both are refused,
 * as are invalid UTF-8, unpaired surrogates and nesting beyond `maxDepth`.
 *
 * @throws {BadJson}
 */
export function parseJsonBody(bytes: Uint8Array, limits: JsonLimits): unknown {
  let text: string;
  let value: unknown;
  try {
    text = UTF8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new BadJson("not JSON");
  }
  const names = countNamesKept(value, limits.maxDepth, LONE_SURROGATE_ESCAPE.test(text));
  if (names !== countNamesGiven(text)) throw new BadJson("a name is given twice");
  return value;
}

/** Counts the names in JSON text: as many as it has colons outside of strings. */
function countNamesGiven(text: string): number {
  let names = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit === COLON) names += 1;
    if (unit !== QUOTE) continue;
    for (i += 1; text.charCodeAt(i) !== QUOTE; i += 1) if (text.charCodeAt(i) === BACKSLASH) i += 1;
  }
  return names;
}

/** Counts the names in a parsed value, and refuses what cannot stand in one. */
function countNamesKept(value: unknown, levelsLeft: number, escaped: boolean): number {
  if (typeof value === "number" && !Number.isFinite(value)) throw new BadJson("number out of range");
  if (escaped && typeof value === "string" && !value.isWellFormed()) throw new BadJson("unpaired surrogate");
  if (typeof value !== "object" || value === null) return 0;

  if (levelsLeft === 0) throw new BadJson("too deep");
  const names = Array.isArray(value) ? [] : Object.keys(value);
  if (escaped && !names.every((name) => name.isWellFormed())) throw new BadJson("unpaired surrogate");
  let count = names.length;
  for (const member of Object.values(value)) count += countNamesKept(member, levelsLeft - 1, escaped);
  return count;
}
