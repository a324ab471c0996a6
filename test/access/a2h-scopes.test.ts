import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  accepted,
  callBody,
  contactBody,
  messageBody,
  openScene,
  sharedScene,
  type KeyHolder,
} from "../support/a2h.ts";
import { ONE_DATABASE } from "../support/world.ts";

type Who = "agent" | "answer" | "admin" | "executor" | "assign";
const ALL: readonly Who[] = ["agent", "answer", "admin", "executor", "assign"];

/** Every path with those who may take it; what they get is not of interest here (spec/a2h 6). */
const ROUTES: [method: string, path: string, who: readonly Who[], everywhere: boolean][] = [
  ["POST", "/function_calls", ["agent"], true],
  ["GET", "/function_calls/x", ["agent", "answer", "admin"], true],
  ["POST", "/human_contacts", ["agent"], true],
  ["GET", "/human_contacts/x", ["agent", "answer", "admin"], true],
  ["POST", "/contact_requests", ["agent"], false],
  ["GET", "/contact_requests/x", ["agent", "answer", "admin"], false],
  ["POST", "/agent/function_calls/x/respond", ["agent", "answer"], false],
  ["POST", "/agent/human_contacts/x/respond", ["agent", "answer"], false],
  ["POST", "/agent/function_calls/x/escalate_email", ["agent", "admin"], false],
  ["POST", "/agent/human_contacts/x/escalate_email", ["agent", "admin"], false],
  ["POST", "/agent/function_calls/x/cancel", ["agent", "admin"], false],
  ["POST", "/agent/human_contacts/x/cancel", ["agent", "admin"], false],
  ["GET", "/agent/function_calls/pending", ["agent", "answer", "admin"], false],
  ["GET", "/agent/human_contacts/pending", ["agent", "answer", "admin"], false],
  ["GET", "/channels", ["agent", "admin"], true],
  ["POST", "/channels/validate", ["agent", "admin"], true],
  ["GET", "/humans", ["agent", "admin"], true],
  ["GET", "/humans/search?q=x", ["agent", "admin"], true],
  ["GET", "/humans/77", ["agent", "admin"], true],
  ["GET", "/groups", ["agent", "admin"], true],
  ["POST", "/humans", ["admin"], true],
  ["PUT", "/humans/77", ["admin"], true],
  ["PATCH", "/humans/77", ["admin"], true],
  ["DELETE", "/humans/77", ["admin"], true],
  ["POST", "/messages", ["agent"], true],
  ["GET", "/messages/x", ["agent", "admin"], true],
  ["POST", "/messages/x/cancel", ["agent", "admin"], true],
  ["GET", "/project", ALL, false],
  ["GET", "/contact_channel/7", ["agent"], false],
  ["GET", "/audit", ["admin"], false],
];

