import { parseExactJson } from "../lib/json/exact-json.ts";

const MOST_DEPTH = 64;

type Members = Record<string, unknown>;

/** An object that an agent sent; `isExact` tells whether it is JSON as RFC 8785 wants it. */
interface SentObject {
  value: Members;
  isExact: boolean;
}

/**
 * Reads the object that an agent sent on standard input. Whatever a parser of JSON takes is taken.
 *
 * @throws {Error} in one sentence
 */
export function readObject(bytes: Uint8Array, title: string): SentObject {
  const { value, isExact } = parsed(bytes);
  if (!isObject(value)) throw new Error(`standard input holds no hook of ${title}`);
  return { value, isExact };
}

function parsed(bytes: Uint8Array): { value: unknown; isExact: boolean } {
  try {
    return { value: parseExactJson(bytes, { maxDepth: MOST_DEPTH }), isExact: true };
  } catch {
    try {
      return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), isExact: false };
    } catch {
      throw new Error("standard input is not JSON");
    }
  }
}

/**
 * Returns the tool of a prompt, its input, and the input as people are shown it: one that is not exact JSON (a lone
 * surrogate, a name twice, deep nesting) as its text, with escapes.
 *
 * @throws {Error} in one sentence
 */
export function toolAndInput(
  tool: unknown,
  input: unknown,
  isExact: boolean,
): { tool: string; input: Members; shown: Members } {
  if (typeof tool !== "string" || tool === "" || !isObject(input)) {
    throw new Error("the hook names no tool or no input");
  }
  return { tool, input, shown: isExact ? input : { input_json: asText(input) } };
}

/** Reads an input that an agent sent as an object, or as the text of one. @throws {Error} in one sentence */
export function objectOrText(input: unknown, isExact: boolean): { input: unknown; isExact: boolean } {
  if (typeof input !== "string") return { input, isExact };
  const inner = parsed(Buffer.from(input));
  return { input: inner.value, isExact: isExact && inner.isExact };
}

/** Returns the text of a member that names a session, else "unknown". */
export function sessionOf(value: unknown): string {
  return textOf(value) || "unknown";
}

/** Returns a text; nothing of another type. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Returns the JSON of an input, in which a lone surrogate is an escape. @throws {Error} for a number that has no JSON */
function asText(input: Members): string {
  return JSON.stringify(input, (_, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) throw new Error("a number of the input is too large");
    return value;
  });
}

/** True for an object that is no list. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
