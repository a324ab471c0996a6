/** The form in which the arguments of a call are changed, made from their schema. */
import type { JsonSchema } from "../wire.ts";
import { type Field, fieldOf, type Filled, filledWith, type Problem, readJson, valueOf } from "./schema.ts";

type Members = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, Filled>>;

export interface EditForm {
  field: Field & { kind: "object" };
  /** The proposed arguments, and what stands in the form for them. */
  proposed: Members;
  filled: Content;
}

/**
 * Returns the form for proposed arguments; null where a browser cannot hold each of their digits, or where their schema
 * describes none of them. An argument that the schema does not describe, or that its field could not give back as it
 * is, has a field for JSON.
 */
export function editFormOf(schema: JsonSchema | null, kwargs: string): EditForm | null {
  const proposed = exactMembers(kwargs);
  const described = fieldOf(schema ?? true);
  if (!proposed || described.kind !== "object") return null;
  const members = described.members.map(({ field, ...member }) => {
    const bare = withoutInitial(field);
    return { ...member, field: givesBack(bare, proposed[member.name]) ? bare : asJson(bare) };
  });
  const others = Object.keys(proposed).filter((name) => !members.some((one) => one.name === name));
  const plain = others.map((name) => ({ name, required: true, field: asJson({}) }));
  const field = { ...withoutInitial(described), kind: "object" as const, members: [...members, ...plain] };
  return { field, proposed, filled: filledWith(field, proposed) as Content };
}

/** Returns the arguments that stand in a form, null where they are the proposed ones; untouched, each stays as it is. */
export function argumentsIn(form: EditForm, filled: Content): { kwargs: string | null; problems: readonly Problem[] } {
  const touched = form.field.members.filter(({ name }) => !isEqual(filled[name], form.filled[name]));
  if (touched.length === 0) return { kwargs: null, problems: [] };
  const { value, problems } = valueOf({ ...form.field, members: touched }, filled);
  const names = new Set(touched.map(({ name }) => name));
  const taken = value as Members;
  const kept = Object.entries(form.proposed).flatMap(([name, one]): [string, unknown][] => {
    if (!names.has(name)) return [[name, one]];
    return Object.hasOwn(taken, name) ? [[name, taken[name]]] : [];
  });
  return { kwargs: JSON.stringify({ ...Object.fromEntries(kept), ...taken }, null, 2), problems };
}

/** Returns what stands in a form for arguments that were written as JSON; null where it could not give them back. */
export function filledInForm(form: EditForm, kwargs: string): Content | null {
  const written = exactMembers(kwargs);
  if (!written || Object.keys(written).some((name) => !form.field.members.some((one) => one.name === name)))
    return null;
  const all = form.field.members.every(({ field, name }) => givesBack(field, written[name]));
  return all ? (filledWith(form.field, written) as Content) : null;
}

function exactMembers(kwargs: string): Members | null {
  const read = readJson(kwargs);
  return read?.isExact && typeof read.value === "object" && !Array.isArray(read.value) ? (read.value as Members) : null;
}

/** Returns whether a field that nobody touches gives back the value that was put into it. */
function givesBack(field: Field, value: unknown): boolean {
  const taken = valueOf(field, filledWith(field, value ?? (value === null ? null : undefined)));
  return value === undefined ? taken.value === undefined : taken.problems.length === 0 && isEqual(taken.value, value);
}

const asJson = ({ title, description }: Partial<Field>): Field => ({
  kind: "json",
  title,
  description,
  nullable: false,
  initial: undefined,
});

/** A default is for what nobody has given yet: here it would add to the call what is in no argument. */
function withoutInitial<F extends Field>(field: F): F {
  const bare = { ...field, initial: undefined };
  if (bare.kind === "list") return { ...bare, item: withoutInitial(bare.item) };
  if (bare.kind !== "object") return bare;
  return { ...bare, members: bare.members.map((one) => ({ ...one, field: withoutInitial(one.field) })) };
}

const isEqual = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other);

/** JSON in which the order of members does not count. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
