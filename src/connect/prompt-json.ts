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

/** The member that shows people the folder of a call. A member of the input with such a name is shown behind `tool_`. */
const FOLDER = "cwd";
const LIKE_FOLDER = /^(?:tool_)*cwd$/;

/** The place from which an agent asks. */
export interface PromptOrigin {
  /** The folder in which the tool would run, as the agent names it. */
  folder: string | undefined;
  /** The agent below the agent that asks. */
  subagent: string | undefined;
}

/** Reads where a prompt comes from, in the names that most agents use. */
export function originOf(event: Members): PromptOrigin {
  return {
    folder: filledText(event["cwd"]),
    subagent: filledText(event["agent_type"]) ?? filledText(event["agent_id"]),
  };
}

/**
 * Returns the tool of a prompt, its input, and the input as people are shown it: with the folder in which it would run,
 * because the same relative names lead elsewhere in another one. An input that is not exact JSON (a lone surrogate, a
 * name twice, deep nesting) is shown as its text, with escapes.
 *
 * @throws {Error} in one sentence
 */
export function toolAndInput(
  tool: unknown,
  input: unknown,
  isExact: boolean,
  { folder, subagent }: PromptOrigin,
): { tool: string; input: Members; shown: Members; isExact: boolean } & PromptOrigin {
  if (typeof tool !== "string" || tool === "" || !isObject(input)) {
    throw new Error("the hook names no tool or no input");
  }
  const shown = withFolder(isExact ? input : { input_json: asText(input) }, folder);
  return { tool, input, shown, isExact, folder, subagent };
}

/** Returns an input that shows the folder. No two pairs of input and folder are shown alike. */
function withFolder(input: Members, folder: string | undefined): Members {
  if (folder === undefined) return input;
  const members = Object.entries(input).map(([name, value]) => [LIKE_FOLDER.test(name) ? `tool_${name}` : name, value]);
  return Object.fromEntries([...members, [FOLDER, folder]]) as Members;
}

/** Returns the input of which `shown` was made, or would be after an edit; nothing where it shows another folder. */
export function withoutFolder(shown: Members, folder: string | undefined): Members | null {
  if (folder === undefined) return shown;
  if (shown[FOLDER] !== folder) return null;
  const members = Object.entries(shown).filter(([name]) => name !== FOLDER);
  const isOther = ([name]: [string, unknown]) => name.startsWith("tool_") && LIKE_FOLDER.test(name);
  return Object.fromEntries(members.map((one) => (isOther(one) ? [one[0].slice("tool_".length), one[1]] : one)));
}

/** The JSON Schema that an edit of a shown input must fit: its folder stays. */
export function editSchema(folder: string | undefined): object | undefined {
  return folder === undefined ? undefined : { properties: { [FOLDER]: { const: folder } }, required: [FOLDER] };
}

/** Returns the agent's name of an event. @throws {Error} in one sentence: an event without a name might be a prompt */
export function eventNameOf(event: Members): string {
  const name = filledText(event["hook_event_name"]);
  if (name === undefined) throw new Error("the hook names no event");
  return name;
}

/** The name of an event in a text that is not JSON, cut off for example. Within a text a quotation mark has a backslash. */
const NAMED_EVENT = /(?<!\\)"hook_event_name"\s*:\s*"(\w+)"/;

/** Returns the agent's name of an event that may be of any form; nothing where it names none. */
export function sentEventName(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString("latin1");
  try {
    const { hook_event_name: name } = Object(JSON.parse(text)) as { hook_event_name?: unknown };
    return filledText(name);
  } catch {
    return NAMED_EVENT.exec(text)?.[1];
  }
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

function filledText(value: unknown): string | undefined {
  return textOf(value) || undefined;
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
