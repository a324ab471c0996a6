import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertA2hError, callBody, contactBody, messageBody, openCall, sharedScene } from "../../support/a2h.ts";
import { ONE_DATABASE } from "../../support/world.ts";

for (const on of ONE_DATABASE) {
  describe(`errors of fields in A2H on ${on}`, () => {
    const shared = sharedScene(on);

    it("tell every field that breaks its rule, in the shape that clients know", async () => {
      const scene = shared();
      const told = (reply: { body: { detail: { loc: unknown; msg: string; type: string }[] } }) =>
        reply.body.detail.map(({ loc, msg, type }) => [JSON.stringify(loc), msg, type].join(" | "));
      const noFn = await scene.agent.post("/function_calls", { ...callBody(), spec: { kwargs: {} } });
      assertA2hError(noFn, 422, { code: "validation_failed", message: "spec.fn is required" }, [
        { loc: ["body", "spec", "fn"], msg: "spec.fn is required", type: "value_error" },
      ]);
      const cases: [path: string, body: unknown, ...problems: string[]][] = [
        ["/function_calls", {}, '["body","run_id"]', '["body","call_id"]', '["body","spec"]'],
        ["/function_calls", callBody({ kwargs: null }), '["body","spec","kwargs"]'],
        ["/function_calls", callBody({ kwargs: [] }), '["body","spec","kwargs"]'],
        ["/function_calls", callBody({}, { call_id: "a/b" }), '["body","call_id"]'],
        ["/function_calls", callBody({}, { run_id: "a\nb" }), '["body","run_id"]'],
        ["/function_calls", callBody({ fn: "x".repeat(257) }), '["body","spec","fn"]'],
        ["/function_calls", callBody({ state: [] }), '["body","spec","state"]'],
        ["/function_calls", callBody({ timeout_seconds: 9 }), '["body","spec","timeout_seconds"]'],
        ["/function_calls", callBody({ timeout_seconds: 10.5 }), '["body","spec","timeout_seconds"]'],
        ["/function_calls", callBody({ on_timeout: "approve" }), '["body","spec","on_timeout"]'],
        [
          "/function_calls",
          callBody({ reject_options: [{ name: "a" }, { name: "a" }] }),
          '["body","spec","reject_options",1,"name"]',
        ],
        [
          "/function_calls",
          callBody({ reject_options: [{ name: "a" }, { name: "b", title: " Approve! " }] }),
          '["body","spec","reject_options",1,"title"]',
        ],
        [
          "/function_calls",
          callBody({ reject_options: [{ name: "OK" }] }),
          '["body","spec","reject_options",0,"name"]',
        ],
        [
          "/function_calls",
          callBody({ reject_options: [{ title: "a" }] }),
          '["body","spec","reject_options",0,"name"]',
        ],
        ["/function_calls", callBody({ channel: { fax: {} } }), '["body","spec","channel","fax"]'],
        [
          "/function_calls",
          callBody({ channel: { slack: { channel_or_user_id: "#ops" } } }),
          '["body","spec","channel","slack","channel_or_user_id"]',
        ],
        [
          "/function_calls",
          callBody({ channel: { slack: { channel_or_user_id: "C1X", channelOrUserId: "C2X" } } }),
          '["body","spec","channel","slack","channelOrUserId"]',
        ],
        [
          "/function_calls",
          callBody({ channel: { email: { address: "a@b.example, c@d.example" } } }),
          '["body","spec","channel","email","address"]',
        ],
        ["/function_calls", callBody({ channel: { human: {} } }), '["body","spec","channel","human","id"]'],
        ["/function_calls", callBody({ channel: { all_of: [] } }), '["body","spec","channel","all_of"]'],
        [
          "/function_calls",
          callBody({ channel: { quorum: { min: 2, of: [{ inbox: {} }] } } }),
          '["body","spec","channel","quorum","min"]',
        ],
        ["/function_calls", callBody({ channel: { all_of: [{ inbox: {} }], inbox: {} } }), '["body","spec","channel"]'],
        [
          "/function_calls",
          callBody({ channel: { all_of: [{ email: { address: "nobody@example.com" } }] } }),
          '["body","spec","channel","all_of",0,"email"]',
        ],
        [
          "/function_calls",
          callBody({ editable: true, channel: { all_of: [{ inbox: {} }] } }),
          '["body","spec","editable"]',
        ],
        [
          "/function_calls",
          callBody({
            timeout_seconds: 60,
            escalation: [{ after_seconds: 60, channel: { inbox: {} }, escalation_msg: "x" }],
          }),
          '["body","spec","escalation",0,"after_seconds"]',
        ],
        [
          "/function_calls",
          callBody({ escalation: [{ after_seconds: 60, channel: {}, escalation_msg: "x" }] }),
          '["body","spec","escalation",0,"channel"]',
        ],
        ["/human_contacts", contactBody({ msg: "" }), '["body","spec","msg"]'],
        ["/human_contacts", contactBody({ subject: "a\nb" }), '["body","spec","subject"]'],
        [
          "/human_contacts",
          contactBody({ channel: { all_of: [{ inbox: {} }] } }),
          '["body","spec","channel","all_of"]',
        ],
        ["/messages", { ...messageBody(), kind: "Massage" }, '["body","kind"]'],
        ["/messages", messageBody({}, { metadata: { uid: "a b" } }), '["body","metadata","uid"]'],
        ["/messages", messageBody({ message: "" }), '["body","spec","message"]'],
      ];
      for (const [path, body, ...problems] of cases) {
        const reply = await scene.agent.post(path, body);
        assert.equal(reply.status, 422, `${JSON.stringify(body).slice(0, 200)} ${reply.text}`);
        assert.equal(reply.body.error.code, "validation_failed", reply.text);
        assert.equal(reply.body.error.message, reply.body.detail[0].msg);
        assert.deepEqual(
          told(reply).map((line) => line.split(" | ")[0]),
          problems,
          reply.text,
        );
        assert.ok(told(reply).every((line) => line.endsWith(" | value_error")));
      }
      const emptyList = callBody({ channel: { slack: { channel_or_user_id: "C1X", allowed_responder_ids: [] } } });
      const says = "allowed_responder_ids if provided must not be empty";
      assert.equal((await scene.agent.post("/function_calls", emptyList)).body.error.message, says);
      for (const path of [
        "/humans/search",
        "/humans?limit=0",
        "/humans/search?q=%20",
        "/agent/function_calls/pending?limit=1001",
      ]) {
        const reply = await scene.agent.get(path);
        assert.deepEqual([path, reply.status, reply.body.error.code], [path, 422, "validation_failed"]);
      }
    });

    it("tell a channel, a human or a conversation that is not there", async () => {
      const scene = shared();
      assertA2hError(
        await scene.agent.post("/function_calls", callBody({ channel: { sms: { phone_number: "+14155550123" } } })),
        422,
        {
          code: "channel_unavailable",
          message: "SMS is not configured on this server.",
          channel: "sms",
          available: ["inbox", "human", "slack", "email"],
        },
      );
      assertA2hError(await scene.agent.post("/function_calls", callBody({ channel: { human: { id: "654" } } })), 422, {
        code: "unknown_human",
        message: "No human has this id.",
        id: "654",
      });
      assertA2hError(await scene.agent.post("/messages", messageBody({ channel_id: 31 })), 422, {
        code: "unknown_channel",
        message: "No channel has this id.",
        id: "31",
      });
    });

    it("tell an option that was not offered, and arguments that may not be edited", async () => {
      const scene = shared();
      const { ana, respond } = await openCall(scene, {
        reject_options: [{ name: "wrong_account" }, { name: "later" }],
      });
      const error = {
        code: "unknown_option",
        message: "This option was not offered.",
        options: ["wrong_account", "later"],
      };
      assertA2hError(await ana.answer.post(respond, { approved: false, reject_option_name: "never" }), 422, error);
      assertA2hError(await ana.answer.post(respond, { approved: true, reject_option_name: "later" }), 422, error);
      assertA2hError(await ana.answer.post(respond, { approved: true, kwargs: {} }), 422, {
        code: "not_editable",
        message: "This request does not take edited arguments.",
      });
    });

    it("tell a schema that cannot be used, and an answer that does not fit one", async () => {
      const scene = shared();
      const bad = messageBody({ response_schema: { $ref: "https://schemas.example/s.json" } });
      const error = {
        code: "schema_invalid",
        message: "response_schema: remote $ref is not supported",
        path: "/spec/response_schema/$ref",
      };
      assertA2hError(await scene.agent.post("/messages", bad), 422, error, [
        { loc: ["body", "spec", "response_schema", "$ref"], msg: error.message, type: "value_error" },
      ]);
      const { ana, respond } = await openCall(scene, {
        editable: true,
        kwargs_schema: { properties: { order: { type: "string" } } },
      });
      const reply = await ana.answer.post(respond, { approved: true, kwargs: { order: 7 } });
      assertA2hError(reply, 422, { code: "validation_failed", message: "/order must be a string" }, [
        { loc: ["body", "order"], msg: "/order must be a string", type: "value_error" },
      ]);
    });
  });
}
