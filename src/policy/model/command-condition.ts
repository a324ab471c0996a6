import { anyCommand, everyCommand } from "../../lib/shell/command-pattern.ts";
import { readShellLine } from "../../lib/shell/read-line.ts";
import type { ShellLine } from "../../lib/shell/shell-line.ts";
import type { Answer } from "./argument-conditions.ts";
import type { ArgumentValue } from "./call-arguments.ts";

/** The line of `when` or `unless` about the command of a call, or of an ask: patterns such as `git log *` (spec/relay 8). */
export interface CommandCondition {
  input: "command";
  patterns: readonly string[];
}

/** Where agents put the command itself: a line for a shell, or the words of one program. */
const COMMANDS = ["command", "cmd"];
/** Where they name the folder in which it runs; it must be the folder of the prompt, which is `cwd`. */
const FOLDERS = "tool_cwd workdir working_directory workingDirectory directory dir_path".split(" ");
/** Members that change nothing of what runs. */
const HARMLESS = new Set(
  (
    "cwd description explanation justification title " + "timeout timeout_ms timeoutMs run_in_background is_background"
  ).split(" "),
);

/**
 * Returns whether the patterns cover a command: true if each of its programs is covered, false if certainly none is, and
 * null otherwise. Arguments that hold no command, or a member that may change what runs, leave the answer open.
 */
export function judgeCommand({ patterns }: CommandCondition, command: ArgumentValue | undefined): Answer {
  const line = lineOf(command);
  if (line === null) return null;
  if (everyCommand(patterns, line)) return true;
  return anyCommand(patterns, line) ? null : false;
}

/** Returns the command of these arguments, or undefined where they have none that is certain. */
export function commandOf(root: ArgumentValue | undefined): ArgumentValue | undefined {
  if (!(root instanceof Map)) return undefined;
  const members = root as ReadonlyMap<string, ArgumentValue>;
  const [name, another] = COMMANDS.filter((one) => members.has(one));
  if (name === undefined || another !== undefined) return undefined;
  const isPlain = [...members].every(([member, value]) => {
    if (member === name || HARMLESS.has(member)) return true;
    return FOLDERS.includes(member) && typeof value === "string" && value === members.get("cwd");
  });
  return isPlain ? members.get(name) : undefined;
}

/** An agent that starts programs without a shell starts one for a line. */
const SHELL = /^(?:(?:\/usr)?\/bin\/)?(?:ba|z)?sh$/;

function lineOf(command: ArgumentValue | undefined): ShellLine | null {
  if (typeof command === "string") return readShellLine(command);
  if (!Array.isArray(command) || command.length === 0) return null;
  const words = (command as readonly ArgumentValue[]).flatMap((word) => (typeof word === "string" ? [word] : []));
  if (words.length < command.length) return null;
  const [shell = "", option = "", line = "", ...more] = words;
  if (SHELL.test(shell) && /^-l?c$/.test(option) && words.length > 2 && more.length === 0) return readShellLine(line);
  // The words of one program, which no shell reads, are a line in which each is quoted.
  return readShellLine(words.map((word) => `'${word.replaceAll("'", `'"'"'`)}'`).join(" "));
}
