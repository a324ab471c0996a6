import { chosenLabels, foldedLabel } from "../lib/chosen-labels.ts";
import { printable, withoutSteering } from "../lib/printable.ts";
import type { PromptQuestion, Unclear } from "./agent.ts";
import { isObject, textOf } from "./prompt-json.ts";

/** The longest texts that a request to people takes, in code points (spec/a2h 5.1). */
const MOST_TITLE = 75;
const MOST_DESCRIPTION = 500;
const MOST_WORDS = 40_000;
const MOST_OPTIONS = 25;

/**
 * Returns the questions of an agent's tool that asks its user. They are unclear where they are not as they are known to
 * be, where two have the same words, by which agents tell answers apart, or where people could not tell options apart.
 * `several` is the agent's name of the member that says that several options may be chosen.
 */
export function questionsIn(questions: unknown, several: string): PromptQuestion[] | Unclear {
  if (!Array.isArray(questions) || questions.length === 0) return "unclear";
  const read = questions.map((one: unknown) => questionIn(one, several));
  const understood = read.filter((one) => one !== null);
  const areAlike = new Set(understood.map(({ question }) => question)).size < questions.length;
  return areAlike || understood.some((one) => !isClear(one)) ? "unclear" : understood;
}

function questionIn(one: unknown, several: string): PromptQuestion | null {
  if (!isObject(one) || typeof one["question"] !== "string") return null;
  const options = one["options"] ?? [];
  if (!Array.isArray(options)) return null;
  const read = options.map((option: unknown) => {
    const label = isObject(option) ? textOf(option["label"]) : undefined;
    if (!isObject(option) || !label) return null;
    return { label, description: textOf(option["description"]) ?? "", preview: textOf(option["preview"]) ?? "" };
  });
  const understood = read.filter((option) => option !== null);
  if (understood.length < read.length) return null;
  const { question } = one;
  return { question, header: textOf(one["header"]) ?? "", multiSelect: one[several] === true, options: understood };
}

/** True where people can tell the options apart, and words can name each. */
function isClear(question: PromptQuestion): boolean {
  const labels = question.options.map(({ label }) => foldedLabel(oneLine(label)));
  const areDifferent = new Set(labels).size === labels.length && !labels.includes("");
  return areDifferent && labels.length <= MOST_OPTIONS && lengthOf(wordsOf(question)) <= MOST_WORDS;
}

/**
 * Returns what people are asked, as members of the spec of a human contact. Several may be chosen in words on every
 * channel; a press on one opens an editor that holds it, for others to be added.
 */
export function contactOf(question: PromptQuestion): object {
  const { header, multiSelect, options } = question;
  const titles = titlesOf(question);
  // A label with a comma within could be read as several.
  const fills = titles.some((title) => /[,;\n]/.test(title)) ? titles.map((_, n) => `#${n + 1}`) : titles;
  return {
    msg: wordsOf(question),
    subject: [...oneLine(header || question.question)].slice(0, 200).join(""),
    response_options: options.map(({ description }, n) => ({
      name: nameOf(n),
      title: titles[n],
      ...(lengthOf(description) <= MOST_DESCRIPTION && { description }),
      ...(multiSelect && { interactive: true, prompt_fill: fills[n] }),
    })),
  };
}

/** Returns the words of a question. They hold whatever does not fit beside a button, so that nothing is cut off. */
function wordsOf({ question, multiSelect, options }: PromptQuestion): string {
  const hint = "Several may be chosen: name them or their numbers, separated by commas, such as #1, #2.";
  const details = options.flatMap((option, n) => {
    const { label, description, preview } = option;
    const isLong = !fitsButton(option);
    const parts = [isLong ? description : "", preview === "" ? "" : fenced(preview)].filter((part) => part !== "");
    return isLong || parts.length > 0 ? [[`#${n + 1} ${label}`, ...parts].join("\n")] : [];
  });
  return [question, ...details, ...(multiSelect && options.length > 0 ? [hint] : [])].join("\n\n");
}

function fitsButton({ label, description }: PromptQuestion["options"][number]): boolean {
  return lengthOf(oneLine(label)) <= MOST_TITLE && lengthOf(description) <= MOST_DESCRIPTION;
}

/** A fence longer than any in the text, so that the text cannot close it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** Returns the labels of the buttons. One that is too long has the number under which its whole words stand. */
function titlesOf({ options }: PromptQuestion): string[] {
  return options.map((option, n) => {
    const label = oneLine(option.label);
    if (fitsButton(option)) return label;
    const start = `#${n + 1} `;
    const room = MOST_TITLE - start.length;
    const cut = [...label];
    return start + (cut.length <= room ? label : `${cut.slice(0, room - 1).join("")}…`);
  });
}

/** Returns the chosen labels by their place among the options, or the words of an answer that chooses none. */
export function chosenIn(
  question: PromptQuestion,
  { response = "", response_option_name: chosen }: { response?: string; response_option_name?: string },
): string[] {
  const { multiSelect, options } = question;
  const pressed = options.flatMap(({ label }, n) => (nameOf(n) === chosen ? [label] : []));
  if (!multiSelect) return pressed.length > 0 ? pressed : [withoutSteering(response)].filter((words) => words !== "");
  const titles = titlesOf(question);
  const named = chosenLabels(response, titles).map((words) => {
    const place = titles.indexOf(words);
    return options[place]?.label ?? withoutSteering(words);
  });
  return [...new Set([...pressed, ...named])];
}

function nameOf(place: number): string {
  return `option_${place + 1}`;
}

function lengthOf(text: string): number {
  return [...text].length;
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, " ")).trim();
}
