import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { readCommand } from "../../src/requests/facts/command.ts";

function told(command: string | string[]): string | null {
  const commands = readCommand(command);
  return (
    commands?.map(({ program, words }) => [program, ...words.map(({ text }) => text)].join(" ")).join(" ; ") ?? null
  );
}

const READ: [command: string | string[], says: string][] = [
  ["npm run brew 2>&1 | tail -5", "npm run brew ; tail -5"],
  ["cd pots && 'ma'ke tea & echo done", "cd pots ; make tea ; echo done"],
  ["if ls cups; then touch tea; fi", "ls cups ; touch tea"],
  ["for p in a b; do wc $p; done", "wc $p"],
  [["bash", "-lc", "ls; wc tea"], "bash -lc ls; wc tea ; ls ; wc tea"],
  [["wc", "a;ls"], "wc a;ls"],
  [
    "sudo -u ana env CUP=1 nice -n 5 wc tea",
    "sudo -u ana env CUP=1 nice -n 5 wc tea ; env CUP=1 nice -n 5 wc tea ; nice -n 5 wc tea ; wc tea",
  ],
  ["find pots -name '*.tea' -exec wc {} \\;", "find pots -name *.tea -exec wc {} ; ; wc {}"],
  ["ls | xargs -n 1 wc", "ls ; xargs -n 1 wc ; wc …"],
  ["git switch -c pots", "git switch -c pots"],
];

it("reads every program that a line runs, also behind others that start it", () => {
  for (const [command, says] of READ) assert.equal(told(command), says, String(command));
});

it("tells words that are certain from those that the shell puts together", () => {
  const [command] = readCommand(`cat 'a'"b"\\ c $HOME/d ~/e {f,g} h* <in >>out`) ?? [];
  assert.deepEqual(
    command?.words.map(({ text, isExact }) => [text, isExact]),
    [
      ["ab c", true],
      ["$HOME/d", false],
      ["~/e", false],
      ["{f,g}", false],
      ["h*", false],
    ],
  );
  assert.deepEqual(
    command?.redirects.map(({ operator, path }) => operator + path?.text),
    ["<in", ">>out"],
  );
});

const UNCERTAIN = [
  'eval "$CUP"',
  "$(echo wc) tea",
  "./t?a",
  "tea | sh",
  "bash < tea",
  "bash -c $TEA",
  "alias ls=wc; ls",
  "trap 'wc tea' EXIT",
  "ls() { wc tea; }; ls",
  "PATH=/pots:$PATH ls",
  "export LD_PRELOAD=x; ls",
  "python -c 'tea()'",
  "python3 - <<'T'\ntea()\nT",
  "awk 'BEGIN{system(\"wc\")}'",
  "sed -n '1e wc' tea",
  "git -c core.pager=wc log",
  "env -S $TEA",
  "find . -exec $TEA {} +",
  "ls 'unfinished",
  "ls tea\r\nwc",
  "ls\u200b tea",
  "xargs $TEA",
  "sudo --unknown wc",
  `ls ${"$(".repeat(60)}`,
  `ls ${"a".repeat(11_000)}`,
  "read 'a[$(wc)]'",
  "echo ${!tea}",
  "make SHELL=./x",
  "watch wc",
];

it("reads nothing rather than a part: null for a line that may run something else", () => {
  for (const command of UNCERTAIN) assert.equal(told(command), null, command.slice(0, 60));
});

type Form = (first: string, second: string) => string;

/** They take one command of plain words. */
const AROUND_WORDS: Form[] = [
  (a, b) => `${a} \`${b}\``,
  (a, b) => `${a} | xargs ${b}`,
  (a, b) => `${a}; bash -c '${b}'`,
  (a, b) => `${a}; find . -exec ${b} \\;`,
  (a, b) => `time ${a}; timeout 5 nohup ${b}`,
  (a, b) => `trap '${b}' EXIT; ${a}`,
  (a, b) => `alias x='${b}'; ${a}; x`,
  (a, b) => `eval '${b}'; ${a}`,
];
const AROUND_ANY: Form[] = [
  (a, b) => `${a}; ${b}`,
  (a, b) => `${a} && ${b}`,
  (a, b) => `${a} || ${b}`,
  (a, b) => `${a} | ${b}`,
  (a, b) => `${a} & ${b}`,
  (a, b) => `${a}\n${b}`,
  (a, b) => `${a} # note\n${b}`,
  (a, b) => `${a} $(${b})`,
  (a, b) => `${a} "$(${b})"`,
  (a, b) => `${a} <(${b})`,
  (a, b) => `${a} > >(${b})`,
  (a, b) => `${a} <<E\n$(${b})\nE`,
  (a, b) => `(${a}; ${b})`,
  (a, b) => `{ ${a}; ${b}; }`,
  (a, b) => `if ${a}; then ${b}; fi`,
  (a, b) => `while ${a}; do ${b}; done`,
  (a, b) => `case x in y) ${a};; *) ${b};; esac`,
  (a, b) => `f() { ${b}; }; ${a}; f`,
  (a, b) => `echo $((1 + $(${b}))); ${a}`,
  (a, b) => `X=\${Y:-$(${b})} ${a}`,
  (a, b) => `[[ -n $(${b}) ]] && ${a}`,
];

it("yields both commands or none, however a second one is put beside or within the first", () => {
  const inner = fc.constantFrom(...AROUND_WORDS, ...AROUND_ANY);
  const outer = fc.array(fc.constantFrom(...AROUND_ANY), { maxLength: 2 });
  fc.assert(
    fc.property(inner, outer, fc.constantFrom("ls pots", "wc -l tea", "pwd"), (first, around, harmless) => {
      const line = [first, ...around].reduce((within, put) => put(harmless, within), "mallory tea");
      const programs = readCommand(line)?.map(({ program }) => program);
      if (programs === undefined) return;
      assert.ok(programs.includes("mallory"), `${line}: ${programs.join()}`);
      assert.ok(programs.includes(harmless.split(" ")[0] ?? ""), `${line}: ${programs.join()}`);
    }),
    { numRuns: 500 },
  );
});

it("never throws, and stays quick, whatever the text", () => {
  const pieces = fc.constantFrom(
    "$(",
    "${a:-",
    "`",
    "((",
    "<(",
    '"',
    "'",
    "\\",
    "{a,",
    "[",
    ")",
    "}",
    "cat <<E\n",
    "if ",
    "ls;",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 80 }), fc.integer({ min: 1, max: 60 }), (line, times) => {
      const before = performance.now();
      readCommand(line.join("").repeat(times));
      assert.ok(performance.now() - before < 1000);
    }),
    { numRuns: 200 },
  );
});
