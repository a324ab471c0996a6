import type { ForeignSchema } from "../../requests/model/request.ts";
import type { Question, QuestionForm } from "../../questions/model/question.ts";
import { lengthOf, type FieldProblem } from "../../core/model/field-problem.ts";
import { isDecision } from "./people.ts";
import type { ChoiceOption, Ask } from "./ask.ts";
import { shapeOf, type OfferedValue } from "../../requests/model/schema-shape.ts";
import { cutTo } from "../../core/model/title.ts";

/** The name of anybody of the public who answered: their own is not disclosed. */
export const THE_PUBLIC = "the public";

/** The limits of a question to the crowd (spec/ask-a-human 3.1). */
const MOST_PROMPT = 2000;
const MOST_OPTIONS = 10;
const MOST_LABEL = 200;
/** More of a schema is not read out to people. */
const MOST_SCHEMA_CHARS = 1000;

/** Returns whether its asker wants the public to be asked. */
export function isForPublic({ meta }: Pick<Ask, "meta">): boolean {
  return meta["audience"] === "public";
}

/** Returns whether its asker names whom to ask: that is fewer than the public. */
export function isForNamed({ meta }: Pick<Ask, "meta">): boolean {
  return typeof meta["to"] === "string" && meta["to"].trim() !== "";
}

/**
 * Returns why the public cannot be asked this: it is never asked for a decision, only where the operator has allowed it,
 * and nothing larger than what anybody may ask the crowd (spec/relay 13; spec/ask-a-human 3.1).
 *
 * @param audiences whom an ask may be for instead
 */
export function publicProblems(
  ask: Pick<Ask, "type" | "prompt">,
  options: readonly ChoiceOption[],
  { isAllowed, audiences }: { isAllowed: boolean; audiences: readonly string[] },
): FieldProblem[] {
  const message = "Request body is not valid";
  if (!isAllowed || isDecision(ask)) {
    return [{ message, field: "meta.audience", constraint: "enum", allowed: audiences }];
  }
  const problems: FieldProblem[] = [];
  const limit = (field: string, min: number, max: number) =>
    problems.push({ message, field, constraint: "length", min, max });
  if (lengthOf(ask.prompt) > MOST_PROMPT) limit("prompt", 1, MOST_PROMPT);
  if (options.length > MOST_OPTIONS) limit("meta.options", 2, MOST_OPTIONS);
  for (const [i, { label }] of options.entries()) {
    if (lengthOf(label) > MOST_LABEL) limit(`meta.options[${i}]`, 1, MOST_LABEL);
  }
  return problems;
}

/** The parts of an ask that the public is shown. */
interface PublicQuestion {
  prompt: string;
  form: QuestionForm;
}

/**
 * Returns the parts of an ask that the public sees: its prompt and its options. A schema that lists few values becomes
 * a choice. Otherwise the prompt ends with a description of the wanted answer.
 */
export function publicQuestionOf(
  { prompt }: Pick<Ask, "prompt">,
  { options, schema }: { options: readonly ChoiceOption[]; schema: ForeignSchema | null },
): PublicQuestion {
  if (options.length > 0) return { prompt, form: { kind: "choice", options: options.map(({ label }) => label) } };
  if (!schema) return { prompt, form: { kind: "text" } };
  const offers = offersIn(schema);
  if (offers) return { prompt, form: { kind: "choice", options: offers.map(({ label }) => label) } };
  return { prompt: `${prompt}\n\n${wantedText(schema)}`, form: { kind: "text" } };
}

/** Returns the values that a schema offers, where the public can choose among them. */
export function offersIn(schema: ForeignSchema): readonly OfferedValue[] | null {
  const shape = shapeOf(schema);
  if (shape.kind !== "choice" || shape.offers.length < 2 || shape.offers.length > MOST_OPTIONS) return null;
  const isShort = shape.offers.every(({ label }) => label.trim() !== "" && lengthOf(label) <= MOST_LABEL);
  const isDistinct = new Set(shape.offers.map(({ label }) => label.trim())).size === shape.offers.length;
  return isShort && isDistinct ? shape.offers : null;
}

function wantedText(schema: ForeignSchema): string {
  const shape = shapeOf(schema);
  if (shape.kind === "text" || shape.kind === "number") return `Wanted: ${shape.says}.`;
  if (shape.kind === "decision") return "Wanted: yes or no; a comment may follow after a comma.";
  return `Wanted: JSON that fits ${cutTo(MOST_SCHEMA_CHARS, JSON.stringify(schema))}`;
}

/** The data that a question to the crowd stores for its ask. */
export interface PublicWire {
  /** The schema that the answer has to fit. */
  schema?: ForeignSchema;
}

/** Returns what a question keeps for its ask. */
export function wireOfPublic({ wire }: Pick<Question, "wire">): PublicWire {
  return wire;
}
