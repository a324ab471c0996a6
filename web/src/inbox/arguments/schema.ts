/**
 * The model of a form for a value of a JSON Schema, and the way between the form's content and the value. The server
 * has the last word on whether a value fits; the checks here only spare people a round trip.
 */
import { text } from "../text.ts";
import type { JsonSchema } from "../wire.ts";

interface Common {
  title: string | undefined;
  description: string | undefined;
  /** May also be null: then an empty field means null. */
  nullable: boolean;
  initial: unknown;
}
type Shape =
  | { kind: "boolean" }
  /** One of some values, whatever their types. */
  | { kind: "choice"; options: readonly { label: string; value: unknown }[] }
  /** Some of some values. */
  | { kind: "several"; options: readonly { label: string; value: unknown }[]; least: number }
  | { kind: "text"; shortest: number | undefined; longest: number | undefined; long: boolean }
  | { kind: "number"; whole: boolean; least: number | undefined; most: number | undefined }
  | { kind: "object"; members: readonly Member[] }
  | { kind: "list"; item: Field; least: number }
  /** Whatever no form is drawn for is written as JSON. */
  | { kind: "json" };
export type Field = Common & Shape;
export interface Member {
  name: string;
  required: boolean;
  field: Field;
}

/** The content of the form: texts as they are typed, choices as their places, so that half a value has a shape too. */
export type Filled = string | number | boolean | null | readonly Filled[] | { readonly [name: string]: Filled };

export interface Problem {
  /** JSON pointer. */
  path: string;
  message: string;
}

const DEEPEST = 6;
const MOST_OPTIONS = 200;
type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const own = (schema: Schema, name: string): unknown => (Object.hasOwn(schema, name) ? schema[name] : undefined);
const textIn = (schema: Schema, name: string): string | undefined => {
  const value = own(schema, name);
  return typeof value === "string" ? value : undefined;
};
const shownIn = (schema: Schema, name: string): string | undefined => {
  const words = textIn(schema, name);
  return words && seen(words);
};

