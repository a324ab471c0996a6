import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import fc from "fast-check";
import { readShellLine } from "../../src/lib/shell/read-line.ts";
import type { ShellCommand } from "../../src/lib/shell/shell-line.ts";

const SEED = Number(process.env["SHELL_SEED"] ?? 7);
const folder = mkdtempSync(join(tmpdir(), "parley-shell-"));
const empty = join(folder, "empty");
const print = join(folder, "print");
const bash = execFileSync("/bin/sh", ["-c", "command -v bash"], { encoding: "utf8" }).trim();
before(() => {
  mkdirSync(empty);
  writeFileSync(print, "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n");
  chmodSync(print, 0o755);
});
after(() => rmSync(folder, { recursive: true }));

/** Runs a script of bash over each line, as its `$line`, without a program on its path; the outputs, line by line. */
function overLines(lines: readonly string[], script: string): string[] {
  const loop = `for line; do ${script}; printf '\\001'; done`;
  const output = execFileSync(bash, ["--norc", "--noprofile", "-c", loop, "bash", ...lines], {
    cwd: empty,
    encoding: "utf8",
    env: { PATH: empty, BASH: bash, LC_ALL: "C.UTF-8" },
    input: "",
    maxBuffer: 64 << 20,
    stdio: ["pipe", "pipe", "ignore"],
  });
  return output.split("\u0001").slice(0, -1);
}

function commandsOf(line: string): readonly ShellCommand[] | null {
  const read = readShellLine(line);
  return read.kind === "read" ? read.commands : null;
}

function samples<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { seed: SEED, numRuns: count });
}

const joined = (pieces: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength }).map((all) => all.join(""));

const WORD_PIECES = [..."ab1-=+,.:/@%^_~!#{}[]?*$\\'\"'\" \t\\\\$'\"äλ\n"].concat([
  "''",
  '""',
  "$'",
  "\\n",
  "\\x41",
  "\\\n",
  "\\'",
  '\\"',
  "\\ ",
  "{a,b}",
  "{1..3}",
  "..",
  " # ",
  "a'b c'd",
  '"a b"',
]);

it("takes a word for exact only if bash passes the same text to the program", () => {
  const lines = samples(joined(WORD_PIECES, 12), 3000).map((words) => `${print} ${words}`);
  const exact = lines.flatMap((line) => {
    const [command, ...more] = commandsOf(line) ?? [];
    const isLiteral = more.length === 0 && command?.redirects.length === 0 && command.words.every((one) => one.isExact);
    return command && isLiteral ? [{ line, texts: command.words.map(({ text }) => text) }] : [];
  });
  assert.ok(exact.length > 500, `${exact.length} lines of exact words`);
  const outputs = overLines(
    exact.map(({ line }) => line),
    '"$BASH" -c -- "$line"',
  );
  const differing = exact.filter(({ texts }, at) => outputs[at] !== texts.map((text) => `${text}\0`).join(""));
  assert.deepEqual(differing, []);
});

const LINE_PIECES = (
  "a b c d a b c d && || | |& ; & ( ) { } ! time $( ` <( ' \" \\ # if then else elif fi do done ;; esac in (( )) " +
  "$x ${x:- ${x} $(( 1 X=1 x+= x=( [[ ]] -f == 2>&1 >y <y <<E <<< >( >& >&- 2> <<'E' [ ] * {a,b} ~ $'\\n' $\" $ function " +
  "a() export ="
)
  .split(" ")
  .concat(["\n", "\nE\n", "; }", "\\\n", "for x in", "case x in", "x)"]);
const tokens = (maxLength: number) =>
  fc.array(fc.constantFrom(...LINE_PIECES), { minLength: 1, maxLength }).map((all) => all.join(" "));
const lines = (count: number) =>
  [...samples(tokens(7), count), ...samples(joined(LINE_PIECES, 9), count), ...samples(nested, count)].filter(
    (line) => commandsOf(line) !== null,
  );

/** Lines of whole constructs within one another; a part of them becomes wrong by a piece in front. */
const { nested } = fc.letrec<{ nested: string; simple: string }>((tie) => ({
  simple: fc
    .array(fc.constantFrom("a", "b", "c", "'d e'", '"$x"', "$x", "2>&1", ">y", "x*", "{a,b}", "~"), {
      minLength: 1,
      maxLength: 4,
    })
    .map((words) => ["a", ...words].join(" ")),
  nested: fc.oneof(
    { withCrossShrink: true, maxDepth: 4 },
    tie("simple"),
    fc
      .tuple(tie("nested"), fc.constantFrom(" && ", " || ", " | ", "; ", " & ", "\n", " |& "), tie("nested"))
      .map((all) => all.join("")),
    fc
      .tuple(
        fc.constantFrom(
          (one: string) => `(${one})`,
          (one: string) => `{ ${one}; }`,
          (one: string) => `{ ${one}\n} 2>y`,
          (one: string) => `a $(${one})`,
          (one: string) => `b "$(${one})"`,
          (one: string) => `b \`${one}\``,
          (one: string) => `c <(${one}) >(${one})`,
          (one: string) => `! ${one}`,
          (one: string) => `time ${one}`,
          (one: string) => `if ${one}; then ${one}; else ${one}; fi`,
          (one: string) => `for x in a b; do ${one}; done`,
          (one: string) => `case x in (y) ${one};; x) ${one};; esac`,
          (one: string) => `d <<E\n$(${one})\nE`,
          (one: string) => `d <<'E'\n$(${one})\nE`,
          (one: string) => `X=$(${one}) b`,
          (one: string) => `a \${x:-$(${one})}`,
          (one: string) => `a "\${x:-\`${one}\`}"`,
          (one: string) => `a # ${one}\nb`,
        ),
        tie("nested"),
      )
      .map(([around, one]) => around(one)),
  ),
}));

it("reads no line that bash refuses", () => {
  const read = lines(1500);
  assert.ok(read.length > 1000, `${read.length} lines read`);
  const answers = overLines(read, 'if "$BASH" -n -c -- "$line"; then printf yes; else printf no; fi');
  assert.deepEqual(
    read.filter((_, at) => answers[at] !== "yes"),
    [],
  );
});

it("reads every program that bash runs", () => {
  const read = lines(1500);
  const named =
    "command_not_found_handle() { printf '%s\\002' \"$1\" >&9; [[ $1 != b ]]; }; export -f command_not_found_handle";
  const outputs = overLines(read, `${named}; printf %s "$("$BASH" -c -- "$line" 9>&1 >/dev/null)"`);
  let count = 0;
  const unseen: string[] = [];
  read.forEach((line, at) => {
    const programs = new Set(commandsOf(line)?.map(({ program }) => program));
    const ran = (outputs[at] ?? "").split("\u0002").slice(0, -1);
    if (ran.some((program) => !programs.has(program))) unseen.push(line);
    count += ran.length;
  });
  assert.deepEqual(unseen, []);
  assert.ok(count > 200, `${count} programs ran`);
});
