import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse, stringify } from "yaml";
import type { Command } from "../../src/cli/command.ts";
import { rolesCheck, rolesList, rolesShow, rolesTest } from "../../src/cli/jobs/roles.ts";
import { checkRole } from "../../src/responders/roles/role.ts";
import { SHIPPED_PROMPTS } from "../../src/responders/roles/shipped-prompts.ts";
import { blocksOf } from "../support/documents.ts";
import { newFolder, parley } from "../support/program.ts";

const COMMANDS: Readonly<Record<string, Command>> = {
  list: rolesList,
  show: rolesShow,
  check: rolesCheck,
  test: rolesTest,
};

/** Runs one of the commands in this process, as the program runs it. */
async function roles(args: readonly string[], env: Record<string, string>) {
  const [name = "", ...argv] = args;
  let [out, err] = ["", ""];
  const code = await COMMANDS[name]?.run(argv, {
    env,
    out: (line) => void (out += `${line}\n`),
    tell: (line) => void (err += `${line}\n`),
    progress: () => {},
    interrupted: new AbortController().signal,
  });
  return { code, out, err };
}

const CLARIFIER = "role.clarifier@v1";

interface Tried {
  holds: boolean;
  tried: { role: string; name: string; problem: string | null }[];
}

/** A data directory with roles of the operator's own. */
function folderWith(files: Record<string, string>): { dataDir: string; env: Record<string, string> } {
  const dataDir = newFolder();
  mkdirSync(join(dataDir, "prompts"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dataDir, "prompts", name), text);
  return { dataDir, env: { PARLEY_DATA_DIR: dataDir } };
}

const COUNTER = {
  id: "role.counter",
  version: 3,
  purpose: "Counts.",
  system: "You count.",
  output_schema: { type: "integer" },
  examples: [{ input: "wheels", output: 4 }],
};

describe("roles list, show, check", () => {
  it("show what comes along and what is the operator's own, and where it stands", async () => {
    const { dataDir, env } = folderWith({ "role.counter@v3.yaml": stringify(COUNTER) });
    const { code, out } = await parley(["roles", "list"], env);
    assert.equal(code, 0);
    const rows = out.trim().split("\n").slice(1);
    assert.deepEqual(
      rows.map((row) => row.split(" ")[0]),
      [
        "role.clarifier@v1",
        "role.counter@v3",
        "role.diff_planner@v1",
        "role.policy_decider@v1",
        "role.schema_summarizer@v1",
      ],
    );
    assert.ok(rows[1]?.endsWith(join(dataDir, "prompts", "role.counter@v3.yaml")));
    assert.ok(rows[0]?.endsWith(join(SHIPPED_PROMPTS, `${CLARIFIER}.yaml`)));

    const shown = await roles(["show", "role.counter", "--json"], env);
    const { hash, file, limits, guardrails, ...rest } = JSON.parse(shown.out) as Record<string, unknown>;
    assert.deepEqual(rest, COUNTER);
    assert.deepEqual([limits, guardrails], [{ max_tool_calls: 5 }, []]);
    assert.equal(typeof hash, "string");
    assert.equal(file, join(dataDir, "prompts", "role.counter@v3.yaml"));
    assert.match((await roles(["show", CLARIFIER], env)).out, /^tools {7}none$/m);
  });

  it("say in one sentence that there is no such role, and what is wrong with a file", async () => {
    const { env } = folderWith({ "role.counter@v3.yaml": stringify({ ...COUNTER, version: 4, rules: [] }) });
    const missing = await parley(["roles", "show", "role.counter"], env);
    assert.deepEqual(
      [missing.code, missing.err],
      [1, "parley: there is no role role.counter; parley roles list shows those there are.\n"],
    );
    const checked = await roles(["check"], env);
    assert.equal(checked.code, 1);
    assert.match(checked.out, /role\.counter@v3\.yaml: rules is no field of a role\n$/);
    assert.match((await roles(["list"], env)).err, /^1 of the files cannot be used/);
    const { code, out } = await roles(["check"], { PARLEY_DATA_DIR: newFolder() });
    assert.deepEqual([code, out], [0, "All 4 roles can be used.\n"]);
  });

  it("takes the folder that the settings name", async () => {
    const { dataDir } = folderWith({ "role.counter@v3.yaml": stringify(COUNTER) });
    const env = { PARLEY_DATA_DIR: newFolder(), PARLEY_RELAY_PROMPTS_DIR: join(dataDir, "prompts") };
    assert.equal((await roles(["show", "role.counter@v3"], env)).code, 0);
  });
});

