import { runsCode } from "../../lib/shell/program-code.ts";
import { readShellLine } from "../../lib/shell/read-line.ts";
import type { ShellCommand } from "../../lib/shell/shell-line.ts";
import type { SimpleCommand } from "../../lib/shell/simple-command.ts";
import { startedCommands } from "../../lib/shell/started-commands.ts";

/** Nobody reads more in one line. */
const LONGEST_COMMAND = 10_000;
/** Characters that a person does not see, and that a program takes as a part of its name. */
const UNSEEN = /[^\P{C}\n\t]|[\u2028\u2029]/u;

/**
 * Reads which programs a command runs: a line for a shell, or a list of words as a program is started with, such as
 * `["bash", "-lc", "npm test"]`. Programs within substitutions, loops, and behind `sudo`, `env`, `xargs` or `find -exec`
 * count. Returns null if it cannot tell every one of them: it understands too little rather than too much. It never
 * throws.
 */
export function readCommand(command: string | readonly string[]): SimpleCommand[] | null {
  if (typeof command !== "string") return readWords(command);
  const line = command.length > LONGEST_COMMAND ? null : readShellLine(command);
  if (line?.kind !== "read") return null;
  return allStarted(line.commands.filter(({ program }) => program !== "[[").map(withoutDescriptors));
}

function readWords(texts: readonly string[]): SimpleCommand[] | null {
  const [program, ...words] = texts.map((text) => ({ text, isExact: true }));
  const isLong = texts.some((text) => text.length > LONGEST_COMMAND);
  if (program === undefined || isLong || UNSEEN.test(program.text)) return null;
  return allStarted([{ program: program.text, words, redirects: [], sets: [], hasInput: false }]);
}

/** Returns these commands with those that they start; null where one is not certain, or runs code of another language. */
function allStarted(commands: readonly SimpleCommand[]): SimpleCommand[] | null {
  const all = commands.flatMap((one): readonly (SimpleCommand | null)[] =>
    one.program === "" ? [one] : (startedCommands(one) ?? [null]),
  );
  const isCertain = (one: SimpleCommand | null): one is SimpleCommand => one !== null && !isCode(one);
  return all.every(isCertain) ? all : null;
}

function isCode(command: SimpleCommand): boolean {
  const program = command.program.slice(command.program.lastIndexOf("/") + 1);
  return runsCode({ ...command, program });
}

/** An output that goes where the other one goes is written to no file. */
function withoutDescriptors(command: ShellCommand): SimpleCommand {
  const redirects = command.redirects.map(({ operator, path }) => {
    const isDescriptor = /^[<>]&$/.test(operator) && /^(?:\d+|-)$/.test(path.text);
    return { operator, path: isDescriptor || operator.startsWith("<<") ? null : path };
  });
  return { ...command, redirects };
}
