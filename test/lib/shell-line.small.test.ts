import assert from "node:assert/strict";
import { it } from "node:test";
import { readShellLine } from "../../src/lib/shell/read-line.ts";
import type { ShellCommand, ShellWord } from "../../src/lib/shell/shell-line.ts";

function commandsOf(line: string): readonly ShellCommand[] {
  const read = readShellLine(line);
  assert.equal(read.kind, "read", `${JSON.stringify(line)}: ${read.kind === "unread" ? read.reason : ""}`);
  return read.kind === "read" ? read.commands : [];
}

/** A word that is not exact stands in angle brackets, with the kinds of its expansions. */
function told({ program, words }: ShellCommand): string {
  const one = ({ text, isExact, expansions }: ShellWord) =>
    isExact ? text : `<${[...new Set(expansions.map(({ kind }) => kind))].join(" ")}>`;
  return [program, ...words.map(one)].join(" ");
}

const READ: [line: string, says: string][] = [
  ["git 'log' \"-1\" a\\ b", "git log -1 a b"],
  ["\\git l'o'g", "git log"],
  ["gi\\\nt lo\\\ng", "git log"],
  ["git $'l\\x6fg'", "git log"],
  ["pour # then rm\nsip", "pour ; sip"],
  ["a && b || c | d |& e ; f & g", "a ; b ; c ; d ; e ; f ; g"],
  ["(a; b) && { c; d; }", "a ; b ; c ; d"],
  ["if a; then b; elif c; then d; else e; fi", "a ; b ; c ; d ; e"],
  ["for cup in a b; do pour $cup; done", "pour <variable>"],
  ["while a; do b; done; until c; do d; done", "a ; b ; c ; d"],
  ["case tea in x|y) b ;; (z) c ;; esac", "b ; c"],
  ["! a; time b; time -p c", "a ; b ; c"],
  ["pour $(brew tea) `heat cup`", "pour <substitution> <substitution> ; brew tea ; heat cup"],
  ['pour "$(brew "$(heat cup)")"', "pour <substitution> ; brew <substitution> ; heat cup"],
  ["pour <(brew) >(sip)", "pour <substitution> <substitution> ; brew ; sip"],
  ["pour ${cup:-$(brew)}", "pour <variable> ; brew"],
  ["pour <<E\n$(brew)\nE\nsip", "pour ; brew ; sip"],
  ["pour <<'E'\n$(brew)\nE\nsip", "pour ; sip"],
  ["pour <<< $(brew)", "pour ; brew"],
  ["CUP=$(brew) pour", "pour ; brew"],
  [
    "pour {a,b} {1..3} *.tea t?a [ab] ~/tea a=~/b $((1 + 2)) $CUP",
    "pour <brace> <brace> <glob> <glob> <glob> <tilde> <tilde> <arithmetic> <variable>",
  ],
  ["pour {} HEAD@{1} a{b} '*' \"~\" \\$CUP '$(brew)' a=b", "pour {} HEAD@{1} a{b} * ~ $CUP $(brew) a=b"],
  ["pour =tea", "pour <tilde>"],
  ['pour $"tea"', "pour <translation>"],
  ["pour tea &>/dev/null; (sip)# brew", "pour tea ; sip"],
  ["export CUP=tea", "export <assignment>"],
  ["[[ -f tea ]] && pour", "[[ <test> ; pour"],
  ["[ -f tea ] && pour", "[ -f tea ] ; pour"],
  ["set -euo pipefail; pour", "set -euo pipefail ; pour"],
  ["{ pour; } > tea", " ; pour"],
  ["> tea", ""],
  ["sudo -u ana pour", "sudo -u ana pour"],
  ["pour 'größe'", "pour größe"],
];

it("reads every command of a line, and tells exact words from those that the shell expands", () => {
  for (const [line, says] of READ) assert.equal(commandsOf(line).map(told).join(" ; "), says, line);
});

it("tells where in a word the shell puts something else", () => {
  const [command] = commandsOf('pour a"b$CUP"c$(d)');
  assert.deepEqual(command?.words[0]?.expansions, [
    { kind: "variable", at: 3, text: "$CUP" },
    { kind: "substitution", at: 9, text: "$(d)" },
  ]);
});

