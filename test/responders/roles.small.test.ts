import { ASK_TYPES } from "../../src/core/model/ask-type.ts";
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { type ForeignSchemas, openForeignSchemas } from "../../src/lib/json/foreign-schema.ts";
import { openRoles, type Roles } from "../../src/responders/roles/role-catalogue.ts";
import { checkRole, defaultRoleOf, inputProblems, type Role } from "../../src/responders/roles/role.ts";
import { SHIPPED_PROMPTS } from "../../src/responders/roles/shipped-prompts.ts";

/** A role as the specification writes it: schemas as text, and nothing that is not needed. */
const SUMMARIZER = `
id: role.schema_summarizer
version: 1
purpose: "Produce structured summaries for database or API schemas."
system: |
  Output JSON array of {name,type,nullable} only. No prose.
input_schema: |
  {"type":"object","required":["resource"],"properties":{"resource":{"type":"string"}}}
output_schema: |
  {"type":"array","items":{"type":"object","required":["name","type","nullable"]}}
tool_whitelist:
  - db.schema.reader
limits:
  max_tokens: 400
  max_tool_calls: 2
`;

const GOOD = { id: "role.x", version: 1, purpose: "Says.", system: "Say." };

/** A flaw of a role, and the message for it. */
const WRONG: readonly [why: string, fields: unknown, says: RegExp][] = [
  ["a list", [GOOD], /must hold the fields of a role/],
  ["no id", { ...GOOD, id: undefined }, /^id must be/],
  ["an id in capitals", { ...GOOD, id: "Role.X" }, /^id must be/],
  ["version 0", { ...GOOD, version: 0 }, /^version must be/],
  ["another version than its file", { ...GOOD, version: 2 }, /must be called role\.x@v2\.yaml/],
  ["nothing to say", { ...GOOD, system: "  " }, /^system must be/],
  ["too much to say", { ...GOOD, system: "s".repeat(16_385) }, /^system must be/],
  ["an unknown field", { ...GOOD, tools: [] }, /^tools is no field/],
  ["an unknown limit", { ...GOOD, limits: { tokens: 1 } }, /^limits\.tokens is no field/],
  ["too many tokens", { ...GOOD, limits: { max_tokens: 8193 } }, /^limits\.max_tokens must be/],
  ["too many calls", { ...GOOD, limits: { max_tool_calls: 21 } }, /^limits\.max_tool_calls must be/],
  ["too much time", { ...GOOD, limits: { timeout_s: 61 } }, /^limits\.timeout_s must be/],
  ["an unknown guardrail", { ...GOOD, guardrails: ["be_nice"] }, /^guardrails must be/],
  ["six examples", { ...GOOD, examples: Array(6).fill({ input: 1, output: 1 }) }, /^examples must be/],
  ["a schema that is not JSON", { ...GOOD, output_schema: "{" }, /^output_schema is a text that is not JSON/],
  ["a schema from elsewhere", { ...GOOD, output_schema: { $ref: "https://x/y" } }, /^output_schema\/\$ref remote/],
  ["a schema too deep", { ...GOOD, input_schema: deep(17) }, /^input_schema.* nested 16 deep/],
  ["a schema too long", { ...GOOD, input_schema: { enum: ["e".repeat(32_768)] } }, /^input_schema may be at most/],
  ["what JSON cannot say", { ...GOOD, examples: [{ input: Number.NaN, output: 1 }] }, /JSON has no form/],
];

function deep(levels: number): object {
  return levels === 1 ? { type: "array" } : { items: deep(levels - 1) };
}

function role(fields: Record<string, unknown> = {}): Role {
  const file = { ...GOOD, ...fields };
  const checked = checkRole(file, `${file.id}@v${file.version}.yaml`);
  assert.ok("role" in checked, JSON.stringify(checked));
  return checked.role;
}