describe("roles test", () => {
  it("finds every role that comes along as it was recorded, each with a case", async () => {
    const { code, out } = await roles(["test", "--json"], { PARLEY_DATA_DIR: newFolder() });
    const { holds, tried } = JSON.parse(out) as Tried;
    assert.deepEqual(
      tried.filter(({ problem }) => problem !== null),
      [],
    );
    assert.deepEqual([code, holds], [0, true]);
    for (const role of [CLARIFIER, "role.diff_planner@v1", "role.policy_decider@v1", "role.schema_summarizer@v1"]) {
      const names = tried.filter((one) => one.role === role).map(({ name }) => name);
      assert.ok(names.some((name) => !name.startsWith("example")) && names.includes("example 1"), role);
    }
  });

  it("fails when a prompt, an outcome or an example is another one, and records anew when told to", async () => {
    const { dataDir, env } = folderWith({});
    const [role, golden] = [`${CLARIFIER}.yaml`, join("golden", `${CLARIFIER}.yaml`)];
    const pathOf = (name: string) => join(dataDir, "prompts", name);
    for (const name of [role, golden]) cpSync(join(SHIPPED_PROMPTS, name), pathOf(name));
    const change = (name: string, from: string, to: string) => {
      const text = readFileSync(pathOf(name), "utf8");
      assert.ok(text.includes(from));
      writeFileSync(pathOf(name), text.replace(from, to));
    };
    const failures = async (...flags: string[]): Promise<string[]> => {
      const { code, out } = await roles(["test", "role.clarifier", "--json", ...flags], env);
      const { holds, tried } = JSON.parse(out) as Tried;
      assert.deepEqual([code, holds], tried.every(({ problem }) => problem === null) ? [0, true] : [1, false]);
      return tried.flatMap(({ problem }) => problem ?? []);
    };

    assert.deepEqual(await failures(), []);
    change(role, "You clear up one point", "You clear up a point");
    const [why, ...more] = await failures();
    assert.match(why ?? "", /^the prompt is another one: line 3 is You clear up a point/);
    assert.equal(more.length, 2);
    assert.deepEqual(await failures("--update"), []);
    assert.deepEqual(await failures(), []);

    change(golden, "askBack: Which shop?", "askBack: Which one?");
    assert.match((await failures())[0] ?? "", /^reply 3 now comes to .*Which shop\?/);
    change(role, "confidence: 1 }", "confidence: 2 }");
    assert.match((await roles(["check"], env)).out, /examples\[0\]\.output\/confidence /);
  });

  it("needs no recorded cases, and says what an example's input lacks", async () => {
    const counter = { ...COUNTER, input_schema: { type: "object" } };
    const { env } = folderWith({ "role.counter@v3.yaml": stringify(counter) });
    const { code, out } = await roles(["test", "role.counter"], env);
    assert.equal(code, 1);
    assert.equal(out, "FAILS  role.counter@v3: example 1\n       input must be an object\n1 of 1 do not hold.\n");
  });
});

describe("the prompts that come along", () => {
  // A version says the same for ever: what is attested under it can be looked up. Another text is another version.
  for (const [name, hash] of [
    ["base@v1.md", "931c5a294376e07616417d444d0ba500d37803aebe46e6318a757d0c78450b41"],
    ["executor@v1.md", "5b34f11b0a19ae1cca09f1dfdb35b40a1428159261ffe9fcc9a146442b999941"],
  ] as const) {
    it(`${name} says what it always said`, () => {
      const bytes = readFileSync(join(SHIPPED_PROMPTS, name));
      assert.equal(createHash("sha256").update(bytes).digest("hex"), hash);
    });
  }

  it("are printed for executors", async () => {
    const { code, out } = await parley(["prompt", "executor"]);
    assert.deepEqual([code, out], [0, readFileSync(join(SHIPPED_PROMPTS, "executor@v1.md"), "utf8")]);
  });

  it("are explained with a role that can be used", () => {
    const [shown, ...more] = blocksOf("docs/how-to/roles.md").filter(({ language }) => language === "yaml");
    assert.equal(more.length, 0);
    assert.ok("role" in checkRole(parse(shown?.text ?? ""), "role.release_notes@v1.yaml"));
  });
});
