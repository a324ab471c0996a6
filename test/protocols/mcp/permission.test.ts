import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consentText } from "../../../src/requests/model/consent.ts";
import { canonicalExact, sha256Digest } from "../../../src/lib/json/exact-json.ts";
import { advanceUntil, begun, fresh, HOUR, MINUTE, ROOMY, sharedWorld, until } from "../../support/contract.ts";
import { decider } from "../../support/deciders.ts";
import { legacy, modern, stream, TASKS, tool, toolCall } from "../../support/mcp.ts";
import { ONE_DATABASE, openWorld } from "../../support/world.ts";

const at = (name: string) => ({ headers: { "x-agent-id": name } });

for (const on of ONE_DATABASE) {
  describe(`a permission prompt on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const input = { command: "rm -rf build", note: null };
    const prompt = async (more: object = {}, name = "claude") => {
      const args = { tool_name: "Bash", input, tool_use_id: fresh("toolu"), ...more };
      return tool(world(), "approve", args, at(name));
    };
    const textOf = (result: { content: { text: string }[] }) => JSON.parse(result.content[0]?.text ?? "");

    it("is answered by one text, with the input as it came, or with why not", async () => {
      const operator = await decider(world(), "1");
      const allowing = prompt();
      await operator.decides({ approved: true });
      const allowed = await allowing;
      assert.deepEqual(allowed, {
        content: [{ type: "text", text: JSON.stringify({ behavior: "allow", updatedInput: input }) }],
        _meta: { "parley/consent_digest": sha256Digest(consentText("Bash", canonicalExact(input))) },
      });

      const denying = prompt();
      await operator.decides({ approved: false, comment: "use \u202ethe staging bucket" });
      assert.deepEqual(textOf(await denying), {
        behavior: "deny",
        message: "Rejected by operator: use the staging bucket",
      });
    });

    it("is one for each use of a tool: a repeated call joins it while it waits, and its decision is spent", async () => {
      const operator = await decider(world(), "1");
      const use = { tool_use_id: fresh("toolu") };
      const first = await stream(world(), toolCall("approve", { tool_name: "Bash", input, ...use }, { token: 1 }));
      await until(async () => (await operator.inbox()).length === 1);
      first.close();
      await world().advance(1);
      const [again, third] = [prompt(use, "default"), prompt(use, "default")];
      // Both wait for the decision, a moment past the time at which it ends.
      await begun(world(), HOUR + 4, 2);
      assert.equal((await operator.inbox()).length, 1);
      await operator.decides({ approved: true });
      for (const one of [await again, await third]) assert.equal(textOf(one).behavior, "allow");
      // Programs count uses anew: the id names another use now. So do the id with another input, and another id.
      for (const more of [use, { ...use, input: { command: "rm -rf /" } }, { tool_use_id: fresh("toolu") }]) {
        const asking = prompt(more, "default");
        await operator.decides({ approved: false });
        assert.equal(textOf(await asking).behavior, "deny");
      }
      // Without an id an approval is good once.
      for (const approved of [true, false]) {
        const asking = prompt({ tool_use_id: null }, "default");
        await operator.decides({ approved });
        assert.equal(textOf(await asking).behavior, approved ? "allow" : "deny");
      }
    });

    it("may fetch a decision whose reply was lost for a minute, and asks again after that", async () => {
      const operator = await decider(world(), "1");
      for (const [lateMs, behavior] of [
        [MINUTE - 10_000, "allow"],
        [MINUTE + 1000, "deny"],
      ] as const) {
        const use = { tool_use_id: fresh("toolu") };
        const lost = await stream(world(), toolCall("approve", { tool_name: "Bash", input, ...use }, { token: 1 }));
        await until(async () => (await operator.inbox()).length === 1);
        lost.close();
        await world().advance(1);
        await operator.decides({ approved: true });
        await world().advance(lateMs);
        const again = prompt(use, "default");
        if (behavior === "deny") await operator.decides({ approved: false });
        assert.equal(textOf(await again).behavior, behavior);
      }
    });

    it("leaves the inbox once nobody waits for it any more, also before its deadline", async () => {
      const operator = await decider(world(), "1");
      const open = await stream(world(), toolCall("approve", { tool_name: "Bash", input, tool_use_id: fresh("t") }));
      await until(async () => (await operator.inbox()).length === 1);
      await world().advance(10 * MINUTE);
      assert.equal((await operator.inbox()).length, 1);
      open.close();
      await advanceUntil(world(), 10_000, async () => (await operator.inbox()).length === 0);
    });

    it("is denied for a client's own questions, because a yes would be an answer that nobody gave", async () => {
      const questions = [{ question: "Which database?", header: "DB", options: [{ label: "SQLite" }] }];
      const { behavior, message } = textOf(await prompt({ tool_name: "AskUserQuestion", input: { questions } }));
      assert.equal(behavior, "deny");
      assert.match(message, /can carry no answers/);
    });

    it("is denied when nobody decides, when it is cancelled, and when it makes no sense", async () => {
      const operator = await decider(world(), "1");
      const open = await stream(world(), toolCall("approve", { tool_name: "Bash", input, tool_use_id: fresh("t") }));
      await until(async () => (await operator.inbox()).length === 1);
      let isOver = false;
      const ended = open.message().finally(() => (isOver = true));
      await advanceUntil(world(), MINUTE, () => isOver);
      const { result } = await ended;
      assert.match(textOf(result).message, /^Not approved: nobody decided within 3600 s \(call_\w{22}\)\.$/);
      assert.equal(textOf(result).behavior, "deny");

      for (const args of [
        {},
        { tool_name: "Bash" },
        { tool_name: "Bash", input: [] },
        { tool_name: "", input: {} },
        [1],
        7,
        null,
      ]) {
        const { status, body } = await legacy(world(), "tools/call", { name: "approve", arguments: args });
        assert.equal(status, 200);
        assert.equal(body.error, undefined);
        const said = textOf(body.result);
        assert.deepEqual([said.behavior, body.result.isError], ["deny", undefined], JSON.stringify(args));
        assert.match(said.message, /^Not approved: /);
      }
    });

    it("carries the digest beside the server's own facts in the modern revision", async () => {
      const operator = await decider(world(), "1");
      const asking = modern(
        world(),
        "tools/call",
        { name: "approve", arguments: { tool_name: "Bash", input } },
        { capabilities: TASKS },
      );
      await operator.decides({ approved: true });
      const { text, body } = await asking;
      assert.equal(textOf(body.result).behavior, "allow");
      assert.match(body.result._meta["parley/consent_digest"], /^sha256:/);
      assert.equal(body.result._meta["io.modelcontextprotocol/serverInfo"].name, "parley");
      assert.equal(text.split('"_meta"').length, 2);
      assert.equal(body.result.resultType, "complete");
    });
  });
}

describe("a permission prompt", () => {
  it("is denied while the server stops, and when too much is asked", async () => {
    const world = await openWorld({ on: "sqlite", env: { ...ROOMY, PARLEY_A2H_PENDING_PER_AGENT: "1" } });
    const use = (id: string) => tool(world, "approve", { tool_name: "Bash", input: {}, tool_use_id: id });
    const waiting = use("one");
    const operator = await decider(world, "1");
    await until(async () => (await operator.inbox()).length === 1);
    const refused = await use("two");
    assert.match(refused.content[0].text, /"behavior":"deny","message":"Not approved: Too many/);
    await world[Symbol.asyncDispose]();
    assert.match((await waiting).content[0].text, /"behavior":"deny"/);
  });
});