for (const on of ONE_DATABASE) {
  describe(`keys of A2H on ${on}`, () => {
    const shared = sharedScene(on);

    it("open what is theirs, at every address, and nothing else", async () => {
      const scene = shared();
      const holders: Record<Who, KeyHolder> = {
        agent: scene.agent,
        admin: scene.admin,
        answer: (await scene.human("Ana Ruiz")).answer,
        executor: await scene.holder({ name: "x", scope: "executor" }),
        assign: await scene.holder({ name: "y", scope: "assign" }),
      };
      for (const [method, path, who, everywhere] of ROUTES) {
        for (const base of ["//humanlayer/v1", "//a2h/v1alpha1", ...(everywhere ? ["/"] : [])]) {
          for (const one of ALL) {
            const reply = await holders[one].call(
              method,
              `${base}${path}`,
              method === "GET" || method === "DELETE" ? undefined : {},
            );
            const isRefused = reply.status === 403 && reply.body.error.code === "insufficient_scope";
            assert.equal(
              isRefused,
              !who.includes(one),
              `${one} ${method} ${base}${path}: ${reply.status} ${reply.text}`,
            );
            if (isRefused)
              assert.equal(reply.body.error.scope, who[0] === "agent" && path.endsWith("respond") ? "answer" : who[0]);
          }
          const wrong = await scene.world.call(method, `${base}${path}`.slice(1), {
            headers: { authorization: "Bearer x" },
          });
          assert.deepEqual([path, wrong.status], [path, 401]);
        }
      }
      for (const path of ["/version", "/humanlayer/v1/status", "/a2h/v1alpha1/status"]) {
        const reply = await scene.world.call("GET", path);
        assert.deepEqual([reply.status, reply.body.version], [200, "1.0.0"]);
      }
    });

    it("of agents come in three ways, and share what their name asked", async () => {
      const scene = shared();
      const body = callBody();
      accepted(await scene.agent.post("/function_calls", body));
      const second = await scene.holder({ name: "support", scope: "agent" });
      accepted(await second.get(`/function_calls/${body.call_id}`));
      const { world } = scene;
      const path = `humanlayer/v1/function_calls/${body.call_id}`;
      accepted(await world.call("GET", `/k/${second.key}/${path}`));
      accepted(await world.call("GET", `/${path}`, { headers: { "x-agent-id": `support:${second.key}` } }));
      const admin = await world.call("GET", `/k/${scene.admin.key}/${path}`);
      assert.deepEqual([admin.status, admin.body.error.code], [401, "unauthorized"], "an admin's key is a bearer's");
    });

    it("are not needed while the server is open, for what stays in the inbox", async () => {
      const scene = shared();
      const { world } = scene;
      const as = (name: string) => ({ headers: { "x-agent-id": name } });
      const ana = await scene.human("Ana Ruiz");
      const open = callBody({ channel: { human: { id: ana.id } } });
      const created = await world.call("POST", "/function_calls", { body: open, ...as("ana-bot") });
      accepted(created);
      accepted(await world.call("GET", `/function_calls/${open.call_id}`, as("ana-bot")));
      assert.equal((await world.call("GET", `/function_calls/${open.call_id}`, as("bo-bot"))).status, 404);
      const keyed = await scene.holder({ name: "ana-bot", scope: "agent" });
      assert.equal((await keyed.get(`/function_calls/${open.call_id}`)).status, 404, "a key's name is another");
      for (const body of [
        callBody({ channel: { slack: { channel_or_user_id: "C024BE91L" } } }),
        callBody({ channel: { any_of: [{ inbox: {} }, { email: { address: "a@b.example" } }] } }),
        callBody({ channel: { webhook: { name: "x" } } }),
      ]) {
        const reply = await world.call("POST", "/function_calls", { body, ...as("ana-bot") });
        assert.deepEqual([reply.status, reply.body.error.code], [403, "insufficient_scope"], reply.text);
      }
      accepted(await world.call("POST", "/messages", { body: messageBody({ channel_id: ana.id }), ...as("ana-bot") }));
      accepted(
        await world.call("POST", "/human_contacts", {
          body: contactBody({ channel: { inbox: {} } }),
          ...as("ana-bot"),
        }),
      );
    });

    it("of agents that may answer themselves decide whatever they asked, and it is written down so", async () => {
      const scene = shared();
      const own = await scene.holder({ name: "self", scope: "agent", selfRespond: true });
      const ana = await scene.human("Ana Ruiz");
      const all_of = [{ human: { id: ana.id } }, { inbox: {} }];
      const body = callBody({ channel: { all_of } });
      accepted(await own.post("/function_calls", body));
      const { status } = accepted(await own.post(`/agent/function_calls/${body.call_id}/respond`, { approved: true }));
      assert.deepEqual([status.approved, status.user_info], [true, { name: "self", via: "api" }]);
      const foreign = callBody();
      accepted(await scene.agent.post("/function_calls", foreign));
      const path = `/agent/function_calls/${foreign.call_id}/respond`;
      assert.equal((await own.post(path, { approved: true })).status, 404);
      const { items } = accepted(await scene.admin.get(`/audit?ask_id=${status.ask_id}&action=function_call.approved`));
      assert.deepEqual([items[0].actor, items[0].via], [{ kind: "agent", id: "agent:self" }, "api"]);
    });
  });

  describe(`channels of A2H on ${on}`, () => {
    it("are listed as they are configured, and checked without sending anything", async () => {
      await using scene = await openScene(on);
      const { channels } = accepted(await scene.agent.get("/channels"));
      assert.deepEqual(Object.keys(channels).sort(), ["email", "human", "inbox", "slack"]);
      assert.deepEqual(channels.human, { id: { type: "string", description: "ID from GET /humans", required: true } });
      assert.equal(channels.slack.channelOrUserId.required, true);

      const validate = async (body: unknown) => accepted(await scene.agent.post("/channels/validate", body));
      const slack = { slack: { channel_or_user_id: "C024BE91L" } };
      assert.deepEqual(await validate({ channel: { slack: { channelOrUserId: "C024BE91L" } } }), {
        valid: true,
        channel: slack,
      });
      assert.deepEqual(await validate(slack), { valid: true, channel: slack });
      assert.deepEqual(await validate({ slack: { channel_or_user_id: "#ops" } }), {
        valid: false,
        errors: [
          {
            path: "/slack/channel_or_user_id",
            code: "pattern",
            message: "Use an ID such as C024BE91L, not a name.",
          },
        ],
      });
      for (const [body, path, code] of [
        [{}, "", "required"],
        [{ slack: { channel_or_user_id: 7 } }, "/slack/channel_or_user_id", "type"],
        [{ slack: { channel_or_user_id: "C1X", colour: "red" } }, "/slack/colour", "unknown_field"],
        [
          { email: { address: "a@b.example", context_about_user: "x".repeat(501) } },
          "/email/context_about_user",
          "too_long",
        ],
        [{ sms: { phone_number: "+14155550123" } }, "/sms", "channel_unavailable"],
        [{ human: { id: "654" } }, "/human/id", "unknown_human"],
        [{ channel_id: 31 }, "/channel_id", "unknown_channel"],
      ] as const) {
        const verdict = await validate(body);
        assert.deepEqual([verdict.valid, verdict.errors[0].path, verdict.errors[0].code], [false, path, code]);
      }
      assert.equal((await scene.agent.call("POST", "/channels/validate", "[]")).status, 422);
      assert.equal(accepted(await scene.agent.post("/channels/validate?deep=true", slack)).valid, true);
      assert.deepEqual([scene.slack.sent.length, scene.email.sent.length], [0, 0]);
    });
  });
}
