import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accepted, callBody, openScene, sharedScene } from "../../support/a2h.ts";
import { ONE_DATABASE } from "../../support/world.ts";

const ANA = {
  name: "Ana Ruiz",
  description: "Knows billing and refunds",
  role: "Finance lead",
  prioritizedContactChannels: [
    { slack: { channelOrUserId: "U2147483697" } },
    { email: { address: "Ana@Example.com" } },
  ],
};

for (const on of ONE_DATABASE) {
  describe(`humans of A2H on ${on}`, () => {
    const shared = sharedScene(on);

    it("are written down, changed and retired by admins, and shown to agents without how to reach them", async () => {
      const scene = shared();
      const at = new Date(scene.world.clock.now()).toISOString();
      const created = await scene.admin.post("/humans", { ...ANA, more: 1 });
      const { id } = accepted(created);
      const whole = { id, ...ANA, inboxScope: "addressed", createdAt: at, updatedAt: at };
      assert.deepEqual([created.status, created.body], [201, whole]);
      assert.equal(created.headers.get("location"), `/humanlayer/v1/humans/${id}`);
      const seen = { id, name: ANA.name, description: ANA.description };
      assert.deepEqual(accepted(await scene.agent.get(`/humans/${id}`)), seen);
      assert.deepEqual(accepted(await scene.admin.get(`/humans/${id}`)), whole);
      assert.equal((await scene.agent.get("/humans?view=admin")).status, 403);

      await scene.world.advance(1000);
      const later = new Date(scene.world.clock.now()).toISOString();
      const changed = accepted(await scene.admin.call("PATCH", `/humans/${id}`, { role: "CFO", name: null }));
      assert.deepEqual(changed, { ...whole, role: "CFO", updatedAt: later });
      const put = { name: "Ana R.", prioritizedContactChannels: [{ whatsapp: { phoneNumber: "+1 (415) 555-0123" } }] };
      const replaced = accepted(await scene.admin.call("PUT", `/humans/${id}`, { ...put, inboxScope: "all" }));
      assert.deepEqual(replaced, { id, ...put, description: "", inboxScope: "all", createdAt: at, updatedAt: later });

      assert.equal((await scene.admin.call("DELETE", `/humans/${id}`)).status, 204);
      for (const method of ["GET", "DELETE"])
        assert.equal((await scene.admin.call(method, `/humans/${id}`)).status, 404);
      assert.equal((await scene.admin.call("PUT", `/humans/${id}`, put)).status, 404);
      assert.equal((await scene.admin.call("DELETE", "/humans/1")).status, 422, "whoever runs the server stays");
    });

    it("are found page by page, and by words in any case and with any accents", async () => {
      await using scene = await openScene(on);
      for (const [name, description] of [
        ["José Núñez", "Steuern und Straßenbau"],
        ["Jane Doe", "Knows about technology"],
        ["Bo Lind", "technology, taxes"],
      ])
        await scene.human(name ?? "", { description });
      const names = async (query: string) =>
        accepted(await scene.agent.get(query)).humans.map(({ name }: { name: string }) => name);
      assert.deepEqual(await names("/humans/search?q=jose%20NUNEZ"), ["José Núñez"]);
      assert.deepEqual(await names("/humans/search?q=TECHNOLOGY"), ["Jane Doe", "Bo Lind"]);
      assert.deepEqual(await names("/humans/search?q=technology+lind"), ["Bo Lind"]);
      assert.deepEqual(await names("/humans/search?q=nobody"), []);
      const first = accepted(await scene.agent.get("/humans?limit=2"));
      assert.deepEqual([first.humans.length, first.nextCursor], [2, first.humans[1].id]);
      const rest = accepted(await scene.agent.get(`/humans?limit=2&cursor=${first.nextCursor}`));
      assert.deepEqual([rest.humans.length, rest.nextCursor], [2, undefined]);
      assert.deepEqual(
        rest.humans.map((one: object) => Object.keys(one)),
        [
          ["id", "name", "description"],
          ["id", "name", "description"],
        ],
      );
    });

    it("own their addresses alone, also when two are written down at once", async () => {
      const scene = shared();
      const wish = (name: string) => ({
        name,
        prioritizedContactChannels: [{ email: { address: "one@example.com" } }],
      });
      const replies = await Promise.all(["A", "B", "C", "D"].map((name) => scene.admin.post("/humans", wish(name))));
      assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 422, 422, 422]);
      const refused = replies.find(({ status }) => status === 422);
      assert.deepEqual(refused?.body.detail[0].loc, ["body", "prioritizedContactChannels", 0]);
      const { id } = replies.find(({ status }) => status === 201)?.body ?? assert.fail("nobody was enrolled");
      accepted(await scene.admin.call("PUT", `/humans/${id}`, wish("A again")));
      await scene.admin.call("DELETE", `/humans/${id}`);
      accepted(await scene.admin.post("/humans", wish("E")));
    });

    it("are refused where a field breaks its rule", async () => {
      const scene = shared();
      const channels = (...list: unknown[]) => ({ name: "X", prioritizedContactChannels: list });
      for (const body of [
        {},
        { name: "X" },
        { ...channels({ inbox: {} }), name: "  " },
        { ...channels({ inbox: {} }), role: "x".repeat(101) },
        { ...channels({ inbox: {} }), inboxScope: "some" },
        channels(),
        channels({}),
        channels({ inbox: {}, email: { address: "a@b.example" } }),
        channels({ fax: {} }),
        channels({ human: { id: "1" } }),
        channels({ slack: { channelOrUserId: "U2147483697", botToken: "xoxb-1" } }),
        channels({ email: { address: "a@b.example", template: "x" } }),
        channels({ email: { address: "not an address" } }),
        channels({ sms: { phoneNumber: "0151 23" } }),
      ]) {
        const reply = await scene.admin.post("/humans", body);
        assert.deepEqual([reply.status, reply.body.error.code], [422, "validation_failed"], JSON.stringify(body));
      }
    });

    it("who are retired leave what they decided, and hand on what only they were asked", async () => {
      const scene = shared();
      const [ana, cy] = [await scene.human("Ana Ruiz"), await scene.human("Cy", { inboxScope: "all" })];
      const [done, open] = [
        callBody({ channel: { human: { id: ana.id } } }),
        callBody({ channel: { human: { id: ana.id } } }),
      ];
      for (const body of [done, open]) accepted(await scene.agent.post("/function_calls", body));
      const respond = (body: { call_id: string }) => `/agent/function_calls/${body.call_id}/respond`;
      const before = accepted(await ana.answer.post(respond(done), { approved: true }));
      assert.equal((await cy.answer.post(respond(open), { approved: true })).status, 403);

      assert.equal((await scene.admin.call("DELETE", `/humans/${ana.id}`)).status, 204);
      assert.equal((await ana.answer.get("/agent/function_calls/pending")).status, 401, "the key ends too");
      assert.deepEqual(accepted(await scene.agent.get(`/function_calls/${done.call_id}`)), before);
      assert.equal(accepted(await cy.answer.post(respond(open), { approved: true })).status.user_info.name, "Cy");
      const audit = accepted(await scene.admin.get(`/audit?call_id=${open.call_id}`));
      assert.equal(audit.items[0].action, "function_call.created");
      const rerouted = accepted(await scene.admin.get("/audit?action=function_call.rerouted"));
      assert.ok(rerouted.items.length >= 1);
    });
  });
}
