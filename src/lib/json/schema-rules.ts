import { RE2JS } from "re2js";
import { memberPointer } from "./json-pointer.ts";

/** Where a value, or a schema itself, is not as it must be. */
export interface SchemaProblem {
  /** JSON pointer. */
  path: string;
  message: string;
}

/** A schema with nothing in it but what is judged by; a boolean lets everything or nothing through. */
export type BareSchema = boolean | { [keyword: string]: unknown };

const MOST_BYTES = 65_536;
const MOST_SUBSCHEMAS = 500;
const MOST_DEPTH = 16;
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

type Kind = "type" | "values" | "any" | "names" | "count" | "boolean" | "pattern" | "text" | "number" | "divisor";
type Nesting = "schema" | "list" | "map";

const PLAIN: Readonly<Record<string, Kind>> = {
  type: "type",
  enum: "values",
  const: "any",
  required: "names",
  minItems: "count",
  maxItems: "count",
  minLength: "count",
  maxLength: "count",
  minProperties: "count",
  maxProperties: "count",
  uniqueItems: "boolean",
  pattern: "pattern",
  format: "text",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "divisor",
};

const NESTED: Readonly<Record<string, Nesting>> = {
  properties: "map",
  $defs: "map",
  definitions: "map",
  propertyNames: "schema",
  additionalProperties: "schema",
  items: "schema",
  not: "schema",
  prefixItems: "list",
  anyOf: "list",
  oneOf: "list",
  allOf: "list",
};

/**
 * Keywords that say what a value must be, or where a schema is, and are not judged by here. Whatever else is not known is
 * an annotation (JSON Schema 2020-12 Core, 4.3.1 and 6.5), such as the `discriminator` of OpenAPI.
 */
const UNSUPPORTED = new Set(
  (
    "$id $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary if then else patternProperties " +
    "contains minContains maxContains dependentRequired dependentSchemas dependencies unevaluatedItems " +
    "unevaluatedProperties additionalItems"
  ).split(" "),
);

const MUST_BE: Readonly<Record<Kind | Nesting, string>> = {
  type: "must be a type of JSON, or several",
  values: "must be a list of values",
  any: "must be a value",
  names: "must be a list of names",
  count: "must be a whole number",
  boolean: "must be true or false",
  pattern: "must be a pattern without look-around and back-references",
  text: "must be a text",
  number: "must be a number",
  divisor: "must be a number above 0",
  schema: "must be a schema",
  list: "must be a list of schemas",
  map: "must hold schemas by name",
};

class Unusable extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/**
 * Returns what of a foreign schema is judged by, or why it cannot be used: JSON Schema 2020-12 within the limits and
 * keywords of spec/a2h 5.6. Own members only; a name such as `__proto__` is a name like any other.
 */
export function readSchema(schema: unknown): { bare: BareSchema } | { problem: SchemaProblem } {
  try {
    if (Buffer.byteLength(JSON.stringify(schema) ?? "") > MOST_BYTES) {
      throw new Unusable("", `a schema may be at most ${MOST_BYTES} bytes long`);
    }
    if (!isObject(schema)) throw new Unusable("", "must be an object");
    return { bare: walk(schema) };
  } catch (error) {
    if (error instanceof Unusable) return { problem: { path: error.path, message: error.message } };
    throw error;
  }
}

function walk(root: object): BareSchema {
  const seen = new Set<string>();
  const references: { to: string; path: string }[] = [];
  const bare = copy(root, "", 1);
  for (const { to, path } of references) {
    if (!seen.has(to)) throw new Unusable(path, "names no schema in here");
  }
  return bare;

  function copy(schema: unknown, path: string, depth: number): BareSchema {
    seen.add(path);
    if (seen.size > MOST_SUBSCHEMAS) throw new Unusable("", `a schema may hold at most ${MOST_SUBSCHEMAS} schemas`);
    if (depth > MOST_DEPTH) throw new Unusable(path, `schemas may be nested ${MOST_DEPTH} deep`);
    if (typeof schema === "boolean") return schema;
    if (!isObject(schema)) throw new Unusable(path, MUST_BE.schema);
    return Object.fromEntries(
      Object.entries(schema).flatMap(([keyword, value]) => {
        const here = memberPointer(path, keyword);
        return isJudged(keyword) ? [[keyword, member(keyword, value, here, depth)]] : [];
      }),
    );
  }

  function member(keyword: string, value: unknown, path: string, depth: number): unknown {
    if (keyword === "$ref") {
      const to = localPointer(value, path);
      references.push({ to, path });
      return `#${encodeURI(to).replaceAll("#", "%23")}`;
    }
    const kind = Object.hasOwn(PLAIN, keyword) ? PLAIN[keyword] : undefined;
    if (kind) {
      if (!isOfKind(kind, value)) throw new Unusable(path, MUST_BE[kind]);
      return value;
    }
    const nesting = Object.hasOwn(NESTED, keyword) ? NESTED[keyword] : undefined;
    if (!nesting) throw new Unusable(path, `${keyword} is not supported`);
    if (nesting === "schema") return copy(value, path, depth + 1);
    if (nesting === "list") {
      if (!Array.isArray(value) || value.length === 0) throw new Unusable(path, MUST_BE.list);
      return value.map((item: unknown, i) => copy(item, `${path}/${i}`, depth + 1));
    }
    if (!isObject(value)) throw new Unusable(path, MUST_BE.map);
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, copy(item, memberPointer(path, name), depth + 1)]),
    );
  }
}

