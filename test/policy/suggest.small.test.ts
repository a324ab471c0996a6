import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evaluate, policyInput } from "../../src/policy/model/policy.ts";
import { type PastCall, suggestRules } from "../../src/policy/model/suggest.ts";
import { freshId, suggestedLines } from "../../src/policy/model/suggested-text.ts";
import { loadPolicy } from "../../src/policy/model/text.ts";

const FOLDER = "/home/kim/shop";

interface NamedCall extends PastCall {
  name: string;
}
const call = (fn: string, args: object, kind: PastCall["kind"] = "approved"): NamedCall => ({
  input: policyInput({ fn, agent: "claude", args: () => JSON.stringify(args) }),
  kind,
  name: JSON.stringify(args),
});
const bash = (command: string, kind?: PastCall["kind"], cwd = FOLDER): NamedCall =>
  call("Bash", { command, description: `of ${command}`, cwd }, kind);
const edit = (file_path: string, kind?: PastCall["kind"]): NamedCall =>
  call("Edit", { file_path, old_string: "a", new_string: "b", cwd: FOLDER }, kind);
const refund = (order: string, amount: number, kind?: PastCall["kind"]): NamedCall =>
  call("refund", { order, amount, currency: "EUR" }, kind);

const suggested = (calls: readonly NamedCall[]) => suggestRules(calls, 3);
/** Returns what the rules would list of commands or files, and how many approved calls each covers. */
const lists = async (calls: readonly NamedCall[]) =>
  (await suggested(calls)).map(({ when, approved }) => [
    when["command"] ?? when["path"] ?? when["args"],
    approved.length,
  ]);

