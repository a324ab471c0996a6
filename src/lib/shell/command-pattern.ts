import { keepResults } from "../kept-results.ts";
import { runsCode } from "./program-code.ts";
import type { ShellLine, ShellRedirect } from "./shell-line.ts";
import type { CommandWord, SimpleCommand } from "./simple-command.ts";
import { startedCommands } from "./started-commands.ts";
import { isUnknownOption, isWritingOption, passesOverGuard, writesSecond } from "./writing-options.ts";

/** A pattern has no quotes: its words have no blanks. */
const READS_OTHERWISE = /["'\\`$;&|<>()\n\r]/;
/** A folder above, from which a path leaves the folder that a pattern names, also behind options in one word. */
const CLIMBS = /(?:^(?:-[A-Za-z]+)?|[/=:,])\.\.(?:\/|$)/;
/** A path from the root, also behind options or the name of another computer; and a name with a dot in front. */
const LEAVES = /(?:^(?:-[A-Za-z]+)?|[=:,])\/|(?:^(?:-[A-Za-z]+)?|[/=:,])\.[^./]/;
const RESTS = "*";

/** Says why a text is no pattern of commands, as the end of a sentence; null for a pattern. */
export function patternProblem(pattern: string): string | null {
  const [program = ""] = wordsOf(pattern);
  if (program === "") return "has no program";
  if (program.includes("*")) return "has a * in the name of its program";
  if (READS_OTHERWISE.test(pattern)) return "holds a character that a shell does not take for itself";
  return null;
}

/**
 * Whether a pattern such as `git log *` allows a command. Its redirections and variables are not looked at.
 *
 * - The pattern is words with blanks between them. The first is the program, exactly as the command writes it: neither
 *   `/usr/bin/git` nor `Git` is `git`.
 * - Each other word matches the word in the same place. Both have the same characters; the quotes of the command do not
 *   count. A word that the shell expands, such as `$HOME` or `*.ts`, matches no word.
 * - `*` as the last word matches all further words, also none; but no path from the root, none with `..`, and no name
 *   with a dot in front.
 * - `*` elsewhere matches any characters of one word, also none and `/`. It does not match the `-` at the beginning of a
 *   word, a word with the folder `..`, nor the `@` or `\` of a word whose pattern has `://`. A whole word `*` takes no
 *   path that the last one does not take.
 * - `*` at the beginning of a word matches an option only of a program that is known to read, as `ls` and `git`.
 * - No `*` matches an option by which a program that reads is known to write a file or run a program, as `--output` of
 *   `git log` or `-delete` of `find`. No pattern with `*` allows a command that runs code of a word, as `python -c` and
 *   `git -c`; one without allows it unless the command also has input.
 * - No `*` matches an option that passes over a guard, as `git commit --no-verify`.
 * - A pattern with a `patternProblem` allows nothing.
 */
export function commandMatches(pattern: string, command: SimpleCommand): boolean {
  const { isPattern, program, patterns } = readPattern(pattern);
  if (!isPattern || command.program !== program) return false;
  const base = baseOf(program);
  const isOpen = patterns.at(-1) === RESTS;
  const fixed = isOpen ? patterns.slice(0, -1) : patterns;
  const { words } = command;
  if (isOpen ? words.length < fixed.length : words.length !== fixed.length) return false;
  const isStarred = (at: number) => fixed[at]?.includes("*") ?? true;
  const texts = words.map(({ text }) => text);
  if (pattern.includes("*") && (writesSecond(base, texts) || passesOverGuard(base, texts))) return false;
  const fits = words.every(
    ({ text, isExact }, at) =>
      isExact &&
      !(isStarred(at) && isWritingOption(base, text)) &&
      !((fixed[at] ?? RESTS).startsWith("*") && isUnknownOption(base, text)) &&
      wordMatches(fixed[at] ?? RESTS, text, at < fixed.length),
  );
  // The dearest question is asked of the few patterns that fit.
  if (!fits || !(pattern.includes("*") || command.hasInput)) return fits;
  return !runsCode({ ...command, program: base });
}

/** Patterns are those of rules, and come again with every line. */
const readPattern = keepResults(5000, (pattern) => {
  const [program = "", ...patterns] = wordsOf(pattern);
  return { isPattern: patternProblem(pattern) === null, program, name: sameName(program), patterns };
});

/** The rules of one word; a `*` for the rest of a command matches each word that stays in the folder. */
function wordMatches(pattern: string, text: string, isInPlace: boolean): boolean {
  if (!isInPlace) return !LEAVES.test(text) && !CLIMBS.test(text);
  if (!pattern.includes("*")) return pattern === text;
  if (pattern === RESTS && LEAVES.test(text)) return false;
  if (pattern.startsWith("*") && text.startsWith("-")) return false;
  if (CLIMBS.test(text)) return false;
  if (pattern.includes("://") && /[@\\]/.test(text)) return false;
  return globMatches(pattern, text);
}

/** Each piece between two `*` is looked for behind the one before: this needs one pass. */
function globMatches(pattern: string, text: string): boolean {
  const [first = "", ...pieces] = pattern.split("*");
  const last = pieces.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const next = text.indexOf(piece, at);
    if (next < 0) return false;
    at = next + piece.length;
  }
  return at <= text.length - last.length;
}

