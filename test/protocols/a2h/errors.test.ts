import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { raw } from "../../../src/core/store/sql.ts";
import {
  accepted,
  assertA2hError,
  BASE,
  callBody,
  contactBody,
  messageBody,
  openCall,
  openScene,
  sharedScene,
  type Scene,
} from "../../support/a2h.ts";
import { sendRaw, until } from "../../support/contract.ts";
import { allRead } from "../../support/server-sockets.ts";
import { ONE_DATABASE } from "../../support/world.ts";

const NO_CALL = { code: "not_found", message: "There is no such call." };
const SCOPE = (scope: string) => ({
  code: "insufficient_scope",
  message: `This needs a key with scope ${scope}.`,
  scope,
});

for (const on of ONE_DATABASE) {
  describe(`errors of A2H on ${on}`, () => {
    const shared = sharedScene(on);

    it("tell a body that is no JSON", async () => {
      const scene = shared();
      const error = { code: "invalid_json", message: "The body is not valid JSON." };
      for (const body of [
        "{",
        "",
        "[1,",
        '{"a":1,"a":2}',
        '{"a":"\\ud800"}',
        `${'{"a":'.repeat(70)}1${"}".repeat(70)}`,
      ]) {
        assertA2hError(await scene.agent.call("POST", "/function_calls", body), 400, error);
      }
      const isObject = { code: "validation_failed", message: "the body must be an object" };
      assertA2hError(await scene.agent.call("POST", "/function_calls", "[]"), 422, isObject, [
        { loc: ["body"], msg: isObject.message, type: "value_error" },
      ]);
    });

    it("tell a key that is missing or wrong, and one that may not", async () => {
      await using scene = await openScene(on, { env: { PARLEY_OPEN: "false" } });
      const error = { code: "unauthorized", message: "A valid bearer key is required." };
      const without = await scene.world.call("GET", "/function_calls/x");
      assertA2hError(without, 401, error);
      assert.equal(without.headers.get("www-authenticate"), 'Bearer realm="parley"');
      const wrong = await scene.world.call("POST", "/function_calls", {
        body: "{",
        headers: { authorization: "Bearer parley_agent_nobody" },
      });
      assertA2hError(wrong, 401, error);
      assert.equal(wrong.headers.get("www-authenticate"), 'Bearer realm="parley", error="invalid_token"');

      const refused = await scene.agent.post("/humans", {});
      assertA2hError(refused, 403, SCOPE("admin"));
      const told = 'Bearer realm="parley", error="insufficient_scope", scope="admin"';
      assert.equal(refused.headers.get("www-authenticate"), told);
    });

    it("tell who may not answer", async () => {
      const scene = shared();
      const { respond } = await openCall(scene);
      const bo = await scene.human("Bo Lind", { inboxScope: "all" });
      assertA2hError(await scene.agent.post(respond, { approved: true }), 403, {
        code: "self_response_forbidden",
        message: "An agent may not answer its own request.",
      });
      assertA2hError(await bo.answer.post(respond, { approved: true }), 403, {
        code: "responder_not_allowed",
        message: "This person was not asked.",
      });
    });

    it("tell a foreign page and a foreign host, before anything else", async () => {
      const scene = shared();
      const foreign = await scene.agent.call("POST", "/function_calls", {}, { origin: "https://mallory.example" });
      const message = "Requests from that origin are not allowed.";
      assertA2hError(foreign, 403, { code: "origin_not_allowed", message });
      const request = `GET ${BASE}/function_calls/x HTTP/1.1\r\nHost: mallory.example\r\nConnection: close\r\n\r\n`;
      const { status, text } = await sendRaw(scene.world.url, request);
      const says = "This server does not answer for that host.";
      assert.deepEqual(
        [status, JSON.parse(text)],
        [421, { error: { code: "host_not_allowed", message: says }, detail: says }],
      );
    });

    it("tell a recipient that is not listed", async () => {
      const env = { PARLEY_A2H_RECIPIENTS: "listed", PARLEY_A2H_RECIPIENT_PATTERNS: "*@example.com,C0*" };
      await using scene = await openScene(on, { env });
      const email = (address: string) => callBody({ channel: { email: { address } } });
      accepted(await scene.agent.post("/function_calls", email("ana@example.com")));
      accepted(
        await scene.agent.post(
          "/function_calls",
          callBody({ channel: { slack: { channel_or_user_id: "C024BE91L" } } }),
        ),
      );
      for (const address of ["ana@example.com.mallory.example", "ana@mallory.example"]) {
        assertA2hError(await scene.agent.post("/function_calls", email(address)), 403, {
          code: "recipient_not_allowed",
          message: "This server does not write to that recipient.",
          path: "/spec/channel/email/address",
        });
      }
    });

    it("tell what is not there, or is somebody else's", async () => {
      const scene = shared();
      const { call } = await openCall(scene);
      const other = await scene.holder({ name: "other", scope: "agent" });
      const id = call.call_id as string;
      for (const [reply, noun] of [
        [await scene.agent.get("/function_calls/none"), "call"],
        [await other.get(`/function_calls/${id}`), "call"],
        [await scene.agent.get(`/human_contacts/${id}`), "call"],
        [await scene.agent.get(`/function_calls/${call.status.ask_id}`), "call"],
        [await scene.agent.get("/function_calls/%00%2e"), "call"],
        [await other.post(`/agent/function_calls/${id}/cancel`), "call"],
        [await other.post(`/agent/function_calls/${id}/respond`, { approved: true }), "call"],
        [await scene.agent.get("/messages/none"), "message"],
        [await scene.agent.get("/humans/77"), "human"],
        [await scene.agent.get("/humans/ana"), "human"],
        [await scene.agent.get("/contact_channel/7"), "channel"],
        [await scene.agent.get("/nowhere"), "path"],
        [await scene.agent.call("GET", "//a2h/v1alpha1/Function_Calls"), "path"],
      ] as const) {
        assertA2hError(reply, 404, { code: "not_found", message: `There is no such ${noun}.` });
      }
      const { url } = scene.world;
      for (const path of ["/contact_requests", "/agent/function_calls/pending", "/project", "/audit"]) {
        const hint = `Use ${url}/humanlayer/v1 as base address.`;
        const error = { code: "not_found", message: "There is no such path.", hint };
        assertA2hError(await scene.agent.call("GET", `/${path}`), 404, error);
      }
    });

    it("tell a method that a path does not take", async () => {
      const scene = shared();
      const cases: [path: string, method: string, allowed: string][] = [
        ["//function_calls", "PUT", "POST"],
        ["/function_calls/x", "DELETE", "GET"],
        ["/agent/human_contacts/x/respond", "GET", "POST"],
        ["/humans", "DELETE", "GET, POST"],
        ["//humans/3", "POST", "DELETE, GET, PATCH, PUT"],
        ["/status", "POST", "GET"],
      ];
      for (const [path, method, allowed] of cases) {
        const reply = await scene.agent.call(method, path);
        assertA2hError(reply, 405, { code: "method_not_allowed", message: `This path takes ${allowed}.` });
        assert.equal(reply.headers.get("allow"), allowed);
      }
    });

    it("tell an id that was used for something else", async () => {
      const scene = shared();
      const { body, call } = await openCall(scene);
      const other = { ...body, spec: { ...body.spec, kwargs: { order: "A-1008" } } };
      assertA2hError(await scene.agent.post("/function_calls", other), 409, {
        code: "call_id_conflict",
        message: "This call_id was already used for a different request.",
        requested_at: call.status.requested_at,
      });
      const message = { ...messageBody(), metadata: { uid: "m_1" } };
      accepted(await scene.agent.post("/messages", message));
      assertA2hError(await scene.agent.post("/messages", { ...message, spec: { message: "Another?" } }), 409, {
        code: "uid_conflict",
        message: "This uid was already used for a different message.",
      });
    });

    it("tell an id that two agents use", async () => {
      const scene = shared();
      const { body, call } = await openCall(scene);
      const other = await scene.holder({ name: "other", scope: "agent" });
      const second = accepted(await other.post("/function_calls", body));
      const ids = [call.status.ask_id, second.status.ask_id].sort();
      assertA2hError(await scene.admin.get(`/function_calls/${body.call_id}`), 409, {
        code: "call_id_ambiguous",
        message: "Several agents use this call_id; address it by ask id.",
        ask_ids: ids,
      });
      assert.equal(accepted(await scene.admin.get(`/function_calls/${ids[0]}`)).status.ask_id, ids[0]);
    });

    it("tell that a request is over, and how", async () => {
      const scene = shared();
      const { ana, body, respond } = await openCall(scene);
      const at = new Date(scene.world.clock.now()).toISOString();
      accepted(await ana.answer.post(respond, { approved: false, comment: "No" }));
      const answered = {
        code: "already_responded",
        message: "This request has already been answered.",
        responded_at: at,
        approved: false,
        by: "Ana Ruiz",
      };
      assertA2hError(await ana.answer.post(respond, { approved: true }), 409, answered);
      assertA2hError(await scene.agent.post(`/agent/function_calls/${body.call_id}/cancel`), 409, answered);

      const late = await openCall(scene, { timeout_seconds: 60 });
      const due = new Date(scene.world.clock.now() + 60_000).toISOString();
      await scene.world.advance(60_000);
      const expired = {
        code: "expired",
        message: "This request expired before it was answered.",
        resolved_at: due,
      };
      assertA2hError(await late.ana.answer.post(late.respond, { approved: true }), 409, expired);
      assertA2hError(await scene.agent.post(`/agent/function_calls/${late.body.call_id}/cancel`), 409, expired);

      const gone = await openCall(scene);
      accepted(
        await scene.agent.post(`/agent/function_calls/${gone.body.call_id}/cancel`, { reason: "Changed my mind" }),
      );
      assertA2hError(await gone.ana.answer.post(gone.respond, { approved: true }), 409, {
        code: "cancelled",
        message: "This request was cancelled by its agent.",
        resolved_at: new Date(scene.world.clock.now()).toISOString(),
      });
    });

    it("tell a decision on something else than was asked, and an eleventh escalation", async () => {
      const scene = shared();
      const { ana, body, call, respond } = await openCall(scene);
      assertA2hError(await ana.answer.post(respond, { approved: true, consent_digest: "sha256:00" }), 409, {
        code: "digest_mismatch",
        message: "What was shown is not what would run.",
        expected: call.status.consent_digest,
      });
      const escalate = () =>
        scene.agent.post(`/agent/function_calls/${body.call_id}/escalate_email`, {
          escalation_msg: "Please look",
          channel: { email: { address: "lead@example.com" } },
        });
      for (let i = 0; i < 10; i += 1) accepted(await escalate());
      assertA2hError(await escalate(), 409, {
        code: "escalation_limit",
        message: "A request can be escalated 10 times.",
      });
    });

    it("tell a body that is too large, or of another kind", async () => {
      const scene = shared();
      const large = JSON.stringify(callBody({ kwargs: { text: "x".repeat(1_048_576) } }));
      assertA2hError(await scene.agent.call("POST", "/function_calls", large), 413, {
        code: "too_large",
        message: "The body is over 1048576 bytes.",
        limit: 1_048_576,
      });
      const fits = JSON.stringify(callBody({ kwargs: { text: "x".repeat(1_000_000) } }));
      accepted(await scene.agent.call("POST", "/function_calls", fits));
      const form = await scene.agent.call("POST", "/function_calls", "a=1", { "content-type": "text/plain" });
      assertA2hError(form, 415, { code: "unsupported_media_type", message: "Send application/json." });
    });

    it("tell an agent that asks too much, and never one that reads", async () => {
      await using scene = await openScene(on, { env: { PARLEY_A2H_CREATES_PER_MINUTE: "2" } });
      const first = callBody();
      accepted(await scene.agent.post("/function_calls", first));
      accepted(await scene.agent.post("/human_contacts", contactBody()));
      const refused = await scene.agent.post("/function_calls", callBody());
      const message = "Too many requests are being created.";
      assertA2hError(refused, 429, { code: "rate_limited", message, retry_after_seconds: 60 });
      assert.equal(refused.headers.get("retry-after"), "60");
      accepted(await scene.agent.post("/function_calls", first));
      for (let i = 0; i < 50; i += 1) accepted(await scene.agent.get(`/function_calls/${first.call_id}`));
      await scene.world.advance(61_000);
      accepted(await scene.agent.post("/function_calls", callBody()));

      await using full = await openScene(on, { env: { PARLEY_A2H_PENDING_PER_AGENT: "1" } });
      accepted(await full.agent.post("/function_calls", callBody()));
      const over = await full.agent.post("/function_calls", callBody());
      assertA2hError(over, 429, { code: "rate_limited", message, retry_after_seconds: 60 });
    });

    it("tell no more of a bug of ours than that there was one", async () => {
      await using scene = await openScene(on);
      await scene.world.server.ctx.db.transact((tx) => tx.all(raw("DROP TABLE audit")));
      const message = "The server failed; the request was not stored.";
      assertA2hError(await scene.agent.post("/function_calls", callBody()), 500, { code: "internal", message });
      assertA2hError(await scene.agent.get("/function_calls/call_1"), 404, NO_CALL);
    });

    it("tell whoever asks while the server stops, and let whoever polls read on", async () => {
      await using scene = await openScene(on);
      const { call } = await openCall(scene);
      const { host } = new URL(scene.world.url);
      const head = `Host: ${host}\r\nAuthorization: Bearer ${scene.agent.key}\r\n`;
      const late = await Promise.all([
        lateRequest(
          scene,
          `POST ${BASE}/function_calls HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 2\r\n`,
          "\r\n{}",
        ),
        lateRequest(scene, `GET ${BASE}/function_calls/${call.call_id} HTTP/1.1\r\n${head}`, "\r\n"),
      ]);
      const stopped = scene.world.server.stop();
      await until(() => scene.world.server.ctx.stopping.aborted);
      const [post = "", get = ""] = await Promise.all(late.map((finish) => finish()));
      await stopped;
      const message = "The server is restarting.";
      assert.match(post, /^HTTP\/1\.1 503 /);
      assert.match(post, /\r\nretry-after: 1\r\n/i);
      const error = { code: "unavailable", message };
      assert.deepEqual(JSON.parse(post.slice(post.indexOf("\r\n\r\n"))), { error, detail: message });
      assert.match(get, /^HTTP\/1\.1 200 /);
    });
  });
}

/** Sends the beginning of a request on a connection in use; returns what sends its end and reads the reply. */
async function lateRequest(scene: Scene, start: string, end: string): Promise<() => Promise<string>> {
  const { hostname, port } = new URL(scene.world.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  await once(socket, "connect");
  socket.write(`GET ${BASE}/status HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await until(() => text.includes("}"));
  const closed = once(socket, "close");
  socket.write(start);
  await allRead(socket);
  return async () => {
    socket.write(end);
    await closed;
    return text.slice(text.lastIndexOf("HTTP/1.1"));
  };
}
