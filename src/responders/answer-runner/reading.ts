import type { ForeignSchemas, SchemaProblem } from "../../lib/json/foreign-schema.ts";
import { isArtifactPath } from "../../asks/model/artifact-rules.ts";
import { chosenBy } from "../../asks/model/choice-options.ts";
import { lengthOf } from "../../core/model/field-problem.ts";
import { MOST_ANSWER_CHARS } from "../../asks/model/people.ts";
import type { ChoiceOption, Ask } from "../../asks/model/ask.ts";
import type { JsonSchema, Role } from "../roles/role.ts";
import { findJson } from "./json-in-text.ts";

/** The usable parts of a model's reply. A model cannot set ids, status, trace or attestation. */
export interface Reading {
  /** `envelope`: the object that Base asks for; `json`: the bare value of the schema; `text`: neither. */
  kind: "envelope" | "json" | "text";
  text?: string;
  json?: unknown;
  artifacts?: readonly string[];
  askBack?: string;
  error?: string;
  /** The model itself is not sure enough; its answer is dropped. */
  isUnsure?: boolean;
  /** The text was longer than it may be. */
  truncated?: boolean;
  /** Why it cannot be used as it is; empty when it can. */
  misfits: readonly SchemaProblem[];
  /** Set together with `misfits`. */
  code?: "E_JSON_SCHEMA" | "E_SIZE";
}

type Judge = Pick<ForeignSchemas, "validate">;

const MOST_ASK_BACK = 1000;
const MOST_ERROR = 500;
const MOST_ARTIFACTS = 64;
const MOST_JSON_BYTES = 65_536;
/** Eight times what 8,192 tokens are; nothing this long is an answer. */
const MOST_REPLY = 262_144;
const CLARIFIER = "role.clarifier";
const LEAST_CONFIDENCE = 0.6;
const ENVELOPE = ["answer_text", "answer_json", "ask_back", "error"];

/** Returns the schema that an answer must fit: that of the ask itself, else that of the role, else none. */
export function effectiveSchema(ask: Pick<Ask, "meta">, role: Role | null): JsonSchema | null {
  const overrides = ask.meta["prompt_overrides"];
  if (isObject(overrides) && isObject(overrides["output_schema"])) return overrides["output_schema"];
  return role?.outputSchema ?? null;
}

/**
 * Returns what a model's reply says, and where that does not fit the schema (spec/relay 12).
 *
 * An object with one of Base's four names is an envelope, and whatever else it holds is dropped. Beside a question back
 * or an error, an answer need not fit: it is dropped where it does not.
 */
export async function readReply(text: string, schema: JsonSchema | null, schemas: Judge): Promise<Reading> {
  if (text.length > MOST_REPLY) return unusable("text", "E_SIZE", "is too long to be an answer");
  const found = findJson(text);
  if (found && "unusable" in found) return unusable("text", "E_JSON_SCHEMA", found.unusable);
  if (found && isObject(found.value) && isEnvelope(found.value)) return readEnvelope(found.value, schema, schemas);
  if (found && (schema || (found.isWhole && typeof found.value === "object"))) {
    return { kind: "json", ...(await readJson(found.value, schema, schemas)) };
  }
  if (schema) return unusable("text", "E_JSON_SCHEMA", "is not JSON");
  const words = plain(text);
  return words === ""
    ? unusable("text", "E_JSON_SCHEMA", "holds no answer")
    : { kind: "text", ...capped(words), misfits: [] };
}

/**
 * Returns what a model's reply says about this ask: as `readReply`, and besides a CHOICE is one of its options, and the
 * clarifier's answer counts only if it is sure enough (spec/relay 7 and 10).
 */
export async function readAnswer(
  reply: string,
  asked: { ask: Pick<Ask, "type" | "meta">; role: Role | null; options: readonly ChoiceOption[] },
  schemas: Judge,
): Promise<Reading> {
  const { ask, role, options } = asked;
  const schema = effectiveSchema(ask, role);
  const read = await readReply(reply, schema, schemas);
  if (read.misfits.length > 0) return read;
  const reading = role?.id === CLARIFIER && schema === role.outputSchema ? clarified(read) : read;
  const isOpen = reading.askBack !== undefined || reading.error !== undefined || reading.isUnsure === true;
  return ask.type === "CHOICE" && options.length > 0 && !isOpen ? choose(reading, options) : reading;
}

/** Returns the first characters of a text, none of them halved. */
export function firstChars(text: string, most: number): string {
  return lengthOf(text) <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join("");
}