it("reads redirections with their descriptors, and variables before a command", () => {
  const [command] = commandsOf("CUP=a POT=b pour 2>&1 3<in >|$OUT &>all <<'E'\nE");
  assert.deepEqual(command?.sets, ["CUP", "POT"]);
  assert.deepEqual(
    command.redirects.map(({ operator, descriptor, path }) => [descriptor, operator, path.isExact ? path.text : null]),
    [
      [2, ">&", "1"],
      [3, "<", "in"],
      [null, ">|", null],
      [null, "&>", "all"],
      [null, "<<", "E"],
    ],
  );
  assert.equal(command.hasInput, true);
});

it("tells the constructs around each command", () => {
  const all = "a && (b | c) & for x in y; do if d; then e $(f); fi; done";
  assert.deepEqual(
    commandsOf(all).map(({ program, surroundings }) => [program, surroundings.join(" ")]),
    [
      ["a", "background"],
      ["b", "background conditional subshell pipeline"],
      ["c", "background conditional subshell pipeline"],
      ["d", "loop conditional"],
      ["e", "loop conditional"],
      ["f", "loop conditional substitution"],
    ],
  );
});

const UNREAD: Record<string, string[]> = {
  "too long": [`pour ${"a".repeat(17_000)}`],
  "too deep": [`pour ${"$(".repeat(60)}`, "a;".repeat(300), "( ".repeat(50) + "a" + " )".repeat(50)],
  "unseen character": [
    "pour tea\r\nsip",
    "pour\u0000",
    "pour\u00a0tea",
    "pour\u200b tea",
    "pour \u202etea",
    "pour\u3000tea",
    "pour\u2028sip",
    "pour \u3164",
    "pour \ud800",
    "pour \u001b[2K",
  ],
  syntax: [
    ">&-rm -rf tea",
    "{ pour; } >&-tea",
    "pour <(brew)#; sip",
    "pour >(brew)\\\n#; sip",
    "(!)",
    "1<(rm tea)",
    "pour 1<(rm tea)",
    "pour 2>(rm tea)",
    "pour >2>&1",
    "pour > x=(a)",
    "pour 'tea",
    "if a; then b",
    "a | | b",
    "a ;; b",
    "pour $(brew",
    "a )",
    "pour (",
    "pour \\",
    "pour <<E\ntea",
    "pour >",
    "cat =(brew)",
  ],
  "program name": ["$POUR tea", "$(echo pour)", "./p?ur", "{pour,tea}", "~/pour", "роur tea", "'' tea", "pöur"],
  "changed meaning": [
    "pour() { rm tea; }; pour",
    "function pour { rm tea; }",
    "coproc pour",
    "alias pour=rm",
    "eval 'rm tea'",
    "source tea",
    ". ./tea",
    "trap 'rm tea' EXIT",
    "exec > tea",
    "shopt -s expand_aliases",
    "set -k",
    "set -o posix",
    "printf -v PATH /tea",
    "declare -n cup=PATH",
    "enable -n pour",
    "noglob pour",
  ],
  variable: [
    "PATH=/tea pour",
    "IFS=x",
    "LD_PRELOAD=./tea pour",
    "BASH_ENV=tea bash",
    "ENV=tea sh",
    "PROMPT_COMMAND=tea",
    "GIT_PAGER=tea git log",
    "export PATH=/tea",
    "for PATH in /tea; do pour; done",
    "pour ${PATH:=/tea}",
    "read 'a[$(rm tea)]'",
  ],
  evaluation: [
    "pour ${!CUP}",
    "pour ${CUP@P}",
    "pour $((cup))",
    "pour ${CUP:$n}",
    "pour ${a[i]}",
    "[[ a -eq b ]]",
    "[[ -v a ]]",
    "[[ a < b ]]",
  ],
  "shells differ": [
    "pour $'a\\'; rm tea; \\''",
    "((a; rm tea))",
    "((cup = 1))",
    "for ((;;)); do pour; done",
    "[[ a && rm ]]",
    "pour !(tea)",
    "pour *(e:'rm tea':)",
    "pour ${ rm tea; }",
    "pour $[1]",
    "pour {cup}>tea",
    "pour &>/dev/null sip",
    "&>/dev/null pour",
    "pour `sip \\`rm\\``",
    "pour <<$'E'\n$E\nrm\nE",
  ],
  "code by input": ["bash <<E\nrm tea\nE", "sh <<< 'rm tea'", "python3 - <<'E'\ntea()\nE", "node <<< 'tea()'"],
};

it("reads nothing rather than a part, and says why", () => {
  for (const [reason, lines] of Object.entries(UNREAD))
    for (const line of lines)
      assert.deepEqual(readShellLine(line), { kind: "unread", reason }, JSON.stringify(line.slice(0, 60)));
});