describe("a role", () => {
  it("is read as the specification writes it", () => {
    const checked = checkRole(parse(SUMMARIZER), "role.schema_summarizer@v1.yaml");
    assert.ok("role" in checked);
    const { hash, ...read } = checked.role;
    assert.match(hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(read, {
      id: "role.schema_summarizer",
      version: 1,
      purpose: "Produce structured summaries for database or API schemas.",
      system: "Output JSON array of {name,type,nullable} only. No prose.",
      inputSchema: { type: "object", required: ["resource"], properties: { resource: { type: "string" } } },
      outputSchema: { type: "array", items: { type: "object", required: ["name", "type", "nullable"] } },
      toolWhitelist: ["db.schema.reader"],
      limits: { maxTokens: 400, maxToolCalls: 2, timeoutS: null },
      guardrails: new Set(),
      examples: [],
    });
  });

  it("sets no limits but five tool calls when it says nothing", () => {
    const { toolWhitelist, limits, inputSchema, outputSchema } = role();
    assert.deepEqual([toolWhitelist, inputSchema, outputSchema], [null, null, null]);
    assert.deepEqual(limits, { maxTokens: null, maxToolCalls: 5, timeoutS: null });
    assert.deepEqual(role({ tool_whitelist: [] }).toolWhitelist, []);
  });

  for (const [why, fields, says] of WRONG) {
    it(`is refused with ${why}`, () => {
      const checked = checkRole(fields, "role.x@v1.yaml");
      assert.ok("problems" in checked);
      assert.match(checked.problems[0] ?? "", says);
    });
  }

  it("has the same hash however it is written, and another one when it says something else", () => {
    const schema = { type: "object", properties: { a: {}, b: {} } };
    const turned = '{ "properties": {"b":{},"a":{}},\n "type":"object" }';
    const { hash } = role({ output_schema: schema });
    assert.equal(role({ output_schema: turned }).hash, hash);
    const others = [
      role(),
      role({ output_schema: schema, system: "Say it." }),
      role({ output_schema: schema, version: 2 }),
      role({ output_schema: schema, tool_whitelist: [] }),
      role({ output_schema: schema, guardrails: ["must_return_json"] }),
      role({ output_schema: schema, limits: { max_tokens: 1 } }),
      role({ output_schema: schema, examples: [{ input: 1, output: {} }] }),
    ];
    assert.equal(new Set([hash, ...others.map((one) => one.hash)]).size, others.length + 1);
  });

  it("is the clarifier where a type names no other, and none where no model answers", () => {
    assert.deepEqual(ASK_TYPES.map(defaultRoleOf), [
      "role.clarifier",
      null,
      "role.policy_decider",
      null,
      "role.clarifier",
    ]);
  });
});

describe("the catalogue of roles", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-roles-"));
  const warned: unknown[] = [];
  const log = { info: () => {}, warn: (fields: unknown) => void warned.push(fields) };
  const never = new AbortController().signal;
  let schemas: ForeignSchemas;
  let names = 0;
  before(() => {
    schemas = openForeignSchemas();
  });
  after(async () => {
    await schemas.close();
    rmSync(folder, { recursive: true });
  });

  const newDir = (files: Record<string, string> = {}): string => {
    const dir = join(folder, String((names += 1)));
    mkdirSync(dir);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    return dir;
  };
  const file = (version: number, system: string, id = "role.x"): string =>
    JSON.stringify({ ...GOOD, id, version, system });
  const open = (...dirs: (string | undefined)[]): Promise<Roles> => openRoles({ dirs, log, schemas });
  const saysOf = (roles: Roles, id = "role.x"): string | undefined => roles.find(id)?.system;

  it("has the four that come along, each as its limits say", async () => {
    const roles = await open(undefined, SHIPPED_PROMPTS);
    assert.deepEqual(roles.problems(), []);
    assert.deepEqual(
      roles
        .list()
        .map(({ role: { id, version, limits, toolWhitelist, guardrails } }) => [
          `${id}@v${version}`,
          limits.maxTokens,
          toolWhitelist,
          [...guardrails],
        ]),
      [
        ["role.clarifier@v1", 512, [], []],
        [
          "role.diff_planner@v1",
          800,
          ["repo.search", "repo.read", "tests.lookup"],
          ["must_return_json", "truncate_long_snippets"],
        ],
        ["role.policy_decider@v1", 300, [], []],
        ["role.schema_summarizer@v1", 400, ["db.schema.reader"], []],
      ],
    );
    for (const type of ASK_TYPES) {
      const id = defaultRoleOf(type);
      if (id !== null) assert.ok(roles.find(id), id);
    }
  });

  it("finds the highest version of a role, or exactly the one that is named", async () => {
    const dir = newDir({
      "role.x@v1.yaml": file(1, "one"),
      "role.x@v2.yaml": file(2, "two"),
      "role.x@v10.yaml": file(10, "ten"),
      "role.xy@v11.yaml": file(11, "another", "role.xy"),
    });
    const roles = await open(dir);
    assert.equal(saysOf(roles), "ten");
    assert.equal(saysOf(roles, "role.x@v2"), "two");
    for (const none of ["role.x@v3", "role.x@v02", "role.x@v", "role", "", "role.x@v2.yaml", "../role.x"]) {
      assert.equal(roles.find(none), null, none);
    }
  });

  it("takes the first folder's word for the same id and version, and each folder's for others", async () => {
    const own = newDir({ "role.x@v1.yaml": file(1, "own") });
    const shipped = newDir({ "role.x@v1.yaml": file(1, "shipped"), "role.y@v1.yaml": file(1, "y", "role.y") });
    const roles = await open(own, shipped);
    assert.deepEqual([saysOf(roles), saysOf(roles, "role.y")], ["own", "y"]);
    rmSync(join(own, "role.x@v1.yaml"));
    assert.equal(await roles.step(never), true);
    assert.equal(saysOf(roles), "shipped");
  });

  it("sees what is added, changed and taken away, and nothing else", async () => {
    const dir = join(folder, "later");
    const roles = await open(dir);
    assert.deepEqual([roles.list(), await roles.step(never)], [[], false]);
    mkdirSync(dir);
    writeFileSync(join(dir, "role.x@v1.yaml"), file(1, "one"));
    assert.deepEqual([await roles.step(never), saysOf(roles), await roles.step(never)], [true, "one", false]);
    writeFileSync(join(dir, "new"), file(1, "two"));
    renameSync(join(dir, "new"), join(dir, "role.x@v1.yaml"));
    assert.deepEqual([await roles.step(never), saysOf(roles), await roles.step(never)], [true, "two", false]);
    rmSync(dir, { recursive: true });
    assert.deepEqual([await roles.step(never), saysOf(roles)], [true, undefined]);
  });

  it("keeps what a file last said well, and lists what is wrong with it now", async () => {
    const dir = newDir({ "role.x@v1.yaml": file(1, "one") });
    const path = join(dir, "role.x@v1.yaml");
    const roles = await open(dir);
    const broken = [
      "id: [",
      file(2, "two"),
      file(1, "two").replace('"two"', "!say two"),
      file(1, "tw\xff"),
      `${file(1, "two")} # ${"x".repeat(131_073)}`,
    ];
    for (const text of broken) {
      writeFileSync(path, Buffer.from(text, "latin1"));
      assert.equal(await roles.step(never), true);
      assert.equal(saysOf(roles), "one");
      const [problem, ...more] = roles.problems();
      assert.deepEqual([problem?.file, problem?.isStale, more], [path, true, []]);
      assert.deepEqual(warned.at(-1), { file: path, problems: problem?.problems, kept: true });
    }
    writeFileSync(path, file(1, "mended"));
    await roles.step(never);
    assert.deepEqual([saysOf(roles), roles.problems()], ["mended", []]);
  });

  it("does not take a file whose examples are not what its schema says", async () => {
    const fields = { ...GOOD, output_schema: { type: "integer" }, examples: [{ input: 1, output: "four" }] };
    const dir = newDir({ "role.x@v1.yaml": JSON.stringify(fields) });
    const roles = await open(dir);
    assert.equal(roles.find("role.x"), null);
    assert.deepEqual(roles.problems(), [
      {
        file: join(dir, "role.x@v1.yaml"),
        problems: ["examples[0].output must be an integer"],
        isStale: false,
      },
    ]);
  });

  it("does not open a file that repeats itself beyond reason", async () => {
    const bomb = ["a0: &a0 [x]", ...Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)];
    const roles = await open(newDir({ "role.x@v1.yaml": bomb.join("\n") }));
    assert.match(roles.problems()[0]?.problems[0] ?? "", /cannot be read: Excessive alias count/);
  });

  it("holds an ask's input to the role's schema, and none where there is none", async () => {
    const taking = role({ input_schema: { type: "object", required: ["resource"] } });
    assert.deepEqual(await inputProblems(taking, { input: { resource: "orders" } }, schemas), []);
    assert.deepEqual(await inputProblems(taking, {}, schemas), []);
    assert.deepEqual(await inputProblems(role(), { input: 7 }, schemas), []);
    const [problem] = await inputProblems(taking, { input: {} }, schemas);
    assert.deepEqual(problem, { path: "/resource", message: "is required" });
  });
});
