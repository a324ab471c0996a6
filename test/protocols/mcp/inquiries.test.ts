import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { fresh, ROOMY, sharedWorld } from "../../support/contract.ts";
import { somebody } from "../../support/deciders.ts";
import { tool } from "../../support/mcp.ts";
import { ONE_DATABASE } from "../../support/world.ts";

const WAIT = "wait_for_human_responses";
const WHY = "Which customer\u202e is this for?";
const NO_WAIT = { max_wait_seconds: 0 };

for (const on of ONE_DATABASE) {
  describe(`a question back to an agent with the tools, on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    async function asked(name: string, more: object) {
      const jane = await somebody(world());
      const result = await tool(world(), name, { to: jane.number, ...NO_WAIT, ...more });
      const { call_id, plan_id } = result.structuredContent;
      const [ask] = await jane.inbox();
      const { text } = await createKey(world().server.ctx, { name: fresh("phone"), scope: "answer", person: jane.id });
      const askBack = async (question: string) => {
        const headers = { authorization: `Bearer ${text}` };
        const path = `/people/me/asks/${ask?.id}/inquiries`;
        return world().call("POST", path, { headers, body: { text: question } });
      };
      return { jane, handle: (plan_id ?? call_id) as string, askBack };
    }

    for (const [name, more] of [
      ["request_approval", { fn: "deploy", kwargs: { env: "staging" } }],
      ["request_approval", { calls: [{ fn: "deploy", kwargs: { env: "staging" } }] }],
      ["contact_human", { message: "When do we ship?" }],
    ] as const) {
      it(`ends its wait, is answered, and the wait goes on: ${Object.keys(more)[0]}`, async () => {
        const { jane, handle, askBack } = await asked(name, more);
        const waiting = tool(world(), WAIT, { question_id: handle });
        assert.equal((await askBack(WHY)).status, 200);
        const { structuredContent: back, content } = await waiting;
        assert.deepEqual([back.settled, back.asked_back, back.status], [false, true, "pending"]);
        const [inquiry] = back.inquiries;
        assert.deepEqual([inquiry.text, inquiry.asked_by.name], ["Which customer is this for?", jane.name]);
        assert.match(content[1].text, /answer_inquiry/);

        const answer = (text: string) => tool(world(), "answer_inquiry", { inquiry_id: inquiry.id, answer: text });
        assert.equal((await answer("Lind & Sons")).structuredContent.answered, true);
        assert.equal((await answer("Somebody else")).structuredContent.error.code, "CONFLICT");
        const next = await tool(world(), WAIT, { question_id: handle, ...NO_WAIT });
        assert.equal(next.structuredContent.asked_back, undefined);
        assert.equal(next.structuredContent.inquiries[0].answer, "Lind & Sons");
        const decided = tool(world(), WAIT, { question_id: handle });
        await jane.decides(name === "contact_human" ? { text: "Friday" } : { approved: true });
        assert.equal((await decided).structuredContent.settled, true);
      });
    }

    it("is answered of its own requests alone", async () => {
      const { askBack, handle } = await asked("request_approval", { fn: fresh("deploy"), kwargs: {} });
      assert.equal((await askBack(WHY)).status, 200);
      const { structuredContent: body } = await tool(world(), "check_human_responses", { question_id: handle });
      const headers = { "x-agent-id": "another" };
      const args = { inquiry_id: body.inquiries[0].id, answer: "Me" };
      const other = await tool(world(), "answer_inquiry", args, { headers });
      assert.deepEqual([other.isError, other.structuredContent.error.code], [true, "NOT_FOUND"]);
      assert.equal((await tool(world(), "answer_inquiry", { ...args, answer: "" })).isError, true);
    });
  });
}
