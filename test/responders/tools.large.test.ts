import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { call, done, openToolsWorld, type ToolsWorld } from "../support/tools-world.ts";

const envelope = (toolCaps: Record<string, object>) => ({ job_snapshot: {}, tool_caps: toolCaps, role: "default" });

describe("tools of the answer-runner", () => {
  let tools: ToolsWorld;
  before(async () => {
    tools = await openToolsWorld();
  });
  beforeEach(() => {
    tools.world.happened.splice(0);
    tools.world.logged.splice(0);
    tools.allows = false;
  });
  after(() => tools[Symbol.asyncDispose]());

  it("reads a file through the official filesystem server, and writes none", async () => {
    tools.says(
      call("fs_read", { path: join(tools.dir, "orders.csv") }),
      call("fs_write", { path: join(tools.dir, "x"), content: "x" }),
      done(),
    );
    const outcome = await tools.world.answer({ allowedTools: ["fs.read", "fs.write"] });
    assert.match(tools.results()[0] ?? "", /1,EUR/);
    assert.match(tools.results()[1] ?? "", /^E_POLICY_DENY: this run has read data/);
    assert.deepEqual(outcome.attestation?.tools_used, ["fs.read"]);

    tools.says(call("fs_write", { path: join(tools.dir, "x"), content: "x" }), done());
    await tools.world.answer({ allowedTools: ["fs.write"] });
    assert.equal(tools.results()[0], "E_POLICY_DENY: writes are for people to allow");
    assert.deepEqual(tools.world.happened, ["policy: fs.write"]);
    assert.ok(!existsSync(join(tools.dir, "x")));
  });

  it("offers a tool only where the ask, the role and the server all have it", async () => {
    tools.says(call("db_huge"), call("code_run", { code: "1" }), call("no_such"), done());
    const outcome = await tools.world.answer({ allowedTools: ["db.read", "db.uncheckable", "db.missing", "unknown"] });
    assert.deepEqual(
      tools.world.llm.heard[0]?.tools.map(({ name }) => name),
      ["db_read"],
    );
    assert.deepEqual(tools.results(), ["There is no such tool.", "There is no such tool.", "There is no such tool."]);
    assert.deepEqual(outcome.attestation?.tools_used, []);

    tools.says(done());
    const meta = { input: { resource: "table t" }, prompt_overrides: { output_schema: { type: "string" } } };
    await tools.world.ask({ roleId: "role.schema_summarizer", allowedTools: ["db.read"], meta });
    assert.deepEqual(tools.world.llm.heard.at(-1)?.tools, [], "the role's own list does not name it");
    await tools.world.ask({ allowedTools: [] });
    assert.deepEqual(tools.world.llm.heard.at(-1)?.tools, []);
  });

  it("holds a tool to its caps", async () => {
    const caps = envelope({ "db.read": { database: "shop", tables: ["orders", "items"] } });
    tools.says(
      call("db_read", { db: "payroll" }),
      call("db_read", { tables: ["orders", "salaries"] }),
      call("db_read", { db: "shop", tables: ["orders"] }),
      call("db_read", {}),
      done(),
    );
    await tools.world.answer({ allowedTools: ["db.read"], envelope: caps });
    assert.deepEqual(tools.results().slice(0, 2), [
      "E_CAPS_VIOLATION: db may only be shop",
      "E_CAPS_VIOLATION: tables may only be orders, items",
    ]);
    assert.deepEqual(JSON.parse(tools.results()[2] ?? ""), { did: "reader", args: { db: "shop", tables: ["orders"] } });
    assert.deepEqual(JSON.parse(tools.results()[3] ?? ""), {
      did: "reader",
      args: { db: "shop", tables: ["orders", "items"] },
    });

    const unknown = await tools.world.answer({
      allowedTools: ["db.huge"],
      envelope: envelope({ "db.huge": { tables: ["a"] } }),
    });
    assert.deepEqual(unknown.error, { code: "E_CAPS_VIOLATION", text: "tables cannot be enforced for db.huge" });
    assert.equal(unknown.status, "ERROR");

    tools.allows = true;
    tools.says(call("db_write", { what: "x" }), done());
    await tools.world.answer({ allowedTools: ["db.write"], envelope: envelope({ "db.write": { read_only: true } }) });
    assert.equal(tools.results()[0], "E_CAPS_VIOLATION: db.write may change something");
  });

  it("has policy decide about whatever may change something, before it is called", async () => {
    tools.allows = true;
    tools.says(call("db_write", { what: "stock" }), call("db_pretender"), done());
    const outcome = await tools.world.answer({
      allowedTools: ["db.write", "db.pretender"],
      meta: { resource: "shop" },
    });
    assert.deepEqual(tools.world.happened, ["policy: db.write", "policy: db.pretender"]);
    assert.deepEqual(outcome.attestation?.tools_used, ["db.pretender", "db.write"]);
    assert.equal(outcome.cacheable, false, "a repetition would not write");
  });

  it("tells the model what is wrong with its arguments, and counts the call", async () => {
    tools.says(call("db_read", { limit: "many" }), done());
    await tools.world.answer({ allowedTools: ["db.read"] });
    assert.match(tools.results()[0] ?? "", /^The arguments do not fit: \/limit must be an integer/);

    tools.says(
      call("db_read"),
      call("db_read"),
      call("db_read"),
      call("db_read"),
      call("db_read"),
      call("db_read"),
      done(),
    );
    await tools.world.answer({ allowedTools: ["db.read"] });
    assert.equal(tools.results().length, 6);
    assert.equal(tools.results()[5], "There are no calls left. Reply now.");
  });
});
