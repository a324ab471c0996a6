import { pointerParts } from "../../lib/json/json-pointer.ts";
import type { ForeignSchema } from "./request.ts";

/** One of the values that a schema lets through, with what people call it. */
export interface OfferedValue {
  label: string;
  value: unknown;
}

/** The field in which people give one value. */
export type FieldShape =
  /** One of these; a boolean is yes or no. */
  | { kind: "choice"; offers: readonly OfferedValue[] }
  | { kind: "text"; says: string }
  | { kind: "number"; says: string };

/** One member of a flat object. */
export interface Field {
  name: string;
  label: string;
  description?: string;
  required: boolean;
  /** May also be null: what is required and left empty is null. */
  nullable: boolean;
  of: FieldShape;
}

/** A schema as buttons or a form for people, as far as these can show it (spec/a2h 14). */
export type Shape =
  | FieldShape
  /** `{approved, comment}`: approve or reject, and why, where the schema has room for that. */
  | { kind: "decision"; comment: "none" | "optional" | "required" }
  | { kind: "object"; fields: readonly Field[] }
  /** Whatever no form is drawn for is written as JSON. */
  | { kind: "json" };

const MOST_FIELDS = 20;
const MOST_OFFERS = 100;
const COMBINING = ["anyOf", "oneOf", "allOf", "not", "$ref"];
type Members = Readonly<Record<string, unknown>>;

/** Returns what a schema asks for. Pure, and the same for the same schema: places in it are how answers name them. */
export function shapeOf(schema: ForeignSchema): Shape {
  const { bare } = withoutNull(resolved(schema, schema), schema);
  return fieldShapeOf(bare, schema) ?? objectShapeOf(bare, schema);
}

function fieldShapeOf(schema: Members, root: Members): FieldShape | null {
  const offers = offersOf(schema, root);
  if (offers) return { kind: "choice", offers };
  const number = numberOrItsText(schema);
  if (number) return { kind: "number", says: numberSays(number) };
  if (COMBINING.some((word) => Object.hasOwn(schema, word))) return null;
  switch (schema["type"]) {
    case "boolean":
      return { kind: "choice", offers: YES_NO };
    case "string":
      return { kind: "text", says: textSays(schema) };
    case "number":
    case "integer":
      return { kind: "number", says: numberSays(schema) };
    default:
      return null;
  }
}

/** Returns the number of what may be a number or a text in its form, as pydantic writes a Decimal. */
function numberOrItsText({ anyOf: alternatives }: Members): Members | null {
  if (!Array.isArray(alternatives) || alternatives.length !== 2) return null;
  const [number, words] = alternatives as unknown[];
  if (!isMembers(number) || !isMembers(words) || words["type"] !== "string") return null;
  return number["type"] === "number" && typeof words["pattern"] === "string" ? number : null;
}

const YES_NO: readonly OfferedValue[] = [
  { label: "Yes", value: true },
  { label: "No", value: false },
];

/** The values of an enumeration, also of one written as alternatives that are one value each. */
function offersOf(schema: Members, root: Members): readonly OfferedValue[] | null {
  const listed = schema["enum"];
  if (Array.isArray(listed)) {
    if (listed.length > MOST_OFFERS) return null;
    // Two that would be called alike, such as 1 and "1", are written as JSON.
    const isClear = new Set((listed as unknown[]).map(labelOf)).size === listed.length;
    return listed.map((value: unknown) => ({ label: isClear ? labelOf(value) : JSON.stringify(value), value }));
  }
  if (Object.hasOwn(schema, "const")) return [{ label: labelOf(schema["const"]), value: schema["const"] }];
  const alternatives = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(alternatives) || alternatives.length === 0 || alternatives.length > MOST_OFFERS) return null;
  const each = alternatives.map((one: unknown) => (isMembers(one) ? resolved(one, root) : {}));
  if (!each.every((one) => Object.hasOwn(one, "const"))) return null;
  return each.map((one) => ({ label: textOf(one, "title") ?? labelOf(one["const"]), value: one["const"] }));
}

const labelOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function objectShapeOf(schema: Members, root: Members): Shape {
  const properties = schema["properties"];
  if (!isMembers(properties) || COMBINING.some((word) => Object.hasOwn(schema, word))) return { kind: "json" };
  if (schema["type"] !== undefined && schema["type"] !== "object") return { kind: "json" };
  const required = new Set(Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : []);
  const fields = Object.entries(properties).map(([name, member]): Field | null => {
    if (!isMembers(member) || name === "__proto__") return null;
    const { bare, nullable } = withoutNull(resolved(member, root), root);
    const of = fieldShapeOf(bare, root);
    const description = textOf(member, "description") ?? textOf(bare, "description");
    const label = textOf(member, "title") ?? textOf(bare, "title") ?? name;
    return of && { name, label, ...(description && { description }), required: required.has(name), nullable, of };
  });
  const whole = fields.filter((field) => field !== null);
  const isWhole = whole.length === fields.length && fields.length > 0 && fields.length <= MOST_FIELDS;
  // A required member without a field could never be filled in.
  if (!isWhole || ![...required].every((name) => whole.some((field) => field.name === name))) return { kind: "json" };
  return decisionShapeOf(whole) ?? { kind: "object", fields: whole };
}

function decisionShapeOf(fields: readonly Field[]): Shape | null {
  const approved = fields.find(({ name }) => name === "approved");
  const comment = fields.find(({ name }) => name === "comment");
  const isAll = fields.every((field) => field === approved || field === comment);
  if (!isAll || approved?.of.kind !== "choice" || approved.of.offers !== YES_NO) return null;
  if (comment && comment.of.kind !== "text") return null;
  return { kind: "decision", comment: !comment ? "none" : comment.required ? "required" : "optional" };
}

function numberSays(schema: Members): string {
  const kind = schema["type"] === "integer" ? "a whole number" : "a number";
  const bounds = [
    ["at least", schema["minimum"]],
    ["above", schema["exclusiveMinimum"]],
    ["at most", schema["maximum"]],
    ["below", schema["exclusiveMaximum"]],
    ["a multiple of", schema["multipleOf"]],
  ].flatMap(([words, value]) => (typeof value === "number" ? [`${String(words)} ${value}`] : []));
  return [kind, ...bounds].join(", ");
}

function textSays(schema: Members): string {
  const { minLength, maxLength, format, pattern } = schema;
  return [
    "text",
    ...(typeof format === "string" ? [`in the form of ${format}`] : []),
    ...(typeof minLength === "number" && minLength > 1 ? [`of at least ${minLength} characters`] : []),
    ...(typeof maxLength === "number" ? [`of at most ${maxLength} characters`] : []),
    ...(typeof pattern === "string" ? [`that fits the pattern ${pattern}`] : []),
  ].join(" ");
}

/** Follows references within the schema; one that leads nowhere, or round in a circle, stays as it is. */
function resolved(schema: Members, root: Members): Members {
  let at = schema;
  for (let steps = 0; steps < 10; steps += 1) {
    const whole = at["allOf"];
    const reference = at["$ref"] ?? (Array.isArray(whole) && whole.length === 1 ? (whole[0] as unknown) : undefined);
    if (reference === undefined) return at;
    const { $ref: _ref, allOf: _allOf, ...beside } = at;
    const target = typeof reference === "string" ? pointed(reference, root) : reference;
    if (!isMembers(target)) return at;
    at = { ...target, ...beside };
  }
  return schema;
}

function pointed(reference: string, root: Members): unknown {
  const path = reference.startsWith("#/") ? pointerParts(reference.slice(1)) : null;
  if (path === null) return undefined;
  let at: unknown = root;
  for (const name of path) {
    at = isMembers(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

/** Takes the alternative null out of a schema. */
function withoutNull(schema: Members, root: Members): { bare: Members; nullable: boolean } {
  const { type } = schema;
  if (Array.isArray(type) && type.length === 2 && type.includes("null")) {
    return { bare: { ...schema, type: (type as unknown[]).find((one) => one !== "null") }, nullable: true };
  }
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(alternatives)) return { bare: schema, nullable: false };
  const isNull = (one: unknown) => isMembers(one) && one["type"] === "null";
  const [only, ...more] = alternatives.filter((one: unknown) => !isNull(one)) as unknown[];
  if (!alternatives.some(isNull) || !isMembers(only)) return { bare: schema, nullable: false };
  const { anyOf: _anyOf, oneOf: _oneOf, ...beside } = schema;
  if (more.length > 0) return { bare: { ...beside, anyOf: [only, ...more] }, nullable: true };
  return { bare: { ...resolved(only, root), ...beside }, nullable: true };
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(schema: Members, name: string): string | undefined {
  const value = schema[name];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
