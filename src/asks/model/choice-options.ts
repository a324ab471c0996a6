import type { ChoiceOption } from "./ask.ts";
import { normalPrompt } from "./decision-key.ts";

const FEWEST = 2;
const MOST = 20;
/** Three ways to write a list, the likeliest first: dashes below numbered lines say more about those. */
const LISTS = [/^([ \t]*)\d{1,2}\.[ \t]+(\S.*)$/, /^([ \t]*)[a-z]\)[ \t]+(\S.*)$/i, /^([ \t]*)-[ \t]+(\S.*)$/];
const MARKER = /^(?:\d{1,2}\.|[a-z]\)|-)[ \t]+/i;

/**
 * Returns the answers that a CHOICE may have: `meta.options`, else the lines of a list in its prompt (`1.`, `a)`, `-`),
 * else none, which means that any text is an answer (spec/relay 7).
 *
 * A list that says one thing twice, or has fewer than 2 or more than 20 lines, is no list of options.
 */
export function choiceOptionsOf(ask: {
  prompt: string;
  meta: Readonly<Record<string, unknown>>;
}): readonly ChoiceOption[] {
  const given = Object.hasOwn(ask.meta, "options") ? readOptions(ask.meta["options"]) : null;
  return given ?? listedIn(normalPrompt(ask.prompt));
}

/** Returns `meta.options` as options, or nothing where it is not 2 to 20 different labels. */
export function readOptions(value: unknown): readonly ChoiceOption[] | null {
  if (!Array.isArray(value)) return null;
  const options = value.map(readOption);
  const whole = options.filter((option) => option !== null);
  return whole.length === options.length && areUsable(whole) ? whole : null;
}

/** The answer to a CHOICE, as every answerer's is recorded: the label, and in JSON the id or label with its place. */
export interface Chosen {
  text: string;
  json: { choice: string; index: number };
}

/** Returns the answer that names the option at `index`, counted from 0. */
export function chosenAt(options: readonly ChoiceOption[], index: number): Chosen | null {
  const option = options[index];
  return option ? { text: option.label, json: { choice: option.id ?? option.label, index } } : null;
}

/**
 * Returns the answer that names the option which a text means: its id, else its label, else either of them in another
 * case, or with the list's marker still before it. Nothing if the text fits no option, or more than one.
 */
export function chosenBy(options: readonly ChoiceOption[], words: string): Chosen | null {
  const trimmed = words.trim();
  const ways: ((option: ChoiceOption) => boolean)[] = [
    ({ id }) => id === trimmed,
    ({ label }) => label === trimmed,
    ({ id, label }) => [id, label].some((one) => one !== undefined && flat(one) === flat(trimmed)),
    ({ label }) => MARKER.test(trimmed) && flat(label) === flat(trimmed.replace(MARKER, "")),
  ];
  for (const way of ways) {
    const found = options.flatMap((option, index) => (way(option) ? [index] : []));
    const [index] = found;
    if (index !== undefined) return found.length === 1 ? chosenAt(options, index) : null;
  }
  return null;
}

function readOption(value: unknown): ChoiceOption | null {
  if (typeof value === "string") return value.trim() === "" ? null : { label: value.trim() };
  if (typeof value !== "object" || value === null) return null;
  const { id, label } = value as { id?: unknown; label?: unknown };
  if (typeof label !== "string" || label.trim() === "") return null;
  if (id === undefined || id === null) return { label: label.trim() };
  return typeof id === "string" && id.trim() !== "" ? { id: id.trim(), label: label.trim() } : null;
}

function listedIn(prompt: string): readonly ChoiceOption[] {
  const lines = prompt.split(/\r\n|\r|\n/);
  for (const list of LISTS) {
    const items = lines.flatMap((line) => {
      const [, indent, label] = list.exec(line.trimEnd()) ?? [];
      return indent === undefined || label === undefined ? [] : [{ indent, label }];
    });
    // A line that is indented more than the first one continues the line above it.
    const options = items.filter(({ indent }) => indent === items[0]?.indent).map(({ label }) => ({ label }));
    if (areUsable(options)) return options;
  }
  return [];
}

function areUsable(options: readonly ChoiceOption[]): boolean {
  const names = new Set(options.map(({ id, label }) => id ?? label));
  const labels = new Set(options.map(({ label }) => label));
  const isCounted = options.length >= FEWEST && options.length <= MOST;
  return isCounted && names.size === options.length && labels.size === options.length;
}

function flat(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
}
