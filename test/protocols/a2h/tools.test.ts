import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accepted, assertA2hError, callBody, contactBody, messageBody, sharedScene } from "../../support/a2h.ts";
import { tool } from "../../support/mcp.ts";
import { ONE_DATABASE } from "../../support/world.ts";

for (const on of ONE_DATABASE) {
  describe(`what is asked of people by a tool, over A2H on ${on}`, () => {
    const shared = sharedScene(on);

    it("is listed as pending beside what was asked there, and is read, answered and withdrawn by its id", async () => {
      const scene = shared();
      const ana = await scene.human("Ana Ruiz");
      const bot = await scene.holder({ name: "both", scope: "agent", selfRespond: true });
      const headers = { authorization: `Bearer ${bot.key}` };
      const byTool = async (name: string, args: Record<string, unknown>) =>
        (await tool(scene.world, name, { ...args, to: ana.id, max_wait_seconds: 0 }, { headers })).structuredContent
          .call_id as string;
      const channel = { human: { id: ana.id } };
      const own = { call: callBody({ channel }), contact: contactBody({ channel }), message: messageBody() };
      accepted(await bot.post("/function_calls", own.call));
      accepted(await bot.post("/human_contacts", own.contact));
      // Listed are the oldest first.
      await scene.world.advance(1000);
      const kwargs = { order: "A-1007", amount: 49.5 };
      const approval = await byTool("request_approval", {
        fn: "issue_refund",
        kwargs,
        reject_options: [{ name: "no" }],
      });
      const options = [{ name: "tue", title: "Tuesday" }];
      const contact = await byTool("contact_human", { message: "Which day suits you?", options });
      const schema = { type: "object", properties: { n: { type: "number" } } };
      const message = await byTool("contact_human", { message: "How many are left?", response_schema: schema });

      const pending = async (kind: string, by = bot) => {
        const { items, total } = accepted(await by.get(`/agent/${kind}/pending`));
        assert.equal(total, items.length);
        return items as { run_id: string; call_id: string; spec: unknown; status: { ask_id: string } }[];
      };
      const calls = await pending("function_calls");
      assert.deepEqual(
        calls.map(({ run_id, call_id, spec }) => ({ run_id, call_id, spec })),
        [
          { run_id: own.call.run_id, call_id: own.call.call_id, spec: own.call.spec },
          {
            run_id: "mcp",
            call_id: approval,
            spec: { fn: "issue_refund", kwargs, reject_options: [{ name: "no" }] },
          },
        ],
      );
      const contacts = await pending("human_contacts");
      assert.deepEqual(
        contacts.map(({ call_id, spec }) => ({ call_id, spec })),
        [
          { call_id: own.contact.call_id, spec: own.contact.spec },
          { call_id: contact, spec: { msg: "Which day suits you?", response_options: options } },
        ],
      );
      assert.deepEqual(
        (await pending("function_calls", ana.answer)).map(({ call_id }) => call_id),
        calls.map(({ call_id }) => call_id),
      );
      assert.deepEqual(await pending("function_calls", scene.agent), []);

      assert.deepEqual(accepted(await bot.get(`/function_calls/${approval}`)), calls[1]);
      assert.equal((await bot.get(`/human_contacts/${approval}`)).status, 404);
      assert.equal((await scene.agent.get(`/function_calls/${approval}`)).status, 404);
      assert.deepEqual(accepted(await scene.admin.get(`/human_contacts/${contact}`)), contacts[1]);
      const read = accepted(await bot.get(`/messages/${message}`));
      assert.deepEqual([read.metadata, read.spec.response_schema], [{ uid: message }, schema]);

      const respond = `/agent/function_calls/${approval}/respond`;
      assertA2hError(await bot.post(respond, { approved: true }), 403, {
        code: "self_response_forbidden",
        message: "An agent may not answer its own request.",
      });
      accepted(await ana.answer.post(respond, { approved: true }));
      const told = await tool(scene.world, "check_human_responses", { question_id: approval }, { headers });
      assert.equal(told.structuredContent.status, "approved");
      accepted(await bot.post(`/agent/human_contacts/${contact}/cancel`));
      accepted(await bot.post(`/messages/${message}/cancel`));
      assert.deepEqual(
        (await pending("human_contacts")).map(({ call_id }) => call_id),
        [own.contact.call_id],
      );
    });
  });
}
