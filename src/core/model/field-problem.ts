import { Refusal } from "../../refusals.ts";

/** The problem with one field, and the sentence that states it. */
export interface FieldProblem {
  message: string;
  field: string;
  constraint: string;
  [fact: string]: unknown;
}

/** A mistake in a value, whatever its field is called. */
export interface Fault {
  /** The end of the sentence that the field's name begins. */
  says: string;
  constraint: string;
  [fact: string]: unknown;
}

/** Returns the fault of a field as its problem. */
export function problemAt(field: string, { says, ...facts }: Fault): FieldProblem {
  return { message: `${field} ${says}`, field, ...facts };
}

/**
 * Returns the refusal that describes the first problem, and lists all of them when there are several.
 *
 * The problems stand in the order of their fields' table (spec/ask-a-human 1.3).
 */
export function refuseFields(problems: readonly FieldProblem[]): Refusal {
  const [first] = problems;
  if (!first) throw new Error("nothing is wrong");
  const { message, ...facts } = first;
  const errors = problems.map(({ message: _, ...each }) => each);
  return new Refusal("invalid_input", problems.length > 1 ? { ...facts, errors } : facts, message);
}

/** Counts Unicode code points, as every length in the contracts is counted. */
export function lengthOf(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) length += 1;
  }
  return length;
}

/**
 * The fault of a text: the maximum is counted on the text as sent, the minimum without surrounding white space; U+0000
 * and unpaired surrogates are refused.
 */
export function textFault(text: string, min: number, max: number): Fault | null {
  if (text.includes("\0") || !text.isWellFormed()) {
    return { says: "holds characters that cannot be stored", constraint: "characters" };
  }
  if (lengthOf(text) <= max && lengthOf(text.trim()) >= min) return null;
  return { says: `must be between ${min} and ${max} characters`, constraint: "length", min, max };
}

export function textProblem(field: string, text: string, min: number, max: number): FieldProblem | null {
  const fault = textFault(text, min, max);
  return fault && problemAt(field, fault);
}

/** The fault of an integer. Integral values such as 5.0 are integers; booleans and strings are not. */
export function integerFault(value: unknown, min: number, max: number): Fault | null {
  if (!Number.isInteger(value)) return { says: "must be an integer", constraint: "type" };
  if ((value as number) >= min && (value as number) <= max) return null;
  return { says: `must be between ${min} and ${max}`, constraint: "range", min, max };
}

export function integerProblem(field: string, value: unknown, min: number, max: number): FieldProblem | null {
  const fault = integerFault(value, min, max);
  return fault && problemAt(field, fault);
}