/**
 * Whether patterns allow a whole line: it is read, it has a command, and one of the patterns matches each command, also
 * each that another one starts, as `timeout 5 git log` starts `git log`. No variable is set, and the only redirections
 * are `2>&1`, those between the two outputs, and those of outputs to `/dev/null`. Where every file is below the folder
 * of the line, no pattern with `*` matches.
 */
export function everyCommand(patterns: readonly string[], line: ShellLine): boolean {
  if (line.kind === "unread" || !line.commands.some(({ program }) => program !== "")) return false;
  const some = line.isAtRoot === true ? patterns.filter((pattern) => !pattern.includes("*")) : patterns;
  return line.commands.every((command) => {
    if (command.sets.length > 0 || !command.redirects.every(isHarmless)) return false;
    if (command.program === "") return true;
    const started = startedCommands(command);
    return started?.every((one) => isPlain(one) && some.some((pattern) => commandMatches(pattern, one))) ?? false;
  });
}

function isPlain({ sets, redirects }: SimpleCommand): boolean {
  return sets.length === 0 && redirects.every(({ operator, path }) => path !== null && isHarmless({ operator, path }));
}

/** No file is written: an output goes where the other one goes, or nowhere. */
function isHarmless(redirect: {
  operator: string;
  path: CommandWord;
  descriptor?: ShellRedirect["descriptor"];
}): boolean {
  const { operator, path, descriptor = null } = redirect;
  if (!path.isExact || (descriptor !== null && descriptor !== 1 && descriptor !== 2)) return false;
  if (operator === ">&") return path.text === "1" || path.text === "2";
  return [">", ">>", "&>"].includes(operator) && path.text === "/dev/null";
}

/**
 * Whether one of the patterns matches a command of a line, for a rule that denies. In doubt it does:
 *
 * - a line that is not read, and a command that starts another one that is not certain, match every pattern;
 * - programs are the same if their names are, without the folder, upper case and `.exe`;
 * - a command that another one starts counts as well, as behind `sudo`, `env`, `xargs` or `bash -c`;
 * - a word that the shell expands, and all words behind it, match whatever the pattern has there;
 * - `*` in a word matches any characters, and options before the first word of the pattern are skipped.
 *
 * The words are compared as they are written: `rm -rf *` does not match `rm -r -f src`, and `rm *` matches both. Code of
 * another language, scripts of files and programs on other computers are not read.
 */
export function anyCommand(patterns: readonly string[], line: ShellLine): boolean {
  if (patterns.length === 0) return false;
  if (line.kind === "unread") return true;
  return line.commands.some((command) => {
    const started = startedCommands(command);
    return started === null || started.some((one) => patterns.some((pattern) => mayMatch(pattern, one)));
  });
}

function mayMatch(pattern: string, { program, words }: SimpleCommand): boolean {
  const { isPattern, name, patterns } = readPattern(pattern);
  if (!isPattern) return true;
  if (name !== sameName(program)) return false;
  if (mayMatchFrom(patterns, words)) return true;
  const mayStandLater = words[0]?.text.startsWith("-") === true && /^[^*-]/.test(patterns[0] ?? "");
  return mayStandLater && words.some((_, at) => mayMatchFrom(patterns, words.slice(at)));
}

function mayMatchFrom(patterns: readonly string[], words: readonly CommandWord[]): boolean {
  const isOpen = patterns.at(-1) === RESTS;
  const fixed = isOpen ? patterns.slice(0, -1) : patterns;
  for (const [at, pattern] of fixed.entries()) {
    const word = words[at];
    if (word === undefined) return false;
    if (!word.isExact) return true;
    if (!globMatches(pattern, word.text)) return false;
  }
  const rest = words.slice(fixed.length);
  return isOpen || rest.length === 0 || rest[0]?.isExact === false;
}

function sameName(program: string): string {
  return baseOf(program)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

function baseOf(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}

function wordsOf(pattern: string): string[] {
  return pattern.split(/[ \t]+/).filter((word) => word !== "");
}