async function readEnvelope(
  envelope: Readonly<Record<string, unknown>>,
  schema: JsonSchema | null,
  schemas: Judge,
): Promise<Reading> {
  const misfits: SchemaProblem[] = [];
  const wordsOf = (name: string): string | undefined => {
    const value = own(envelope, name);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") misfits.push({ path: `/${name}`, message: "must be a string" });
    return typeof value === "string" && plain(value) !== "" ? plain(value) : undefined;
  };
  const [text, askBack, error] = ["answer_text", "ask_back", "error"].map(wordsOf);
  const isOpen = askBack !== undefined || error !== undefined;
  const artifacts = artifactsOf(own(envelope, "artifacts"));
  const parts = {
    kind: "envelope" as const,
    ...(text !== undefined && capped(text)),
    ...(artifacts.length > 0 && { artifacts }),
    ...(askBack !== undefined && { askBack: firstChars(askBack, MOST_ASK_BACK) }),
    ...(error !== undefined && { error: firstChars(error.replace(/\s+/g, " "), MOST_ERROR) }),
  };
  if (misfits.length > 0) return { ...parts, misfits, code: "E_JSON_SCHEMA" };

  const json = own(envelope, "answer_json");
  const isGiven = json !== undefined && (json !== null || schema !== null);
  if (isGiven) {
    const read = await readJson(json, schema, schemas);
    if (read.misfits.length === 0 || !isOpen) return { ...parts, ...read };
  }
  if (isOpen) return { ...parts, misfits };
  if (schema) return { ...parts, ...problem("E_JSON_SCHEMA", "lacks answer_json") };
  return text === undefined ? { ...parts, ...problem("E_JSON_SCHEMA", "holds no answer") } : { ...parts, misfits };
}

async function readJson(
  json: unknown,
  schema: JsonSchema | null,
  schemas: Judge,
): Promise<Pick<Reading, "json" | "misfits" | "code">> {
  if (Buffer.byteLength(JSON.stringify(json)) > MOST_JSON_BYTES) {
    return problem("E_SIZE", `holds an answer_json of more than ${MOST_JSON_BYTES} bytes`);
  }
  const misfits = schema ? await schemas.validate(schema, json) : [];
  return misfits.length > 0 ? { misfits, code: "E_JSON_SCHEMA" } : { json, misfits };
}

/** Takes the clarifier's own words for the answer's, and drops an answer it is not sure of. */
function clarified(reading: Reading): Reading {
  if (!isObject(reading.json)) return reading;
  const { answer, confidence, ask_back: asks } = reading.json;
  const askBack = reading.askBack ?? (typeof asks === "string" && plain(asks) !== "" ? plain(asks) : undefined);
  const isUnsure = typeof confidence === "number" && confidence < LEAST_CONFIDENCE;
  const open = askBack === undefined ? {} : { askBack: firstChars(askBack, MOST_ASK_BACK) };
  if (isUnsure) {
    const { kind, error, misfits } = reading;
    return { kind, ...(error !== undefined && { error }), ...open, isUnsure, misfits };
  }
  const words = typeof answer === "string" ? plain(answer) : "";
  return { ...reading, ...(reading.text === undefined && words !== "" && capped(words)), ...open };
}

function choose(reading: Reading, options: readonly ChoiceOption[]): Reading {
  const { json, text, truncated: _cut, ...rest } = reading;
  const named = isObject(json) ? [json["choice"], json["answer"]] : [json];
  const words = [...named, text].filter((one) => typeof one === "string");
  // The choice that was named counts, and no text about it.
  const chosen = isObject(json) && typeof json["choice"] === "string" ? words.slice(0, 1) : words;
  for (const one of chosen) {
    const option = chosenBy(options, one);
    if (option) return { ...rest, ...option };
  }
  return { ...rest, misfits: [{ path: "/choice", message: "must be one of the options" }], code: "E_JSON_SCHEMA" };
}

/** Null and empty texts say nothing; the two that hold the answer make an envelope even so. */
function isEnvelope(value: Readonly<Record<string, unknown>>): boolean {
  const says = (name: string) => ![undefined, null, ""].includes(own(value, name) as string);
  return ENVELOPE.some(says) || Object.hasOwn(value, "answer_text") || Object.hasOwn(value, "answer_json");
}

function artifactsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const isPath = (path: unknown): path is string => typeof path === "string" && isArtifactPath(path);
  return [...new Set(value.filter(isPath))].slice(0, MOST_ARTIFACTS);
}

function capped(text: string): { text: string; truncated?: boolean } {
  const cut = firstChars(text, MOST_ANSWER_CHARS);
  return cut === text ? { text } : { text: cut, truncated: true };
}

/** Returns a text without the characters that cannot be stored or shown. */
function plain(text: string): string {
  return text.replaceAll("\0", "").toWellFormed().trim();
}

function unusable(kind: Reading["kind"], code: "E_JSON_SCHEMA" | "E_SIZE", message: string): Reading {
  return { kind, ...problem(code, message) };
}

function problem(code: "E_JSON_SCHEMA" | "E_SIZE", message: string): Pick<Reading, "misfits" | "code"> {
  return { misfits: [{ path: "", message }], code };
}

function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
