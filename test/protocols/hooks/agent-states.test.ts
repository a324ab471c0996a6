import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { AGENTS } from "../../../src/connect/registry.ts";
import { wireTime } from "../../../src/protocols/http/question.ts";
import { fresh, ROOMY, sharedWorld } from "../../support/contract.ts";
import { decider } from "../../support/deciders.ts";
import { newFolder } from "../../support/program.ts";
import { DATABASES } from "../../support/world.ts";

type Headers = Record<string, string>;

const CALLS = "/a2h/v1alpha1/function_calls";

for (const on of DATABASES) {
  describe(`the newest prompt of an agent on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const keyed = async (scope: "agent" | "admin"): Promise<Headers> => {
      const { text } = await createKey(world().server.ctx, { name: fresh(scope), scope });
      return { authorization: `Bearer ${text}` };
    };
    const ask = async (headers: Headers, call_id: string, spec: object): Promise<void> => {
      const [agent] = call_id.split(":");
      const body = { run_id: "s", call_id: call_id.replace(":", "-"), agent_prompt: { agent }, spec };
      const reply = await world().call("POST", CALLS, { headers, body });
      assert.equal(reply.status, 200, reply.text);
      await world().advance(1000);
    };
    const newest = async (headers: Headers, agent: string) =>
      (await world().call("GET", `/hooks/agents/${agent}`, { headers })).body.last_prompt;

    it("is the caller's own, of the agent whose hook asked", async () => {
      const [one, other] = [await keyed("agent"), await keyed("agent")];
      await ask(one, "codex:1", { fn: "Bash", kwargs: { command: "ls" } });
      await ask(one, "codex:2", { fn: "Write", kwargs: { path: "a.txt" } });
      await ask(one, "gemini:1", { fn: "shell", kwargs: { command: "date" } });
      await ask(other, "codex:3", { fn: "Edit", kwargs: { path: "b.txt" } });
      assert.equal((await newest(one, "codex")).tool, "Write");
      assert.equal((await newest(one, "gemini")).tool, "shell");
      assert.equal(await newest(one, "claude"), null);
      assert.equal((await newest(other, "codex")).tool, "Edit");
      assert.equal(await newest({ "x-agent-id": "codex" }, "codex"), null);

      const all = (await world().call("GET", "/admin/agents", { headers: await keyed("admin") })).body.agents;
      const told = all.map(({ agent, last_prompt }: { agent: string; last_prompt: { tool: string } | null }) => [
        agent,
        last_prompt?.tool,
      ]);
      assert.deepEqual(told.slice(0, 3), [
        ["claude", undefined],
        ["codex", "Edit"],
        ["gemini", "shell"],
      ]);
    });

    it("may have been decided by a rule, which is named", async () => {
      const rules = "version: 1\nrules:\n  - { id: lists, when: { fn: Bash }, decision: ALLOW }\n";
      writeFileSync(world().config.relay.policyFile, rules);
      await world().server.reload();
      const headers = await keyed("agent");
      await ask(headers, `codex:${fresh("r")}`, { fn: "Bash", kwargs: { command: "ls" } });
      const { outcome, by } = await newest(headers, "codex");
      assert.deepEqual([outcome, by], ["approved", "The rule lists"]);
      writeFileSync(world().config.relay.policyFile, "version: 1\nrules: []\n");
      await world().server.reload();
    });

    it("says what became of it and by whom, and shows no secret", async () => {
      const operator = await decider(world(), "1");
      const headers = await keyed("agent");
      const spec = {
        fn: "Bash",
        kwargs: { command: "curl -H 'Authorization: Bearer sk_live_4eC39HqLyjWDarjtT1zdp7dc'" },
      };
      await ask(headers, `codex:${fresh("a")}`, { ...spec, timeout_seconds: 60 });
      const waiting = await newest(headers, "codex");
      assert.deepEqual([waiting.outcome, waiting.by, waiting.settled_at], ["waiting", null, null]);
      assert.doesNotMatch(JSON.stringify(waiting), /4eC39HqLyjWDarjtT1zdp7dc/);
      await world().advance(61_000);
      assert.equal((await newest(headers, "codex")).outcome, "expired");

      const id = `codex:${fresh("b")}`;
      await ask(headers, id, { fn: "Bash", kwargs: { command: "rm -rf build" } });
      const [open] = (await operator.inbox()).slice(-1);
      await operator.decide(open?.id ?? "", { approved: false, comment: "no" });
      const rejected = await newest(headers, "codex");
      assert.deepEqual([rejected.outcome, rejected.by], ["rejected", "operator"]);

      const withdrawn = `codex:${fresh("c")}`;
      await ask(headers, withdrawn, { fn: "Bash", kwargs: { command: "make" } });
      const path = `/a2h/v1alpha1/agent/function_calls/${withdrawn}/cancel`.replace("codex:", "codex-");
      await world().call("POST", path, { headers, body: { reason: "Nobody waits." } });
      assert.equal((await newest(headers, "codex")).outcome, "withdrawn");
    });
  });
}

describe("the agents of the server's computer", () => {
  const home = newFolder();
  mkdirSync(join(home, ".gemini"), { recursive: true });
  mkdirSync(join(home, ".copilot"));
  mkdirSync(join(home, ".cursor"));
  writeFileSync(join(home, ".cursor/hooks.json"), "{ not JSON");
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, HOME: home } });
  const read = async (headers: Headers) => world().call("GET", "/admin/agents", { headers });

  it("are those in use there, with whether each has the hook, and prompts come from anywhere", async () => {
    const gemini = await AGENTS["gemini"]?.load();
    writeFileSync(
      join(home, ".gemini/settings.json"),
      gemini?.withHook("", { command: "parley hook gemini", timeoutSeconds: 60 }) ?? "",
    );
    const spec = { fn: "Bash", kwargs: { command: "ls" } };
    const headers = { "x-agent-id": "codex" };
    await world().call("POST", CALLS, { headers, body: { run_id: "s", call_id: "codex:1", spec } });

    const { text } = await createKey(world().server.ctx, { name: "console", scope: "admin" });
    const { status, body } = await read({ authorization: `Bearer ${text}` });
    assert.equal(status, 200);
    const states: Record<string, unknown>[] = body.agents;
    assert.deepEqual(
      states.map(({ agent }) => agent),
      Object.keys(AGENTS),
    );
    assert.deepEqual(
      states.filter(({ here }) => here).map(({ agent, hook }) => [agent, hook]),
      [
        ["gemini", true],
        ["copilot", false],
        ["cursor", null],
      ],
    );
    assert.ok(states.every(({ here, hook }) => here || hook === false));
    assert.deepEqual(
      states.flatMap(({ agent, last_prompt }) => (last_prompt === null ? [] : [[agent, last_prompt]])),
      [
        [
          "codex",
          {
            at: wireTime(world().clock.now()),
            tool: "Bash",
            sentence: "Run `ls`",
            asked_by: "codex (without a key)",
            outcome: "waiting",
            by: null,
            settled_at: null,
          },
        ],
      ],
    );
  });

  it("are shown to admins alone, and an unknown agent is nobody's", async () => {
    const { text } = await createKey(world().server.ctx, { name: fresh("agent"), scope: "agent" });
    assert.equal((await read({ authorization: `Bearer ${text}` })).status, 403);
    assert.equal((await read({})).status, 401);
    assert.equal((await world().call("GET", "/hooks/agents/emacs")).status, 404);
    const { text: admin } = await createKey(world().server.ctx, { name: fresh("admin"), scope: "admin" });
    const headers = { authorization: `Bearer ${admin}` };
    assert.equal((await world().call("GET", "/hooks/agents/codex", { headers })).status, 403);
  });
});
