import { isFlag, type Taken, takenIn } from "../arguments.ts";
import { commandIn, type Commands } from "../command.ts";

/** A word that may stand where somebody is typing, and what it does; that is empty where the word says it. */
export interface Offered {
  word: string;
  does: string;
}

const HELP_FLAG = "--help";

/**
 * Returns the words that may stand in the place of the last one, which may be empty or half typed: commands, flags of
 * the command, and what a flag or an argument takes where that is a list. Nothing where anything else may stand, such
 * as a file: shells offer files then.
 */
export async function offeredWords(words: readonly string[], commands: Commands): Promise<Offered[]> {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const offered = await offeredAfter(before, { typed, commands });
  return offered.filter(({ word }) => word.startsWith(typed));
}

async function offeredAfter(
  before: readonly string[],
  { typed, commands }: { typed: string; commands: Commands },
): Promise<Offered[]> {
  // The words after `--` belong to another program.
  if (before.includes("--")) return [];
  if (before[0] === "help") return nextWords(before.slice(1), commands);
  const name = commandIn(before, commands);
  const command = name === undefined ? undefined : await commands.get(name)?.load();
  if (name === undefined || !command)
    return before.some(isDashed) ? [] : [...nextWords(before, commands), ...helpWord(before)];

  const rest = before.slice(name.split(" ").length);
  const taken = takenIn(command.takes);
  const valueOf = (word = "") => taken.find((one) => one.kind === "value" && one.name === word);
  const flag = valueOf(rest.at(-1));
  if (flag) return choicesOf(flag);
  if (isDashed(typed)) return offeredFlags(taken);
  const isFirstWord = rest.every((word, i) => isDashed(word) || valueOf(rest[i - 1]) !== undefined);
  return [
    ...(rest.length === 0 ? nextWords(before, commands) : []),
    ...(isFirstWord ? choicesOf(taken.find(({ kind }) => kind === "word")) : []),
  ];
}

/** Commands of two words are offered word by word. */
function nextWords(before: readonly string[], commands: Commands): Offered[] {
  const place = before.length;
  const listed = [...commands].filter(([name]) => {
    const parts = name.split(" ");
    return parts.length > place && before.every((word, i) => word === parts[i]);
  });
  const byWord = Map.groupBy(listed, ([name]) => name.split(" ")[place] ?? "");
  return [...byWord].map(([word, those]) => {
    const own = those.find(([name]) => name.split(" ").length === place + 1);
    const does = (own ?? (those.length === 1 ? those[0] : undefined))?.[1].does.split(";")[0];
    return { word, does: does ?? those.map(([name]) => name.split(" ").at(-1)).join(", ") };
  });
}

const helpWord = (before: readonly string[]): Offered[] =>
  before.length === 0 ? [{ word: "help", does: "say what a command does" }] : [];

function offeredFlags(taken: readonly Taken[]): Offered[] {
  const flags = taken.filter(isFlag).map(({ name, help }) => ({ word: name, does: help }));
  return [...flags, { word: HELP_FLAG, does: "say what this command takes" }];
}

const choicesOf = ({ choices = [] }: Partial<Taken> = {}): Offered[] => choices.map((word) => ({ word, does: "" }));

const isDashed = (word: string) => word.startsWith("-");