/** Control, direction and zero-width characters: what could make a label say something else than it shows. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Returns a text of an agent's with what cannot be seen written as \uXXXX, as the server does with every other text. */
export function seen(words: string): string {
  return words.replace(UNSEEN, (letter) => `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
}
const numberIn = (schema: Schema, name: string): number | undefined => {
  const value = own(schema, name);
  return typeof value === "number" ? value : undefined;
};

/** Returns the field that a schema asks for. */
export function fieldOf(schema: JsonSchema): Field {
  return isSchema(schema) ? read(schema, schema, 0) : bare({ kind: "json" });
}

const bare = (shape: Shape): Field => ({
  ...shape,
  title: undefined,
  description: undefined,
  nullable: false,
  initial: undefined,
});

function read(given: unknown, root: Schema, depth: number): Field {
  if (!isSchema(given) || depth > DEEPEST) return bare({ kind: "json" });
  const { schema, nullable } = withoutNull(resolve(given, root), root);
  return {
    ...shapeOf(schema, root, depth),
    title: shownIn(given, "title") ?? shownIn(schema, "title"),
    description: shownIn(given, "description") ?? shownIn(schema, "description"),
    nullable,
    initial: own(given, "default") ?? own(schema, "default"),
  };
}

function shapeOf(schema: Schema, root: Schema, depth: number): Shape {
  const options = optionsOf(schema, root);
  if (options) return { kind: "choice", options };
  if (
    ["anyOf", "oneOf", "allOf", "not", "if", "$ref", "patternProperties"].some((word) => Object.hasOwn(schema, word))
  ) {
    return { kind: "json" };
  }
  const type = own(schema, "type") ?? (isSchema(own(schema, "properties")) ? "object" : undefined);
  switch (String(type)) {
    case "boolean":
      return { kind: "boolean" };
    case "string": {
      const longest = numberIn(schema, "maxLength");
      const long = longest === undefined ? textIn(schema, "format") === undefined : longest > 120;
      return { kind: "text", shortest: numberIn(schema, "minLength"), longest, long };
    }
    case "number":
      return { kind: "number", whole: false, least: numberIn(schema, "minimum"), most: numberIn(schema, "maximum") };
    case "integer":
      return { kind: "number", whole: true, least: numberIn(schema, "minimum"), most: numberIn(schema, "maximum") };
    case "object":
      return objectOf(schema, root, depth);
    case "array":
      return listOf(schema, root, depth);
    default:
      return { kind: "json" };
  }
}

function objectOf(schema: Schema, root: Schema, depth: number): Shape {
  const properties = own(schema, "properties");
  if (!isSchema(properties) || Object.keys(properties).length === 0) return { kind: "json" };
  const needed = own(schema, "required");
  const required = new Set(Array.isArray(needed) ? (needed as unknown[]) : []);
  const members = Object.entries(properties).map(([name, member]): Member => {
    return { name, required: required.has(name), field: read(member, root, depth + 1) };
  });
  // A required member without a field could never be filled in.
  const named = members.every(({ name }) => name !== "__proto__");
  return named && [...required].every((name) => members.some((one) => one.name === name))
    ? { kind: "object", members }
    : { kind: "json" };
}

function listOf(schema: Schema, root: Schema, depth: number): Shape {
  const items = own(schema, "items");
  if (!isSchema(items)) return { kind: "json" };
  const item = read(items, root, depth + 1);
  const least = numberIn(schema, "minItems") ?? 0;
  if (item.kind === "choice" && own(schema, "uniqueItems") === true) {
    return { kind: "several", options: item.options, least };
  }
  return { kind: "list", item, least };
}

/** Returns the values of an enumeration, also of one written as alternatives that are one value each. */
function optionsOf(schema: Schema, root: Schema): { label: string; value: unknown }[] | null {
  const listed = own(schema, "enum");
  if (Array.isArray(listed) && listed.length <= MOST_OPTIONS) {
    return listed.map((value: unknown) => ({ label: labelOf(value), value }));
  }
  if (Object.hasOwn(schema, "const")) return [{ label: labelOf(schema["const"]), value: schema["const"] }];
  const alternatives = own(schema, "oneOf") ?? own(schema, "anyOf");
  if (!Array.isArray(alternatives) || alternatives.length === 0 || alternatives.length > MOST_OPTIONS) return null;
  const each = alternatives.map((one: unknown) => (isSchema(one) ? resolve(one, root) : {}));
  if (!each.every((one) => Object.hasOwn(one, "const"))) return null;
  return each.map((one) => ({ label: shownIn(one, "title") ?? labelOf(one["const"]), value: one["const"] }));
}

const labelOf = (value: unknown): string => seen(typeof value === "string" ? value : JSON.stringify(value));

/** Follows references within the schema; one that leads nowhere, or round in a circle, is left for the JSON editor. */
function resolve(schema: Schema, root: Schema): Schema {
  let at = schema;
  for (let steps = 0; steps < 10; steps += 1) {
    const whole = own(at, "allOf");
    const reference = textIn(at, "$ref") ?? (Array.isArray(whole) && whole.length === 1 ? whole[0] : undefined);
    if (reference === undefined) return at;
    const { $ref: _, allOf: __, ...beside } = at;
    const target = typeof reference === "string" ? pointed(reference, root) : reference;
    if (!isSchema(target)) return at;
    at = { ...target, ...beside };
  }
  return schema;
}

function pointed(reference: string, root: Schema): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at = isSchema(at) ? own(at, name) : undefined;
  }
  return at;
}

/** Takes the alternative null out of a schema. */
function withoutNull(schema: Schema, root: Schema): { schema: Schema; nullable: boolean } {
  const type = own(schema, "type");
  if (Array.isArray(type) && type.includes("null")) {
    const others = type.filter((one) => one !== "null") as unknown[];
    if (others.length === 1) return { schema: { ...schema, type: others[0] }, nullable: true };
  }
  const alternatives = own(schema, "anyOf") ?? own(schema, "oneOf");
  if (!Array.isArray(alternatives)) return { schema, nullable: false };
  const isNull = (one: unknown) => isSchema(one) && own(one, "type") === "null";
  const [only, ...more] = alternatives.filter((one: unknown) => !isNull(one)) as unknown[];
  if (!alternatives.some(isNull) || more.length > 0 || !isSchema(only)) return { schema, nullable: false };
  const { anyOf: _, oneOf: __, ...beside } = schema;
  return { schema: { ...resolve(only, root), ...beside }, nullable: true };
}

/** Returns what stands in the form for a value, or for none at all. */
export function filledWith(field: Field, value: unknown = field.initial): Filled {
  switch (field.kind) {
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "choice": {
      // A choice with a single option is that option.
      if (field.options.length === 1 && !field.nullable) return 0;
      const at = field.options.findIndex((option) => isEqual(option.value, value));
      return at < 0 ? null : at;
    }
    case "several": {
      const chosen = Array.isArray(value) ? (value as unknown[]) : [];
      return field.options.flatMap((option, at) => (chosen.some((one) => isEqual(one, option.value)) ? [at] : []));
    }
    case "text":
      return typeof value === "string" ? value : "";
    case "number":
      return typeof value === "number" ? String(value) : "";
    case "object": {
      const members = isSchema(value) ? value : {};
      return Object.fromEntries(field.members.map((one) => [one.name, filledWith(one.field, own(members, one.name))]));
    }
    case "list": {
      const items = Array.isArray(value) ? (value as unknown[]) : Array.from({ length: Math.min(field.least, 20) });
      return items.map((item) => filledWith(field.item, item));
    }
    case "json":
      return value === undefined ? "" : JSON.stringify(value, null, 2);
  }
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Returned where a field was left empty that may be. */
const NOTHING = Symbol("nothing");

/** Returns the value that stands in the form, with what is wrong with it. */
export function valueOf(field: Field, filled: Filled): { value: unknown; problems: Problem[] } {
  const problems: Problem[] = [];
  const value = take(field, filled, { path: "", required: true, problems });
  return { value: value === NOTHING ? undefined : value, problems };
}

interface Place {
  path: string;
  required: boolean;
  problems: Problem[];
}

function take(field: Field, filled: Filled, place: Place): unknown {
  const wrong = (message: string): typeof NOTHING => {
    place.problems.push({ path: place.path, message });
    return NOTHING;
  };
  const empty = (): unknown => {
    if (!place.required) return NOTHING;
    return field.nullable ? null : wrong(text.form.required);
  };
  switch (field.kind) {
    case "boolean":
      return typeof filled === "boolean" ? filled : empty();
    case "choice":
      return typeof filled === "number" ? field.options[filled]?.value : empty();
    case "several": {
      const chosen = Array.isArray(filled) ? (filled as readonly number[]) : [];
      if (chosen.length === 0 && !place.required) return NOTHING;
      if (chosen.length < field.least) return wrong(text.form.fewest(field.least));
      return chosen.map((at) => field.options[at]?.value);
    }
    case "text": {
      const words = typeof filled === "string" ? filled : "";
      const length = [...words].length;
      if (words === "") return empty();
      if (length < (field.shortest ?? 0)) return wrong(text.form.shortest(field.shortest ?? 0));
      return length > (field.longest ?? Infinity) ? wrong(text.form.longest(field.longest ?? 0)) : words;
    }
    case "number":
      return takeNumber(field, String(filled ?? "").trim(), { wrong, empty });
    case "object":
      return takeObject(field, filled, place);
    case "list": {
      const items = Array.isArray(filled) ? (filled as readonly Filled[]) : [];
      if (items.length === 0 && !place.required) return NOTHING;
      if (items.length < field.least) return wrong(text.form.fewest(field.least));
      return items.map((item, at) => take(field.item, item, { ...place, path: `${place.path}/${at}`, required: true }));
    }
    case "json": {
      const words = String(filled ?? "").trim();
      if (words === "") return empty();
      const read = readJson(words);
      if (!read) return wrong(text.form.notJson);
      return read.isExact ? read.value : wrong(text.form.digits);
    }
  }
}

/** Returns the value of a JSON text, and whether it has every digit of the text's numbers; null for anything else. */
export function readJson(words: string): { value: unknown; isExact: boolean } | null {
  try {
    const value = JSON.parse(words) as unknown;
    const numbers = words.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/\d[\d.eE+-]*/g) ?? [];
    return { value, isExact: numbers.every(isExact) };
  } catch {
    return null;
  }
}

/** Returns whether a number as it is written is one that a browser can send without changing a digit. */
function isExact(written: string): boolean {
  const digits = (one: string): string =>
    one
      .split(/e/i, 1)
      .join("")
      .replace(/\D/g, "")
      .replace(/^0+|(?<!0)0+$/g, "");
  return digits(written) === digits(String(Number(written.replace(",", "."))));
}

/** Returns what stands in the form for a value that was written as JSON; undefined where the form cannot hold it. */
export function filledFrom(field: Field, words: string): Filled | undefined {
  const read = readJson(words);
  return read?.isExact ? filledWith(field, read.value) : undefined;
}

function takeNumber(
  field: Field & { kind: "number" },
  words: string,
  { wrong, empty }: { wrong: (message: string) => unknown; empty: () => unknown },
): unknown {
  if (words === "") return empty();
  // A comma is the decimal sign of half the world, and groups thousands in the other: 1,000 is asked about, not guessed.
  const value = Number(/^[+-]?\d+,(?!\d{3}$)\d+$/.test(words) ? words.replace(",", ".") : words);
  if (!Number.isFinite(value)) return wrong(text.form.number);
  // A point groups thousands in half the world.
  if (field.whole && (!Number.isInteger(value) || words.includes("."))) return wrong(text.form.integer);
  if (!isExact(words)) return wrong(text.form.digits);
  if (value < (field.least ?? -Infinity)) return wrong(text.form.least(field.least ?? 0));
  return value > (field.most ?? Infinity) ? wrong(text.form.most(field.most ?? 0)) : value;
}

function takeObject(field: Field & { kind: "object" }, filled: Filled, place: Place): unknown {
  const members = isSchema(filled) ? (filled as Record<string, Filled>) : {};
  // An object that need not be there, and in which nothing was filled in, is not there.
  if (!place.required && isUntouched(field, members)) return NOTHING;
  const taken = field.members.flatMap(({ name, required, field: member }): [string, unknown][] => {
    const path = `${place.path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const value = take(member, members[name] ?? null, { ...place, path, required });
    return value === NOTHING ? [] : [[name, value]];
  });
  return Object.fromEntries(taken);
}

function isUntouched(field: Field & { kind: "object" }, members: Record<string, Filled>): boolean {
  return isEqual(members, filledWith({ ...field, initial: undefined })) || Object.keys(members).length === 0;
}
