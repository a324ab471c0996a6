import { keepResults } from "../../lib/kept-results.ts";
import { anyCommand, everyCommand } from "../../lib/shell/command-pattern.ts";
import { readShellLine } from "../../lib/shell/read-line.ts";
import type { ShellLine } from "../../lib/shell/shell-line.ts";
import type { SimpleCommand } from "../../lib/shell/simple-command.ts";
import type { Truth } from "./argument-conditions.ts";
import { type ArgumentValue, type CallArguments, NumberText } from "./call-arguments.ts";
import { isRootOrClimbs } from "./folder.ts";
import type { PolicyValue } from "./match.ts";

/** The line of `when` or `unless` about the command of a call, or of an ask: patterns such as `git log *` (spec/relay 8). */
export interface CommandCondition {
  input: "command";
  patterns: readonly string[];
}

/** The command of a call, and the folder in which it would run. */
export interface CommandOfCall {
  command: ArgumentValue;
  folder: string | null;
}

type Members = ReadonlyMap<string, ArgumentValue>;

/** Where agents put the command itself: a line for a shell, or the words of one program. */
const COMMANDS = ["command", "cmd"];
/** Where they name the folder in which it runs; it must be the folder of the prompt, which is `cwd`. */
const FOLDERS = "tool_cwd workdir working_directory workingDirectory directory dir_path".split(" ");
const WRAPPED = new Set(["input", "patterns", "cwd"]);
/** Members that change nothing of what runs. */
const HARMLESS = new Set(
  "cwd description explanation justification title timeout timeout_ms timeoutMs run_in_background is_background".split(
    " ",
  ),
);

/**
 * Returns whether the patterns cover a command: true if each of its programs is covered, false if certainly none is, and
 * null otherwise. Arguments that hold no command, or a member that may change what runs, leave the answer open.
 */
export function judgeCommand(condition: CommandCondition, line: ShellLine | null): Truth {
  if (coversCommand(condition, line)) return true;
  return line === null || anyCommand(condition.patterns, line) ? null : false;
}

/** Returns whether the patterns certainly cover a command. */
export function coversCommand({ patterns }: CommandCondition, line: ShellLine | null): boolean {
  return line !== null && everyCommand(patterns, line);
}

/** Returns the line of an input, or null where that is not certain. An executor names the command of an ask as its resource. */
export function lineIn(input: {
  fn: PolicyValue;
  action: PolicyValue;
  resource: PolicyValue;
  args?: CallArguments;
}): ShellLine | null {
  const { fn, action, resource, args } = input;
  if (fn === null && action === "execute")
    return typeof resource === "string" ? lineOf({ command: resource, folder: null }) : null;
  if (args === undefined) return null;
  let line = LINES.get(args);
  if (line === undefined) {
    const called = commandOf(args.root);
    LINES.set(args, (line = called ? lineOf(called) : null));
  }
  return line;
}

/** Every rule of a policy looks at the same arguments. */
const LINES = new WeakMap<CallArguments, ShellLine | null>();

/** Returns the command of these arguments, or undefined where they have none that is certain. */
export function commandOf(root: ArgumentValue | undefined): CommandOfCall | undefined {
  if (!(root instanceof Map)) return undefined;
  const members = inputOf(root as Members);
  const [name, another] = COMMANDS.filter((one) => members.has(one));
  if (name === undefined || another !== undefined) return undefined;
  const isPlain = [...members].every(([member, value]) => {
    if (member === name || HARMLESS.has(member)) return true;
    return FOLDERS.includes(member) && (value === "." || value === members.get("cwd"));
  });
  const [command, folder] = [members.get(name), members.get("cwd")];
  return isPlain && command !== undefined ? { command, folder: typeof folder === "string" ? folder : null } : undefined;
}

/** Whether arguments name a command, be it certain or not; one word may be what a tool for files is to do. */
export function namesCommand(root: Members): boolean {
  const members = inputOf(root);
  const named = COMMANDS.flatMap((name) => members.get(name) ?? []);
  return named.some((value) => typeof value !== "string" || !/^\w+$/.test(value));
}

/**
 * Returns the input of a tool that opencode shows beside patterns of its own, and of which it repeats members there: with
 * the same name and value they change nothing. Of other arguments returns all. Texts in `beside` may stand there too.
 */
export function inputOf(members: Members, beside: ReadonlySet<string> = new Set()): Members {
  const input = members.get("input");
  if (!(input instanceof Map)) return members;
  const inner = input as Members;
  const isWrapping = ([name, value]: [string, ArgumentValue]) =>
    WRAPPED.has(name) || (typeof value === "string" && beside.has(name)) || isSame(value, inner.get(name));
  if (![...members].every(isWrapping)) return members;
  const folder = members.get("cwd");
  return folder === undefined ? inner : new Map([...inner, ["cwd", folder], ["tool_cwd", inner.get("cwd") ?? folder]]);
}

/** Lists and blocks are not compared. */
function isSame(value: ArgumentValue, other: ArgumentValue | undefined): boolean {
  return value instanceof NumberText ? other instanceof NumberText && value.text === other.text : value === other;
}

/** Every rule of a policy looks at the same line. */
const readLine = keepResults(20, readShellLine);

/** An agent that starts programs without a shell starts one for a line. */
const SHELL = /^(?:(?:\/usr)?\/bin\/)?(?:ba|z)?sh$/;

/** Returns the line that a command runs, as it is read; null where the arguments hold none. */
export function lineOf({ command, folder }: CommandOfCall): ShellLine | null {
  const line = readCommand(command);
  if (line?.kind !== "read") return line;
  const isMove = ({ program }: SimpleCommand) => program === "cd";
  const stays = ({ words: [to, ...more], redirects, sets }: SimpleCommand) =>
    to?.isExact === true &&
    more.length + redirects.length + sets.length === 0 &&
    (to.text === "." || to.text === folder);
  // A line that begins by going where it is, as agents write it, goes nowhere.
  const isThere = line.commands.filter(isMove).every(stays);
  const commands = isThere ? line.commands.filter((one) => !isMove(one)) : line.commands;
  return { ...line, commands, ...(folder !== null && isRootOrClimbs(folder) && { isAtRoot: true }) };
}

function readCommand(command: ArgumentValue): ShellLine | null {
  if (typeof command === "string") return readLine(command);
  if (!Array.isArray(command) || command.length === 0) return null;
  const words = (command as readonly ArgumentValue[]).flatMap((word) => (typeof word === "string" ? [word] : []));
  if (words.length < command.length) return null;
  const [shell = "", option = "", line = "", ...more] = words;
  if (SHELL.test(shell) && /^-l?c$/.test(option) && words.length > 2 && more.length === 0) return readLine(line);
  // The words of one program, which no shell reads, are a line in which each is quoted.
  return readLine(words.map((word) => `'${word.replaceAll("'", `'"'"'`)}'`).join(" "));
}