describe("the rules that decisions of people speak for", () => {
  it("cover what was approved as often as the setting says", async () => {
    assert.deepEqual(await lists([bash("npm test"), bash("npm test a.test.ts")]), []);
    assert.deepEqual(await lists([bash("npm test"), bash("npm test a.test.ts"), bash("npm test b.test.ts")]), [
      [["npm test *"], 3],
    ]);
    assert.deepEqual(await lists([bash("git push"), bash("git push"), bash("git push"), bash("git push -f")]), [
      [["git push"], 3],
    ]);
  });

  it("cover nothing that people refused, or that looks high: a narrower one is proposed instead, or none", async () => {
    const approved = [edit("src/a/x.ts"), edit("src/a/y.ts"), edit("src/a/z.ts"), edit("src/b/x.ts")];
    assert.deepEqual(await lists(approved), [["src/**", 4]]);
    assert.deepEqual(await lists([...approved, edit("src/b/keys.ts", "apart")]), [["src/a/**", 3]]);
    assert.deepEqual(await lists([...approved, edit("src/a/keys.ts", "apart")]), []);
    assert.deepEqual(await lists([...approved, edit("src/b/keys.ts", "open")]), [["src/**", 4]]);
  });

  it("are as narrow as the calls allow, hold in one folder where all were there, and are one rule where they can be", async () => {
    assert.deepEqual(await lists([bash("npm test"), bash("npm test"), bash("npm test")]), [[["npm test"], 3]]);
    const [inOne] = await suggested(["npm test", "npm test a", "npm test b"].map((line) => bash(line)));
    assert.deepEqual(inOne?.when["args"], { "/cwd": { equals: FOLDER } });
    const others = ["a", "b", "c"].map((name) => bash(`npm run lint ${name}`));
    const both = [...["npm test", "npm test a", "npm test b"].map((line) => bash(line)), ...others];
    assert.deepEqual(await lists(both), [[["npm run lint *", "npm test *"], 6]]);
    // Neither covers what people refused, but both together would.
    const refused = bash("npm test a && npm run lint b", "apart");
    assert.equal((await suggested([...both, refused])).length, 2);
  });

  it("take a text that differed if it is a name, by its ends and its length, and numbers between the approved ones", async () => {
    const orders = Array.from({ length: 12 }, (_, at) => refund(`A-10${at + 10}`, at + 1));
    assert.deepEqual(
      (await suggested(orders)).map(({ when }) => when["args"]),
      [
        {
          "": {
            schema: {
              type: "object",
              additionalProperties: false,
              properties: { order: { type: "string" }, amount: {}, currency: { type: "string" } },
            },
          },
          "/order": { glob: "A-*", length: { min: 1, max: 6 } },
          "/amount": { min: "1", max: "12" },
          "/currency": { equals: "EUR" },
        },
      ],
    );
    const queries = Array.from({ length: 12 }, (_, at) => call("query", { sql: `SELECT${at}` }));
    const texts = Array.from({ length: 12 }, (_, at) => call("note", { text: `Order ${at} is late` }));
    assert.deepEqual(await suggested([...queries, ...texts]), []);
  });

  it("rest on calls of several agents, for each that people allowed one, with all its tools and in its folders", async () => {
    const by = (agent: string, fn: string, args: object, kind: PastCall["kind"] = "approved"): NamedCall => ({
      ...call(fn, args, kind),
      input: policyInput({ fn, agent, args: () => JSON.stringify(args) }),
    });
    const adds = [
      by("codex", "Bash", { command: "git add a.ts", cwd: FOLDER }),
      by("codex", "exec_command", { cmd: "git add b.ts", workdir: FOLDER, cwd: FOLDER }),
      by("cursor", "Shell", { command: "git add -A", cwd: "/home/jo/shop" }),
    ];
    const whens = async (calls: readonly NamedCall[]) => (await suggested(calls)).map(({ when }) => when);
    const [command, inFolder] = [["git add *"], (folder: string) => ({ "/cwd": { equals: folder } })];
    assert.deepEqual(await whens(adds), [
      { fn: ["Bash", "exec_command"], agent: "codex", command, args: inFolder(FOLDER) },
      { fn: "Shell", agent: "cursor", command, args: inFolder("/home/jo/shop") },
    ]);
    assert.deepEqual(
      (await suggested(adds)).map(({ approved }) => approved.length),
      [3, 3],
    );
    assert.deepEqual(await whens(adds.slice(1)), []);
    const withoutFolder = by("crm", "exec", { command: "git add c.ts" });
    assert.deepEqual((await whens([...adds, withoutFolder])).length, 2);
    // A call that did not stay in its folder speaks for nothing wider, and neither does a function of another kind.
    assert.deepEqual(await whens([...adds.slice(1), by("x", "bash", { command: "git add /etc/a", cwd: FOLDER })]), []);
    assert.deepEqual(await whens([...adds.slice(1), by("x", "git", { command: "git add c.ts", cwd: FOLDER })]), []);
    // Nobody gets a rule for what people refused one of them, wherever that was.
    assert.deepEqual(
      await whens([...adds, by("gemini", "run_shell_command", { command: "git add c.ts" }, "apart")]),
      [],
    );

    const edits = [
      edit("src/a/x.ts"),
      by("gemini", "replace", { file_path: `${FOLDER}/src/y.ts`, instruction: "Fix", cwd: FOLDER }),
      by("copilot", "edit", { path: "src/b/z.ts", old_str: "a", new_str: "b", cwd: "/home/jo/shop" }),
    ];
    assert.deepEqual(
      (await suggested(edits)).map(({ when: { fn, agent, path } }) => [agent, fn, path]),
      [
        ["claude", "Edit", "src/**"],
        ["copilot", "edit", "src/**"],
        ["gemini", "replace", "src/**"],
      ],
    );
    assert.deepEqual(
      await whens([...edits, by("codex", "Write", { path: "src/c/keys.ts", cwd: "/tmp" }, "apart")]),
      [],
    );

    // Files right within some folders say nothing of all files of another one, such as a home.
    const home = by("gemini", "write_file", { file_path: "/home/jo/notes.md", content: "a", cwd: "/home/jo" });
    const top = ["a.md", "b.md", "c.md"].map((name) => edit(name));
    assert.deepEqual(
      (await suggested([...top, home])).map(({ when: { agent } }) => agent),
      ["claude"],
    );
  });

  it("are printed as rules of a policy file that decide as they were chosen, with their reasons", async () => {
    const calls = [
      ...["npm test", "npm test 'a b'", "npm test b"].map((line) => bash(line)),
      bash("npm test c; rm -rf d", "apart"),
      ...["x", "y", "z"].map((name) => edit(`src/ä/${name}\u202e.ts`)),
      ...["x", "y", "z"].map((name) => edit(`src/ä/${name}.ts`)),
    ];
    const ids = new Set<string>();
    const rules = (await suggested(calls)).map(({ when, approved, notCovered }) => {
      const id = freshId(when, ids);
      ids.add(id);
      const named = (some: readonly NamedCall[]) => some.map(({ name }) => name);
      return { id, when, approved: approved.length, examples: named(approved), notCovered: named(notCovered) };
    });
    const text = ["version: 1", "rules:", ...suggestedLines(rules), ""].join("\n");
    assert.match(text, /# 3 approved calls, such as: .*npm test/);
    assert.match(text, /# Not covered: .*npm test c; rm -rf d/);
    assert.doesNotMatch(text, /\u202e/);
    const policy = await loadPolicy(text);
    assert.deepEqual(
      policy.rules.map(({ id }) => id),
      ["suggested-claude-Bash", "suggested-claude-Edit"],
    );
    for (const { input, kind, name } of calls) {
      const decision = /\u202e/.test(name) || kind === "apart" ? "ESCALATE" : "ALLOW";
      assert.equal(evaluate(policy, [], input).decision, decision, name);
    }
    assert.equal(freshId({ agent: "claude", fn: "Bash" }, ids), "suggested-claude-Bash-2");
  });
});
