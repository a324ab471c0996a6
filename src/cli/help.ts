import { durationText } from "../lib/duration.ts";
import { nearest } from "../lib/nearest.ts";
import { alternativesIn, isFlag, takenIn } from "./arguments.ts";
import type { Command } from "./command.ts";
import { COMMAND_GROUPS, COMMANDS, FIRST_COMMANDS, OTHER_WORDS } from "./commands.ts";

const TITLE = "Parley, the line between agents and people.";
const NAMES = [...COMMANDS.keys()];

/** Returns what there is to know at first: ten commands. */
export function firstHelp(): string[] {
  return [
    TITLE,
    ...listed(FIRST_COMMANDS),
    "",
    "parley help COMMAND says more, with an example; parley help --all lists every command.",
  ];
}

/** Returns every command, by what it is for. */
export function wholeHelp(): string[] {
  const groups = Object.entries(COMMAND_GROUPS).map(([title, group]) => [title, Object.keys(group)] as const);
  return [TITLE, ...listed(Object.fromEntries(groups)), "", "parley help COMMAND says more, with an example."];
}

/** Returns the commands that begin with this word; none where it begins no other. */
export function commandsUnder(word: string): string[] {
  const names = NAMES.filter((name) => name === word || name.startsWith(`${word} `));
  return names.some((name) => name !== word) ? names.map(line) : [];
}

/** Returns the usage line of a command after its name: words, flags, and the words after `--`. */
export function usageOf({ takes }: Pick<Command, "takes">): string {
  const taken = takenIn(takes);
  const forms = Object.keys(takes).filter((_, i) => taken[i] && !isFlag(taken[i]));
  const flags = alternativesIn(taken).map((group) => {
    const shown = group.map((one) => one.shown).join(" | ");
    const [{ isOptional, isMany } = { isOptional: true, isMany: false }] = group;
    return `${isOptional ? `[${shown}]` : group.length > 1 ? `(${shown})` : shown}${isMany ? "..." : ""}`;
  });
  const isRest = (form: string) => form.includes("-- ");
  return [...forms.filter((form) => !isRest(form)), ...flags, ...forms.filter(isRest)].join(" ");
}

/** Returns each word and flag of which there is something to say, with its help. */
export function helpRows({ takes }: Pick<Command, "takes">): [shown: string, help: string][] {
  return takenIn(takes).flatMap(({ shown, help }) => (help === "" ? [] : [[shown, help]]));
}

/** Returns what one command takes, and which others begin with its name. */
export function commandHelp(name: string, command: Command): string[] {
  const does = COMMANDS.get(name)?.does ?? "";
  const others = NAMES.filter((other) => other.startsWith(`${name} `)).map(line);
  const rows = helpRows(command);
  const width = Math.max(...rows.map(([shown]) => shown.length));
  return [
    `parley ${name} ${usageOf(command)}`,
    "",
    `${does[0]?.toUpperCase()}${does.slice(1)}.`,
    "",
    ...rows.map(([shown, help]) => `  ${shown.padEnd(width)}  ${help}`),
    "",
    `Example: ${command.example}`,
    ...(others.length > 0 ? ["", ...others] : []),
  ];
}

/** Returns the error for words that are no command, with a suggestion. */
export function noSuchCommand(words: readonly string[]): string[] {
  const [first = ""] = words;
  const both = words.slice(0, 2).join(" ");
  const groups = [...new Set(NAMES.map((name) => name.split(" ")[0] ?? ""))];
  const isGroup = groups.includes(first);
  const suggestion =
    nearest(both, NAMES) ??
    (Object.hasOwn(OTHER_WORDS, first) ? OTHER_WORDS[first] : isGroup ? undefined : nearest(first, groups));
  const typed = isGroup ? both : first;
  return [
    `parley: there is no command "${typed}"${suggestion === undefined ? "" : `; "${suggestion}" is meant, perhaps`}.`,
    "parley help lists the commands.",
  ];
}

/** Says what of a command line could not be read, by its flags and not by the words of whoever read it. */
export function misreadSentence(message: string, { takes }: Pick<Command, "takes">): string {
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  if (unknown !== undefined) {
    // Without their hyphens, of which each flag has two.
    const known = [...takenIn(takes).filter(isFlag), { name: "--help" }].map(({ name }) => name.slice(2));
    const suggestion = nearest(unknown.replace(/^-+/, ""), known);
    return `there is no flag ${unknown}${suggestion === undefined ? "" : `; --${suggestion} is meant, perhaps`}`;
  }
  const [, valueless] =
    /^Option '(?:-\w, )?(--[\w-]+)(?![\w-])[^']*' argument (?:missing|is ambiguous)/.exec(message) ?? [];
  if (valueless !== undefined) return `${valueless} needs a value`;
  const [, full] = /^Option '(?:-\w, )?(--[\w-]+)(?![\w-])[^']*' does not take an argument/.exec(message) ?? [];
  if (full !== undefined) return `${full} takes no value`;
  const [, extra] = /^Unexpected argument '([^']*)'/.exec(message) ?? [];
  return extra === undefined ? message : `"${extra}" is not expected here`;
}

/** Returns a refusal of the server with the flag in the place of the wire's name, and times as flags take them. */
export function inFlags(sentence: string, command: Pick<Command, "takes">): string {
  const [start = "", name = "", ...indexes] =
    /^([a-z_.]*[a-z_])(?:\[(\d+)\]\S*|\.(\d+)(?:\.\S+)?)?(?= )/.exec(sentence) ?? [];
  const flag = flagOf(name, command);
  if (flag === undefined) return sentence;
  const index = indexes.find((given) => given !== undefined);
  const words = sentence.slice(start.length);
  const isTime = /_s(econds)?$/.test(name);
  const rest = isTime ? words.replaceAll(/\d+/g, (seconds) => durationText(Number(seconds) * 1000)) : words;
  return `${index === undefined ? flag : `number ${Number(index) + 1} of ${flag}`}${rest}`;
}

/** Returns what the details of a refusal say of one field, in words that `inFlags` reads; undefined when they name none. */
export function fieldSentence({
  field,
  constraint,
  min,
  max,
  allowed,
}: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof field !== "string" || typeof constraint !== "string") return undefined;
  if (constraint === "required") return `${field} is missing`;
  if (Array.isArray(allowed)) return `${field} must be one of ${allowed.join(", ")}`;
  if (min === undefined && max === undefined)
    return constraint === "format" ? `${field} is not written as it must be` : `${field} is refused (${constraint})`;
  const unit = constraint === "length" ? " characters" : constraint === "count" ? " of them" : "";
  if (min === undefined) return `${field} must be at most ${max}${unit}`;
  return max === undefined
    ? `${field} must be at least ${min}${unit}`
    : `${field} must be between ${min} and ${max}${unit}`;
}

/** A name that is written as a flag or a word is that one. */
function flagOf(wireName: string, { takes }: Pick<Command, "takes">): string | undefined {
  const taken = takenIn(takes);
  const [flag, word] = [`--${wireName.replaceAll("_", "-")}`, wireName.toUpperCase()];
  const meant = taken.find(({ wire }) => wire?.includes(wireName));
  return (meant ?? taken.find(({ name }) => name === flag || name === word))?.name;
}

function listed(groups: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(groups).flatMap(([title, names]) => ["", `${title}:`, ...names.map(line)]);
}

/** The first part of what it does: its own help says the rest. */
function line(name: string): string {
  return `  parley ${name.padEnd(15)}  ${COMMANDS.get(name)?.does.split(";")[0] ?? ""}`;
}
