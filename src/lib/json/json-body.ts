/**
 * How many values a body may hold, at every door: each is looked at several times (parsed, put in order, searched for
 * secrets, kept), and so many hold the event loop, and with it everybody else, for no longer than they should.
 */
export const MOST_VALUES = 10_000;

/** An object as JSON has it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface JsonLimits {
  maxDepth: number;
  /** How many values it may hold, itself and those within it; left out, any number. */
  maxValues?: number;
}

/** The body is not JSON that every parser reads alike. */
export class BadJson extends Error {}

/** The body holds more values than it may. */
export class TooManyValues extends Error {}

const UTF8 = new TextDecoder("utf-8", { fatal: true });
const [QUOTE, COLON, COMMA, BACKSLASH, SPACE] = [0x22, 0x3a, 0x2c, 0x5c, 0x20];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const LONE_SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/**
 * Parses a request body, refusing whatever two parsers could read differently (spec/security 4.1).
 *
 * `JSON.parse` keeps the last of two equal names and turns 1e400 into a value that prints as null; both are refused,
 * as are invalid UTF-8, unpaired surrogates and nesting beyond `maxDepth`. A body that is too deep or holds too many
 * values is refused before it is parsed.
 *
 * @throws {BadJson} when it is not JSON that every parser reads alike
 * @throws {TooManyValues} when it holds more than `maxValues`
 */
export function parseJsonBody(bytes: Uint8Array, limits: JsonLimits): unknown {
  const text = decoded(bytes);
  const given = countNames(text, limits);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadJson("not JSON");
  }
  const names = countNamesKept(value, LONE_SURROGATE_ESCAPE.test(text));
  if (names !== given) throw new BadJson("a name is given twice");
  return value;
}

/**
 * Parses what a provider sends, which nobody but this server reads: as `JSON.parse` does, unless it holds too much.
 *
 * @throws {Error} when it is not JSON, or holds more values than a body may
 */
export function parseProviderJson(text: string): unknown {
  countNames(text, { maxDepth: MOST_PROVIDER_DEPTH, maxValues: MOST_VALUES });
  return JSON.parse(text);
}

const MOST_PROVIDER_DEPTH = 64;

function decoded(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new BadJson("not UTF-8");
  }
}

/**
 * Counts the names in JSON text, as many as it has colons outside of strings, and its values on the way: one for each
 * comma, and one more for each list or object that is not empty.
 */
function countNames(text: string, { maxDepth, maxValues = Number.POSITIVE_INFINITY }: JsonLimits): number {
  let names = 0;
  let values = 1;
  let depth = 0;
  let hasOpened = false;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit <= SPACE) continue;
    if (hasOpened && !CLOSING.has(unit)) values += 1;
    hasOpened = OPENING.has(unit);
    if (hasOpened) depth += 1;
    else if (CLOSING.has(unit)) depth -= 1;
    else if (unit === COMMA) values += 1;
    else if (unit === COLON) names += 1;
    else if (unit === QUOTE) i = endOfString(text, i);
    if (depth > maxDepth) throw new BadJson("too deep");
    if (values > maxValues) throw new TooManyValues(`more than ${maxValues} values`);
  }
  return names;
}

function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) return i;
    if (unit === BACKSLASH) i += 1;
  }
  return text.length;
}

/** Counts the names in a parsed value, and refuses what cannot stand in one. */
function countNamesKept(value: unknown, escaped: boolean): number {
  if (typeof value === "number" && !Number.isFinite(value)) throw new BadJson("number out of range");
  if (escaped && typeof value === "string" && !value.isWellFormed()) throw new BadJson("unpaired surrogate");
  if (typeof value !== "object" || value === null) return 0;

  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countNamesKept(item, escaped);
    return count;
  }
  const names = Object.keys(value);
  if (escaped && !names.every((name) => name.isWellFormed())) throw new BadJson("unpaired surrogate");
  count = names.length;
  for (const member of Object.values(value)) count += countNamesKept(member, escaped);
  return count;
}