function isJudged(keyword: string): boolean {
  return (
    [PLAIN, NESTED].some((known) => Object.hasOwn(known, keyword)) || keyword === "$ref" || UNSUPPORTED.has(keyword)
  );
}

function localPointer(reference: unknown, path: string): string {
  if (typeof reference !== "string") throw new Unusable(path, "must be a text");
  if (!/^#(\/|$)/.test(reference)) throw new Unusable(path, "remote $ref is not supported");
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    throw new Unusable(path, "is not a JSON pointer");
  }
}

function isOfKind(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case "any":
      return true;
    case "type": {
      const types: unknown[] = Array.isArray(value) ? value : [value];
      return types.length > 0 && types.every((type) => TYPES.includes(type as string));
    }
    case "values":
      return Array.isArray(value);
    case "names":
      return Array.isArray(value) && value.every((name) => typeof name === "string");
    case "count":
      return Number.isInteger(value) && (value as number) >= 0;
    case "boolean":
      return typeof value === "boolean";
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "divisor":
      return typeof value === "number" && value > 0;
    case "pattern":
      return typeof value === "string" && linearPattern(value) !== null;
  }
}

/** A pattern that is looked for in linear time. */
export interface LinearPattern {
  test(text: string): boolean;
}

/** Look-ahead that everything else stands behind, as pydantic and zod write it: `^(?!...)` and `^(?=...)`. */
const LOOKS_AHEAD = /^\^\(\?[!=]/;

/**
 * Returns a pattern for an engine that takes linear time, or nothing for one that it cannot take. The engine knows no
 * look-ahead; what is looked for at the very start is a pattern of its own, which must hold, or must not, beside the rest.
 */
export function linearPattern(source: string): LinearPattern | null {
  // The engine reads a named back-reference as plain letters, which would be another pattern than was written.
  if (/(?:^|[^\\])(?:\\\\)*\\k/.test(source)) return null;
  if (LOOKS_AHEAD.test(source)) return lookingAhead(source);
  try {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
    return { test: (text) => pattern.matcher(text).find() };
  } catch {
    return null;
  }
}

function lookingAhead(source: string): LinearPattern | null {
  const end = closingPlace(source, 1);
  const rest = source.slice(end + 1);
  // Of alternatives only the first would stand behind it.
  if (end < 0 || closingPlace(`(${rest})`, 0, "|") !== rest.length + 1) return null;
  const seen = linearPattern(`^(?:${source.slice(4, end)})`);
  const behind = linearPattern(LOOKS_AHEAD.test(`^${rest}`) ? `^${rest}` : `^(?:${rest})`);
  if (!seen || !behind) return null;
  const must = source[3] === "=";
  return { test: (text) => seen.test(text) === must && behind.test(text) };
}

/** Returns where the group ends that begins at a place, or where `before` stands in it outside of groups; else -1. */
function closingPlace(source: string, start: number, before?: string): number {
  let depth = 0;
  let inClass = false;
  for (let i = start; i < source.length; i += 1) {
    const at = source[i];
    if (at === "\\") i += 1;
    else if (inClass) inClass = at !== "]";
    else if (at === "[") inClass = true;
    else if (at === "(") depth += 1;
    else if (at === before && depth === 1) return i;
    else if (at === ")" && (depth -= 1) === 0) return i;
  }
  return -1;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
