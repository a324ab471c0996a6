import { everyCommand } from "../../src/lib/shell/command-pattern.ts";
import { readShellLine } from "../../src/lib/shell/read-line.ts";
import type { ShellLine } from "../../src/lib/shell/shell-line.ts";
import type { SimpleCommand } from "../../src/lib/shell/simple-command.ts";
import { startedCommands } from "../../src/lib/shell/started-commands.ts";
import { BashSandbox, type Ran } from "./commands-bash.ts";
import { lineOf } from "./commands-grammar.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { diceOf } from "./sim-dice.ts";

const LINES = 6000;
const LINES_PER_HOUR = 200_000;
const AT_ONCE = 200;
const MAX_FAILURES = 5;
/** A floor of the CI portion: a reader that reads nothing breaks no promise. */
const LEAST_ALLOWED = 300;

/** Rules as people write them. */
const PATTERNS = [
  "a *",
  "b x *",
  "git log *",
  "npm x1",
  "echo *",
  "true",
  "cat x*",
  "env *",
  "timeout 1 *",
  "bash *",
  "[ *",
];

/**
 * Random lines, read by us and run by bash: what is read is valid for bash, each program that bash runs is among those
 * that were read, and a line that patterns allow runs nothing else and writes no file (spec/invariants P7).
 */
export const commands: Harness = {
  name: "commands",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted = options.seed !== undefined ? 1 : (options.longHours ?? 0) * LINES_PER_HOUR || LINES;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    const counts = { lines: 0, read: 0, allowed: 0, programs: 0, late: 0 };
    using sandbox = new BashSandbox();
    while (counts.lines < wanted && performance.now() < until) {
      const seeds = Array.from({ length: Math.min(AT_ONCE, wanted - counts.lines) }, (_, i) => base + counts.lines + i);
      counts.lines += seeds.length;
      const read = seeds.map(readSeed).filter(({ shellLine }) => shellLine.kind === "read");
      if (options.trace) for (const { line } of read) console.log(JSON.stringify(line));
      const ran = read.length === 0 ? [] : sandbox.run(read.map(({ line }) => line));
      if (ran.length < read.length) throw new Error(`bash told of ${ran.length} lines out of ${read.length}`);
      read.forEach(({ seed, line, shellLine }, at) => {
        const truth = ran[at];
        if (!truth) return;
        const { says, isAllowed } = judge(shellLine, truth);
        counts.read += 1;
        counts.allowed += Number(isAllowed);
        counts.late += Number(truth.isLate);
        counts.programs += truth.commands.length;
        if (says === null) return;
        failures.push({ says: `${says}: ${JSON.stringify(line)}`, repeat: `npm run prove -- commands --seed ${seed}` });
      });
      if (failures.length >= (options.stopAtFirstFailure ? 1 : MAX_FAILURES)) break;
    }
    const isWhole = options.seed === undefined && options.boxMs === undefined && failures.length === 0;
    if (isWhole && counts.allowed < LEAST_ALLOWED)
      failures.push({ says: `${counts.allowed} lines were allowed`, repeat: "npm run prove -- commands" });
    const bubblewrap = sandbox.isBubblewrap ? "yes" : "no";
    return { figures: { seed: base, ...counts, bubblewrap }, failures: failures.slice(0, MAX_FAILURES) };
  },
};

function readSeed(seed: number): { seed: number; line: string; shellLine: ShellLine } {
  const line = lineOf(diceOf(seed));
  return { seed, line, shellLine: readShellLine(line) };
}

/** Returns the broken promise of a line, or null; and whether patterns allow it. */
function judge(line: ShellLine, ran: Ran): { says: string | null; isAllowed: boolean } {
  if (line.kind === "unread") return { says: null, isAllowed: false };
  const started = line.commands.map((command) => (command.program === "" ? [] : startedCommands(command)));
  const known = started.includes(null) ? null : started.flatMap((all) => all ?? []);
  const lists = [PATTERNS, ...(known ? exactPatterns(known) : [])].filter((list) => everyCommand(list, line));
  const isAllowed = lists.length > 0;
  if (!ran.isValid) return { says: "was read, and bash refuses it", isAllowed };
  const isRead = (words: readonly string[]) => known?.some((one) => isSame(one, words) || isEcho(one, words)) ?? true;
  const unread = ran.commands.find((words) => !isRead(words));
  if (unread) return { says: `ran ${shown(unread)}, which was not read`, isAllowed };
  for (const list of lists) {
    const beyond = ran.commands.find((words) => !list.some((pattern) => permits(pattern, words)));
    if (beyond) return { says: `ran ${shown(beyond)}, beyond ${shown(list)}`, isAllowed };
  }
  return { says: isAllowed && ran.wroteFile ? "wrote a file, and was allowed" : null, isAllowed };
}

const shown = (words: readonly string[]): string => JSON.stringify(words);

/** Returns the commands of a line as patterns without a star; nothing where a pattern cannot say one of them. */
function exactPatterns(commands: readonly SimpleCommand[]): string[][] {
  const patterns = commands.map(({ program, words }) => [program, ...words.map(({ text }) => text)]);
  return patterns.every((words) => words.every((word) => /^[^\s*]+$/.test(word)))
    ? [patterns.map((words) => words.join(" "))]
    : [];
}

/** Whether a command as it was read may be the one that ran: behind a word that the shell expands anything may stand. */
function isSame({ program, words }: SimpleCommand, [ranProgram, ...ranWords]: readonly string[]): boolean {
  if (program.slice(program.lastIndexOf("/") + 1) !== ranProgram) return false;
  const open = words.findIndex(({ isExact }) => !isExact);
  const exact = open < 0 ? words : words.slice(0, open);
  if (open < 0 && ranWords.length !== words.length) return false;
  return exact.every(({ text }, at) => text === ranWords[at]);
}

/** Alone, xargs runs echo, which only tells its input. */
function isEcho({ program, words }: SimpleCommand, ran: readonly string[]): boolean {
  return program === "xargs" && ran[0] === "echo" && words.every(({ text }) => /^(?:-.*|\d+)$/.test(text));
}

/** A pattern of the policy in the plainest way, for the words that a program got (docs/how-to/policy.md). */
function permits(pattern: string, ran: readonly string[]): boolean {
  const wanted = pattern.split(" ");
  const isOpen = wanted.at(-1) === "*";
  if (isOpen) wanted.pop();
  if (isOpen ? ran.length < wanted.length : ran.length !== wanted.length) return false;
  return ran.every((word, at) => {
    const one = wanted[at];
    if (one === undefined)
      return !word.startsWith("/") && !word.split("/").some((part) => /^(?:\.\.|\.[^.].*)$/.test(part));
    return one.endsWith("*") ? word.startsWith(one.slice(0, -1)) : word === one;
  });
}
