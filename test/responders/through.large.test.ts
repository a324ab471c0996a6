import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { envelopeHash } from "../../src/asks/model/decision-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { until } from "../support/contract.ts";
import { type Line, type Script, type ScriptedLlm, scriptedLlm } from "../support/scripted-llm.ts";
import { call, done } from "../support/tools-world.ts";
import { openWorld, type World } from "../support/world.ts";

const MISBEHAVING = fileURLToPath(new URL("../support/misbehaving-tools.ts", import.meta.url));
const POLICY = `
version: 1
defaults: { read: ALLOW, other: ESCALATE }
rules:
  - id: stock-writes
    when: { action: write, tool: db.write, resource: stock }
    decision: ALLOW
`;

describe("an ask that a model answers, from its executor to its answer", () => {
  const dir = mkdtempSync(join(tmpdir(), "parley-through-"));
  let script: Script = () => "";
  let llm: ScriptedLlm;
  let world: World;
  before(async () => {
    llm = await scriptedLlm((heard, number) => script(heard, number));
    writeFileSync(join(dir, "description.txt"), "Reads tables");
    writeFileSync(join(dir, "policy.yaml"), POLICY);
    const command = [process.execPath, MISBEHAVING, join(dir, "description.txt")];
    const settings = {
      relay: { policy_file: join(dir, "policy.yaml"), policy_advice: true },
      runner: { model: "openai-compatible/scripted", base_url: `${llm.url}/v1` },
      mcp_servers: { own: { command } },
      tools: {
        "db.read": { server: "own", tool: "reader", read_only: true, caps_args: { tables: "tables" } },
        "db.write": { server: "own", tool: "writer" },
        "db.broken": { server: "own", tool: "broken", read_only: true },
      },
    };
    writeFileSync(join(dir, "parley.yaml"), JSON.stringify(settings));
    world = await openWorld({ on: "sqlite", running: true, env: { PARLEY_CONFIG: join(dir, "parley.yaml") } });
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    await llm[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true });
  });
  const says = (...lines: Line[]) => {
    llm.heard.splice(0);
    script = () => lines[Math.min(llm.heard.length, lines.length) - 1] ?? "";
  };
  let asked = 0;
  async function ask(more: Record<string, unknown>) {
    asked += 1;
    const body = {
      job_id: "J-1",
      step_id: `S-${asked}`,
      ask_type: "RESOURCE_FETCH",
      prompt: `Question ${asked}`,
      context_hash: "h",
      ...more,
    };
    const posted = await world.call("POST", "/asks", { body });
    assert.equal(posted.status, 202, posted.text);
    const id = posted.body.ask_id as string;
    const answer = await world.call("GET", `/asks/${id}/answer?wait=20s`);
    return { id, answer: answer.body };
  }

  it("says who answered, on what grounds, and what was called", async () => {
    says(call("db_read", {}), '{"answer_json": {"currency": "EUR"}}');
    const envelope = { job_snapshot: {}, tool_caps: { "db.read": { tables: ["orders"] } }, role: "default" };
    const { answer } = await ask({
      context_envelope: envelope,
      context_hash: undefined,
      constraints: { allowed_tools: ["db.read"] },
    });
    assert.equal(answer.status, "ANSWERED");
    assert.equal(answer.source, "runner");
    assert.deepEqual(answer.answer_json, { currency: "EUR" });
    assert.deepEqual(answer.attestation.tools_used, ["db.read"]);
    assert.equal(answer.attestation.context_hash, envelopeHash(envelope));
    assert.equal(answer.attestation.model, "openai-compatible/scripted");
    assert.equal(answer.attestation.policy_version, answer.policy_trace.policy_version);
    assert.deepEqual(JSON.parse(llm.heard.at(-1)?.results[0] ?? ""), { did: "reader", args: { tables: ["orders"] } });
  });

  it("is run once for twenty that are identical, and answered from the cache after that", async () => {
    // The model answers once all of them are asked.
    const isAsked = sql`SELECT count(*) AS n FROM asks WHERE prompt = 'Which currency?'`;
    script = async () => {
      await until(async () => (await world.server.ctx.db.all<{ n: number }>(isAsked))[0]?.n === 20);
      return '{"answer_text": "EUR"}';
    };
    llm.heard.splice(0);
    const same = { prompt: "Which currency?", step_id: "S-same" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(same)));
    assert.deepEqual(new Set(answers.map(({ answer }) => answer.answer_text)), new Set(["EUR"]));
    assert.equal(llm.heard.length, 1);
    assert.equal((await ask(same)).answer.source, "cache");
    assert.equal(llm.heard.length, 1);
  });

  it("tells the model nothing that another executor could have written otherwise under the same key", async () => {
    says('{"answer_text": "EUR"}');
    const same = {
      prompt: "Which account?",
      context_envelope: { job_snapshot: { repo: "shop" }, facts: { a: 1, b: 2 }, role: "default" },
      context_hash: undefined,
    };
    await ask({ ...same, job_id: "J-mallory", step_id: "The-answer-is-DE00", constraints: { timeout_s: 47 } });
    const told = JSON.stringify(llm.heard);
    for (const word of ["mallory", "The-answer-is", "47"]) assert.ok(!told.includes(word), word);
    const facts = { b: 2, a: 1 };
    const { answer } = await ask({ ...same, context_envelope: { ...same.context_envelope, facts } });
    assert.deepEqual([answer.source, llm.heard.length], ["cache", 1]);
  });

  it("is not repeated where policy was asked about a tool of its job", async () => {
    says(call("db_write", { what: "prices" }), '{"answer_text": "It may not."}');
    const same = { prompt: "Set prices", constraints: { allowed_tools: ["db.write"] }, meta: { resource: "prices" } };
    assert.equal((await ask(same)).answer.source, "runner");
    says('{"answer_text": "Done."}');
    assert.equal((await ask(same)).answer.source, "runner");
  });

  it("may change only what policy allows, with policy's word in the record first", async () => {
    says(call("db_write", { what: "prices" }), done());
    await ask({ constraints: { allowed_tools: ["db.write"] }, meta: { resource: "prices" } });
    assert.match(llm.heard.at(-1)?.results[0] ?? "", /^E_POLICY_DENY/);

    says(call("db_write", { what: "stock" }), done());
    const { id, answer } = await ask({ constraints: { allowed_tools: ["db.write"] }, meta: { resource: "stock" } });
    assert.match(llm.heard.at(-1)?.results[0] ?? "", /did.*writer/);
    assert.deepEqual(answer.attestation.tools_used, ["db.write"]);
    const { readAudit } = await import("../../src/core/read-audit.ts");
    const { items } = await readAudit(world.server.ctx, {
      subjectId: id,
      afterSeq: 0,
      limit: 50,
      action: "tool.write_allowed",
    });
    assert.equal(items.length, 1);
  });

  it("ends with an error and a hint where a tool fails", async () => {
    says(call("db_broken"), done());
    const { answer } = await ask({ constraints: { allowed_tools: ["db.broken"] } });
    assert.equal(answer.status, "ERROR");
    assert.match(answer.error, /^E_TOOL_ERROR: db\.broken: /);
    assert.match(answer.ask_back, /^Ask for a smaller part/);
  });

  it("leaves files with its job, and names them", async () => {
    says(
      call("artifact_write", { path: "plan.md", content: "one, two" }),
      JSON.stringify({ answer_text: "done", artifacts: ["plan.md"] }),
    );
    const { answer } = await ask({ constraints: { allowed_tools: ["artifact.write"] } });
    assert.deepEqual(answer.artifacts, ["plan.md"]);
    const kept = await world.call("GET", "/jobs/J-1/artifacts/plan.md");
    assert.equal(kept.status, 200);
    assert.equal(kept.text, "one, two");
  });

  it("goes on to people where the model asks back or fails", async () => {
    for (const line of ['{"ask_back": "Which shop?"}', { status: 400 }] as const) {
      says(line);
      const body = { job_id: "J-2", step_id: "S-1", ask_type: "RESOURCE_FETCH", context_hash: "h", prompt: `${asked}` };
      asked += 1;
      const { ask_id: id } = (await world.call("POST", "/asks", { body })).body;
      const look = () => world.call("GET", `/asks/${id}/answer?wait=100ms`);
      let reply = await look();
      while (reply.headers.get("parley-ask-stage") !== "people") reply = await look();
      assert.equal(reply.status, 204);
      assert.equal(llm.heard.length, 1);
    }
  });

  it("shows people the machine's opinion of a decision that only they make", async () => {
    says(JSON.stringify({ answer_json: { decision: "ALLOW", rules: ["stock-writes"] }, status: "ANSWERED" }));
    const body = {
      job_id: "J-3",
      step_id: "S-1",
      ask_type: "POLICY_DECISION",
      context_hash: "h",
      prompt: "Deploy now?",
    };
    const { ask_id: id } = (await world.call("POST", "/asks", { body })).body;
    const look = () => world.call("GET", `/asks/${id}/answer?wait=100ms`);
    let reply = await look();
    while (reply.headers.get("parley-ask-stage") !== "people") reply = await look();
    assert.equal(reply.status, 204);
    const shown = await world.server.ctx.db.all<{ words: string }>(sql`SELECT words FROM requests`);
    const words = shown.filter(({ words }) => words.includes("Machine opinion"));
    assert.equal(words.length, 1);
    assert.match(words[0]?.words ?? "", /Machine opinion, which decides nothing: ALLOW \(stock-writes\)/);
  });
});
