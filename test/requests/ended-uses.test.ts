import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { advanceUntil, fresh, MINUTE, sharedWorld } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { OPERATOR } from "../support/identities.ts";
import { DATABASES, type Reply } from "../support/world.ts";

const A2H = "/a2h/v1alpha1";
const digest = (pair: string) => `sha256:${pair.repeat(32)}`;

for (const on of DATABASES) {
  describe(`the end of a use of a tool whose prompt people approved, on ${on}`, () => {
    const world = sharedWorld({ on });
    let operator: Decider;
    let headers: Record<string, string>;
    before(async () => {
      operator = await decider(world(), OPERATOR);
      headers = { authorization: `Bearer ${await newKey()}` };
    });

    const newKey = async () => (await createKey(world().server.ctx, { name: fresh("coder"), scope: "agent" })).text;
    const post = (path: string, body: object, by = headers): Promise<Reply> =>
      world().call("POST", `${A2H}${path}`, { headers: by, body });
    const outcome = async (callId: string): Promise<unknown> => {
      const { body } = await world().call("GET", `${A2H}/function_calls/${callId}`, { headers });
      return body.status.outcome?.state;
    };
    const over = (marks: object, by = headers) =>
      post("/agent_prompts/outcome", { agent: "codex", tool: "Bash", outcome: "done", ...marks }, by);

    async function approved(marks: object, reports: object = { reports: "end" }): Promise<string> {
      const call_id = fresh("call");
      const spec = { fn: "Bash", kwargs: { command: call_id } };
      const { body } = await post("/function_calls", {
        run_id: "s1",
        call_id,
        ...reports,
        agent_prompt: { agent: "codex", ...marks },
        spec,
      });
      assert.equal((await operator.decide(body.status.ask_id, { approved: true })).status, 200);
      return call_id;
    }

    it("is the end of the newest approved prompt of that session, tool and input, and then of the one before", async () => {
      const use_digest = digest("5a");
      const first = await approved({ use_digest });
      // Of two prompts of one millisecond none is the newest.
      await world().advance(1000);
      const second = await approved({ use_digest });
      const { status, text } = await over({ use_digest, outcome: "failed", text: "exit 1" });
      assert.deepEqual([status, text], [204, ""]);
      assert.deepEqual([await outcome(first), await outcome(second)], ["awaited", "failed"]);
      await over({ use_digest });
      assert.deepEqual([await outcome(first), await outcome(second)], ["done", "failed"]);
    });

    it("is that of the named use, and of no other, however alike they are", async () => {
      const use_digest = digest("5b");
      const [first, second] = [await approved({ use: "u1", use_digest }), await approved({ use: "u2", use_digest })];
      await over({ use: "u3", use_digest });
      await over({ use: "u1", use_digest });
      assert.deepEqual([await outcome(first), await outcome(second)], ["done", "awaited"]);
    });

    it("is taken late too, where it was unknown", async () => {
      const use_digest = digest("5c");
      const callId = await approved({ use_digest });
      await advanceUntil(world(), MINUTE, async () => (await outcome(callId)) === "unknown");
      await over({ use_digest });
      assert.equal(await outcome(callId), "done");
    });

    it("changes nothing about another use, another tool, another agent, another asker, or a prompt that promised nothing", async () => {
      const use_digest = digest("5d");
      const [promised, other] = [await approved({ use_digest }), await approved({ use_digest }, {})];
      const stranger = { authorization: `Bearer ${await newKey()}` };
      const replies = [
        await over({ use_digest: digest("5e") }),
        await over({}),
        await over({ use_digest, tool: "Write" }),
        await over({ use_digest, agent: "gemini" }),
        await over({ use_digest }, stranger),
      ];
      assert.deepEqual(
        replies.map(({ status }) => status),
        [204, 204, 204, 204, 204],
      );
      assert.deepEqual([await outcome(promised), await outcome(other)], ["awaited", undefined]);
    });

    it("is refused with a clear error where it is not well-formed", async () => {
      for (const marks of [{ agent: "" }, { tool: "" }, { outcome: "ok" }, { use_digest: "5a" }])
        assert.equal((await over(marks)).status, 422, JSON.stringify(marks));
    });
  });
}
