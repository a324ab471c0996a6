import { changesMeaning, CHOOSES_PROGRAM, SHELLS, setsProgram } from "./changed-meaning.ts";
import { readShellLine } from "./read-line.ts";
import { scriptOf } from "./shell-script.ts";
import type { SimpleCommand } from "./simple-command.ts";
import { unwrapped } from "./wrappers.ts";

/** Commands within words of other commands, as of `sudo bash -c`. */
const MOST_WITHIN = 4;

/**
 * A command, and those that it starts by its words: `sudo git log` starts `git log`, and `bash -c LINE` each command of
 * the line. Null if they are not certain. Code of another language is not read, and neither is the script of a file.
 */
export function startedCommands(command: SimpleCommand): readonly SimpleCommand[] | null {
  let found = STARTED.get(command);
  if (found === undefined) STARTED.set(command, (found = startedWithin(command, 0)));
  return found;
}

/** Every rule of a policy asks of the same commands. */
const STARTED = new WeakMap<SimpleCommand, readonly SimpleCommand[] | null>();

function startedWithin(command: SimpleCommand, within: number): SimpleCommand[] | null {
  const { program, words, hasInput } = command;
  if (within > MOST_WITHIN || changesMeaning(command) || setsProgram(command)) return null;
  const base = program.slice(program.lastIndexOf("/") + 1);
  if (SHELLS.has(base)) {
    const script = scriptOf(words);
    return script === null ? null : script === "file" ? [command] : withLine(command, script.line, within);
  }
  const started = unwrapped(base, words);
  if (started === null || started === "itself") return started === null ? null : [command];
  let all: SimpleCommand[] | null = [command];
  for (const {
    words: [first, ...rest],
    line,
    sets = [],
  } of started) {
    if (all === null || sets.some((name) => CHOOSES_PROGRAM.test(name))) return null;
    const inner =
      line !== undefined
        ? withLine({ ...command, sets }, line, within)?.slice(1)
        : first?.isExact === true
          ? startedWithin({ program: first.text, words: rest, redirects: [], sets, hasInput }, within + 1)
          : null;
    all = inner ? [...all, ...inner] : null;
  }
  return all;
}

function withLine(command: SimpleCommand, line: string, within: number): SimpleCommand[] | null {
  const read = readShellLine(line);
  if (read.kind === "unread") return null;
  const inner = read.commands.map((one) => startedWithin(one, within + 1));
  return inner.some((one) => one === null) ? null : [command, ...inner.flatMap((one) => one ?? [])];
}
