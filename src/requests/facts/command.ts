import { forEachChild, parse, type Command, type Redirection, type SyntaxNode, type Word } from "unbash";
import { CHOOSES_PROGRAM, SHELLS, UNJUDGED, setsProgram } from "../../lib/shell/changed-meaning.ts";
import { scriptOf } from "../../lib/shell/shell-script.ts";
import type { CommandWord, SimpleCommand } from "../../lib/shell/simple-command.ts";
import { runsCode } from "../../lib/shell/program-code.ts";
import { unwrapped } from "../../lib/shell/wrappers.ts";

/** Nobody reads more in one line; a parser needs longer for each level within another. */
const LONGEST_COMMAND = 10_000;
const MOST_COMMANDS = 200;
const MOST_LEVELS = 40;
/** Lines within words of other lines, as of `bash -c`. */
const MOST_WITHIN = 4;
/** `$(`, `${`, `<(`, `((` and backquotes. */
const OPENS_LEVEL = /[$<>(]\(|\$\{|`/g;
/** Behind `((`; one shell reads a sum where another one reads commands in two pairs of brackets. */
const STARTS_AS_SUM = /^(?:\s*[\w$]+\s*[-+*\/%<>=!&|^~?:,[\]]+)*\s*(?:\w+\s*\)\)|\$[({]|\()/;
/** Characters that a person does not see, and that a shell takes as a part of a word. */
const UNSEEN = /[^\P{C}\n\t]|[\u2028\u2029]/u;
/**
 * Reads which programs a command runs: a line for a shell, or a list of words as a program is started with, such as
 * `["bash", "-lc", "npm test"]`. Programs within substitutions, functions, loops, and behind `sudo`, `env`, `xargs` or
 * `find -exec` count. Returns null if it cannot tell every one of them: it understands too little rather than too much.
 * It never throws.
 */
export function readCommand(command: string | readonly string[]): SimpleCommand[] | null {
  return typeof command === "string" ? readLine(command, 0) : readWords(command, 0);
}

function readWords(words: readonly string[], within: number): SimpleCommand[] | null {
  const [program, ...rest] = words.map((text) => ({ text, isExact: true }));
  if (program === undefined || words.some((word) => word.length > LONGEST_COMMAND || UNSEEN.test(program.text)))
    return null;
  return resolved({ program: program.text, words: rest, redirects: [], sets: [], hasInput: false }, within);
}

function readLine(line: string, within: number): SimpleCommand[] | null {
  if (line.length > LONGEST_COMMAND || UNSEEN.test(line) || within > MOST_WITHIN) return null;
  if ((line.match(OPENS_LEVEL)?.length ?? 0) > MOST_LEVELS) return null;
  if (
    line
      .split("((")
      .slice(1)
      .some((rest) => !STARTS_AS_SUM.test(rest))
  )
    return null;
  try {
    const script = parse(line);
    return (script.errors?.length ?? 0) > 0 ? null : readScript(script, line, within);
  } catch {
    return null;
  }
}

function readScript(script: SyntaxNode, line: string, within: number): SimpleCommand[] | null {
  const commands: SimpleCommand[] = [];
  const functions = new Set<string>();
  let isJudged = true;
  const read = (node: SyntaxNode, hasInput: boolean) => {
    if (!isJudged || commands.length > MOST_COMMANDS || isUncertain(node, line)) {
      isJudged = false;
      return;
    }
    if (node.type === "Function") functions.add(node.name.value);
    if (node.type === "Command") {
      const all = simple(node, hasInput, within);
      if (all === null) isJudged = false;
      else commands.push(...all);
    }
    const isPipe = node.type === "Pipeline";
    forEachChild(node, (child) => {
      read(child, node.type === "Script" ? false : isPipe ? hasInput || child !== node.commands[0] : hasInput);
    });
  };
  read(script, false);
  // The name may be that of a program, which runs where the function is not yet known.
  const isHidden = commands.some(({ program }) => functions.has(program));
  return isJudged && commands.length <= MOST_COMMANDS && !isHidden ? commands : null;
}

/** A shell evaluates these once more: the text of a variable, or of a subscript within quotes, may run a command. */
function isUncertain(node: SyntaxNode, line: string): boolean {
  if (node.type === "Coproc") return true;
  if (node.type === "ParameterExpansion") return node.prefix === "!" || node.operation?.type === "Transform";
  const evaluates = node.type.startsWith("Arithmetic") || node.type === "TestUnary" || node.type === "TestBinary";
  return evaluates && line.includes("[") && /['\\]/.test(line) && (line.includes("$(") || line.includes("`"));
}

function simple(node: Command, hasPipe: boolean, within: number): SimpleCommand[] | null {
  const assigned = [...node.prefix, ...node.suffix].flatMap((one) => (one.type === "Assignment" ? [one.name] : []));
  if (assigned.some((name) => CHOOSES_PROGRAM.test(name))) return null;
  const all = node.redirects.map((one) => ({ operator: one.operator, path: pathOf(one) }));
  if (node.redirects.some((one) => one.type === "Redirect" && one.target === undefined)) return null;
  // A line of nothing but redirections or assignments runs no program.
  const program = node.name === undefined ? { text: "", isExact: true } : wordOf(node.name);
  if (!program.isExact) return null;
  const words = node.args.map((one) => (one.type === "Word" ? wordOf(one) : { text: one.text, isExact: false }));
  const hasInput = hasPipe || all.some(({ operator }) => operator.startsWith("<"));
  return resolved({ program: program.text, words, redirects: all, sets: assigned, hasInput }, within);
}

function pathOf(one: Redirection): CommandWord | null {
  if (one.type !== "Redirect" || one.target === undefined) return null;
  const isDescriptor = /^[<>]&$/.test(one.operator) && /^(?:\d+|-)$/.test(one.target.text);
  return isDescriptor ? null : wordOf(one.target);
}

function wordOf(word: Word): CommandWord {
  const parts = word.parts ?? [];
  const isLiteral = ({ type, ...part }: (typeof parts)[number]): boolean =>
    type === "DoubleQuoted" && "parts" in part
      ? (part.parts ?? []).every((inner) => inner.type === "Literal")
      : ["Literal", "SingleQuoted", "AnsiCQuoted"].includes(type);
  const isExact = parts.every(isLiteral) && !/^~|[=:]~/.test(word.text);
  return { text: word.value, isExact };
}

/** The command itself, with those that it runs by its words. */
function resolved(command: SimpleCommand, within: number): SimpleCommand[] | null {
  const { program, words } = command;
  if (within > MOST_WITHIN || UNJUDGED.has(program)) return null;
  const base = program.slice(program.lastIndexOf("/") + 1);
  if (SHELLS.has(base)) return shellOf(command, within);
  if (setsProgram(command) || runsCode({ ...command, program: base })) return null;
  const inner = unwrapped(base, words);
  if (inner === null) return null;
  if (inner === "itself") return [command];
  const commands = [command];
  for (const one of inner) {
    const [first, ...rest] = one.words;
    const more =
      one.line !== undefined
        ? readLine(one.line, within + 1)
        : first?.isExact === true
          ? resolved(
              { program: first.text, words: rest, redirects: [], sets: one.sets ?? [], hasInput: command.hasInput },
              within + 1,
            )
          : null;
    if (more === null || (one.sets ?? []).some((name) => CHOOSES_PROGRAM.test(name))) return null;
    commands.push(...more);
  }
  return commands;
}

/** `bash -lc LINE`, or a script of a file; a shell that reads its line from elsewhere runs anything. */
function shellOf(command: SimpleCommand, within: number): SimpleCommand[] | null {
  const script = scriptOf(command.words);
  if (script === null || script === "file") return script === null ? null : [command];
  const inner = readLine(script.line, within + 1);
  return inner === null ? null : [command, ...inner];
}
