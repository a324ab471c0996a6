import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeJwt } from "jose";
import { raw } from "../../src/core/store/sql.ts";
import { makeKeyText } from "../../src/lib/secrets/key-text.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { sql } from "../../src/core/store/sql.ts";
import { addPerson } from "../../src/access/add-person.ts";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { revokeKey } from "../../src/access/revoke-key.ts";
import { cancelRequest } from "../../src/requests/end/end.ts";
import { agentName, askerName } from "../../src/requests/model/view.ts";
import { readRequest } from "../../src/requests/read/read-request.ts";
import { readReceipt } from "../../src/requests/read/read-receipt.ts";
import { callBody, contactBody } from "../support/a2h.ts";
import { assertRefused, assertUnknownQuestion, fresh, HOUR, ROOMY, sharedWorld } from "../support/contract.ts";
import { ONE_DATABASE, type Reply } from "../support/world.ts";

const question = { prompt: "Which label is clearer?", type: "text" };
const SELF_ANSWER = { code: "SELF_ANSWER", message: "Whoever asks a question cannot answer it." };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

function assertKeyRequired(reply: Reply): void {
  assertRefused(reply, 401, { code: "UNAUTHORIZED", message: "A valid key is required." });
  assert.equal(reply.headers.get("www-authenticate"), 'Bearer realm="parley"');
}

for (const on of ONE_DATABASE) {
  describe(`an agent's key on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const keyOf = async (name: string, more: object = {}) =>
      createKey(world().server.ctx, { name, scope: "agent", ...more });
    const get = (path: string, headers: Record<string, string> = {}) => world().call("GET", path, { headers });
    const ask = (headers: Record<string, string>, prefix = "") =>
      world().call("POST", `${prefix}/agent/questions`, { headers, body: question });

    it("is carried as a bearer, behind a name, or in the path, and is the same agent each time", async () => {
      const { text } = await keyOf(fresh("ana-bot"));
      const made = [
        await ask(bearer(text)),
        await ask({ authorization: `bearer ${text}` }),
        await ask({ "x-agent-id": `any name:at all:${text}`.replaceAll(" ", "-") }),
        await ask({ "x-agent-id": `:${text}` }),
        await ask({}, `/k/${text}`),
        await ask({}, `//k//${text}/`),
        await ask({ "x-agent-id": "another-name" }, `/k/${text}`),
      ];
      for (const reply of made) assert.equal(reply.status, 201);
      const ids = made.map((reply) => reply.body.question_id);
      for (const list of [await get("/agent/questions", bearer(text)), await get(`/k/${text}/agent/questions`)]) {
        assert.equal(list.body.questions.length, made.length);
      }
      const batch = await get(`/k/${text}/agent/questions?ids=${ids.join()}`);
      assert.deepEqual(batch.body.not_found, []);
    });

    it("never stands in an address or a header of a reply", async () => {
      const { text } = await keyOf(fresh("ana-bot"));
      const reply = await ask({}, `/k/${text}`);
      assert.equal(reply.body.poll_url, `/agent/questions/${reply.body.question_id}`);
      assert.equal(reply.headers.get("location"), reply.body.poll_url);
      const replies = [reply, await get(`/k/${text}${reply.body.poll_url}`), await get(`/k/${text}/nope`)];
      for (const one of replies) assert.ok(!JSON.stringify([one.text, [...one.headers]]).includes(text));
    });

    it("is shared by all keys of one name, and by nobody without a key", async () => {
      const name = fresh("ana-bot");
      const [one, other] = [await keyOf(name), await keyOf(name)];
      const { body } = await ask(bearer(one.text));
      const path = `/agent/questions/${body.question_id}`;
      assert.equal((await get(path, bearer(other.text))).status, 200);
      for (const id of [name, `agent:${name}`, `open:${name}`]) {
        assertUnknownQuestion(await get(path, { "x-agent-id": id }), body.question_id);
      }
      assertUnknownQuestion(await get(path, bearer((await keyOf(fresh("mallory-bot"))).text)), body.question_id);
    });

    it("may be carried twice, but not two at a time", async () => {
      const { text } = await keyOf(fresh("ana-bot"));
      const { text: other } = await keyOf(fresh("bo-bot"));
      assert.equal((await ask({ ...bearer(text), "x-agent-id": `ana:${text}` }, `/k/${text}`)).status, 201);
      assertKeyRequired(await ask({ ...bearer(text), "x-agent-id": `ana:${other}` }));
      assertKeyRequired(await ask(bearer(text), `/k/${other}`));
      assertKeyRequired(await ask({ "x-agent-id": `ana:${text}` }, `/k/${other}`));
    });

    it("that is bad, mistyped, revoked, expired or of another scope is refused, and never taken for none", async () => {
      const { text } = await keyOf(fresh("ana-bot"));
      const revoked = await keyOf(fresh("ana-bot"));
      await revokeKey(world().server.ctx, revoked.key.id);
      const brief = await keyOf(fresh("ana-bot"), { expiresInMs: HOUR });
      assert.equal((await ask(bearer(brief.text))).status, 201);
      await world().advance(HOUR);
      const { id: person } = await addPerson(world().server.ctx, { name: "Ana", role: "member" });
      const answer = await createKey(world().server.ctx, { name: "ana", scope: "answer", person });
      const admin = await createKey(world().server.ctx, { name: "ana", scope: "admin" });

      const bad = [
        makeKeyText("agent", systemRandom),
        `${text.slice(0, -1)}!`,
        `${text}x`,
        revoked.text,
        brief.text,
        answer.text,
        admin.text,
      ];
      for (const key of bad) {
        assertKeyRequired(await ask(bearer(key)));
        assertKeyRequired(await ask({ "x-agent-id": `ana:${key}` }));
        assertKeyRequired(await ask({}, `/k/${encodeURIComponent(key)}`));
        assertKeyRequired(await get("/agent/questions/q_x", bearer(key)));
        assertKeyRequired(await get("/agent/questions/q_x/events", bearer(key)));
        assertKeyRequired(await world().call("DELETE", "/agent/questions/q_x", { headers: bearer(key) }));
      }
      for (const header of [`Basic ${text}`, text, "Bearer", "Bearer ", `Bearer ${text} ${text}`]) {
        assertKeyRequired(await ask({ authorization: header }));
      }
      assertKeyRequired(await get("/k/x/human/questions"));
    });

    it("is no person: whoever carries one cannot answer", async () => {
      const { text } = await keyOf(fresh("ana-bot"));
      const { id } = await world().agent(fresh("bo-bot")).ask();
      const body = { question_id: id, answer: "yes" };
      for (const [prefix, headers] of [
        ["", bearer(text)],
        ["", { "x-agent-id": `ana:${text}` }],
        [`/k/${text}`, {}],
      ] as const) {
        assertRefused(await world().call("POST", `${prefix}/human/responses`, { headers, body }), 403, SELF_ANSWER);
      }
    });

    it("does not answer by a second key of the same owner", async () => {
      const { ctx } = world().server;
      const { id: ana } = await addPerson(ctx, { name: "Ana", role: "member" });
      const { id: bo } = await addPerson(ctx, { name: "Bo", role: "member" });
      const agent = await keyOf(fresh("ana-bot"), { person: ana });
      const own = await createKey(ctx, { name: fresh("ana"), scope: "answer", person: ana });
      const other = await createKey(ctx, { name: fresh("bo"), scope: "answer", person: bo });
      const { question_id } = (await ask(bearer(agent.text))).body;
      const answer = (headers: Record<string, string>) =>
        world().call("POST", "/human/responses", { headers, body: { question_id, answer: "yes" } });

      assertRefused(await answer(bearer(own.text)), 403, SELF_ANSWER);
      assert.equal((await answer(bearer(other.text))).status, 201);
      // The owner's own session is how people normally decide about their own agents.
      const { code } = await createSignInLink(ctx, ana);
      const signedIn = await world().call("POST", "/session", { body: { code } });
      const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      assert.equal((await answer({ cookie, "sec-fetch-site": "same-origin" })).status, 201);
    });
  });
}

describe("an agent without a key", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });

  it("is called default when it gives no name", async () => {
    const reply = await world().call("POST", "/agent/questions", { body: question });
    assert.equal(reply.status, 201);
    for (const headers of [{}, { "x-agent-id": "" }, { "x-agent-id": "default" }] as Record<string, string>[]) {
      const { status } = await world().call("GET", reply.body.poll_url, { headers });
      assert.equal(status, 200);
    }
    assertUnknownQuestion(
      await world().call("GET", reply.body.poll_url, { headers: { "x-agent-id": "Default" } }),
      reply.body.question_id,
    );
  });

  it("is never called what a key was made for, and people see that it has none", async () => {
    const { ctx } = world().server;
    const [asks, runs, gone] = [fresh("Support-Bot"), fresh("runner"), fresh("gone")];
    await createKey(ctx, { name: asks, scope: "agent" });
    await createKey(ctx, { name: runs, scope: "executor" });
    await revokeKey(ctx, (await createKey(ctx, { name: gone, scope: "agent" })).key.id);
    const free = fresh("nobody");
    const cases = [
      [asks, "default"],
      [asks.toLowerCase(), "default"],
      [runs, "default"],
      [gone, "default"],
      [free, free],
    ] as const;
    for (const [name, taken] of cases) {
      const headers = { "x-agent-id": name };
      const body = { run_id: "run_1", call_id: fresh("call"), spec: { fn: "pay", kwargs: {} } };
      const reply = await world().call("POST", "/humanlayer/v1/function_calls", { headers, body });
      assert.equal(reply.status, 200, reply.text);
      const ask = await readRequest(ctx, reply.body.status.ask_id as string);
      assert.equal(ask.asker, `open:${taken}`);
      assert.equal(askerName(ask), `${taken} (without a key)`);
      await cancelRequest(ctx, ask.id, { kind: "agent", id: ask.asker });
      const over = await readRequest(ctx, ask.id);
      const receipt = decodeJwt((await readReceipt(ctx, over, "https://parley.example")).jws);
      assert.equal(receipt["agent"], `open:${taken}`);
      const asked = await world().call("POST", "/agent/questions", { headers, body: question });
      const mine = { headers: { "x-agent-id": taken } };
      assert.equal((await world().call("GET", asked.body.poll_url, mine)).status, 200);
    }
    assert.equal(agentName("agent:support"), "support");
  });

  it("is never called what begins as a key does: that is a key, or refused", async () => {
    const { text } = await createKey(world().server.ctx, { name: fresh("ana-bot"), scope: "agent" });
    const ask = (headers: Record<string, string>) =>
      world().call("POST", "/agent/questions", { headers, body: question });
    for (const name of [text, `ana-bot:${text}`]) assert.equal((await ask({ "x-agent-id": name })).status, 201, "key");
    const mistyped = `${text.slice(0, -1)}_`;
    for (const name of [mistyped, "parley_", `a:${mistyped}:b`, `${text}:ana-bot`, `:${mistyped}`]) {
      assertKeyRequired(await ask({ "x-agent-id": name }));
      assert.equal((await world().call("GET", "/humans", { headers: { "x-agent-id": name } })).status, 401);
    }
    for (const print of [text, mistyped]) {
      assertKeyRequired(await world().call("GET", "/human/questions", { headers: { "x-fingerprint": print } }));
    }
  });

  it("puts no credential where a name or an id belongs: it is refused, stored nowhere and not shown", async () => {
    const { ctx } = world().server;
    const { text } = await createKey(ctx, { name: fresh("victim"), scope: "agent" });
    const { text: admin } = await createKey(ctx, { name: fresh("admin"), scope: "admin" });
    const { text: executor } = await createKey(ctx, { name: fresh("executor"), scope: "executor" });
    const a2h = "/a2h/v1alpha1";
    const person = { name: text, prioritizedContactChannels: [{ inbox: {} }] };
    const places: (readonly [path: string, headers: Record<string, string>, body: object])[] = [
      ...[`ana/${text}`, `"${text}"`, `key=${text}`, text.toUpperCase(), `ana:${text.toUpperCase()}`].map(
        (name) => ["/agent/questions", { "x-agent-id": name }, question] as const,
      ),
      ["/agent/questions", { "idempotency-key": text }, question],
      ["/agent/questions", { "x-idempotency-key": text }, question],
      ["/agent/questions", {}, { ...question, idempotency_key: text }],
      [`${a2h}/function_calls`, {}, { ...callBody(), call_id: text }],
      [`${a2h}/function_calls`, {}, { ...callBody(), run_id: text }],
      [`${a2h}/human_contacts`, {}, { ...contactBody(), call_id: text }],
      [`${a2h}/human_contacts`, {}, { ...contactBody(), run_id: text }],
      [`${a2h}/humans`, bearer(admin), person],
      ["/jobs", bearer(executor), { external: true, job_id: text }],
      ["/jobs/claim", bearer(executor), { worker_id: text }],
      ["/admin/keys", bearer(admin), { name: text, scope: "agent" }],
    ];
    const secret = text.slice(-20).toLowerCase();
    for (const [path, headers, body] of places) {
      const reply = await world().call("POST", path, { headers, body });
      const where = `${path} ${Object.keys(headers)} ${Object.keys(body)}`;
      assert.equal(reply.status, path === "/admin/keys" ? 400 : 401, `${where} ${reply.text}`);
      assert.ok(
        !JSON.stringify([reply.text, [...reply.headers]])
          .toLowerCase()
          .includes(secret),
        where,
      );
    }
    const tables = await ctx.db.all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE type = 'table'`);
    for (const { name } of tables) {
      const rows = await ctx.db.all(sql`SELECT * FROM ${raw(name)}`);
      const texts = rows.flatMap((row) => Object.values(row as object)).filter((value) => typeof value === "string");
      assert.ok(!texts.some((value) => value.toLowerCase().includes(secret)), name);
    }
    const kept = await world().call("POST", "/agent/questions", {
      headers: { "x-agent-id": "my-parley_bot" },
      body: question,
    });
    assert.equal(kept.status, 201, "a name that only speaks of Parley");
  });

  it("does not answer its own question by its name", async () => {
    const { id } = await world().agent("ana-bot").ask();
    const body = { question_id: id, answer: "yes" };
    const answer = (name: string) =>
      world().call("POST", "/human/responses", {
        headers: { "x-agent-id": name, "x-fingerprint": fresh("ana") },
        body,
      });
    assertRefused(await answer("ana-bot"), 403, SELF_ANSWER);
    assert.equal((await answer("bo-bot")).status, 201);
    assert.equal((await world().agent("ana-bot").poll(id)).body.current_responses, 1);
  });
});

describe("a server without open mode", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, PARLEY_OPEN: "false" } });

  it("asks every agent for a key, and answers with one", async () => {
    for (const headers of [{}, { "x-agent-id": "ana-bot" }] as Record<string, string>[]) {
      assertKeyRequired(await world().call("POST", "/agent/questions", { headers, body: question }));
      assertKeyRequired(await world().call("GET", "/agent/questions", { headers }));
      assertKeyRequired(await world().call("GET", "/agent/questions/q_x", { headers }));
    }
    const { text } = await createKey(world().server.ctx, { name: "ana-bot", scope: "agent" });
    assert.equal(
      (await world().call("POST", "/agent/questions", { headers: bearer(text), body: question })).status,
      201,
    );
  });
});

describe("a server that others can reach", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, PARLEY_HOST: "0.0.0.0" } });

  it("has neither open mode nor a crowd without keys, unless told so", async () => {
    assertKeyRequired(await world().call("POST", "/agent/questions", { body: question }));
    const { ctx } = world().server;
    const agent = await createKey(ctx, { name: "ana-bot", scope: "agent" });
    const created = await world().call("POST", "/agent/questions", { headers: bearer(agent.text), body: question });
    assert.equal(created.status, 201);

    const { question_id: id } = created.body;
    const body = { question_id: id, answer: "yes" };
    const stranger = { "x-fingerprint": "mallory-device" };
    for (const path of [
      "/human/questions",
      `/human/questions/${id}`,
      "/human/stats",
      "/human/leaderboard",
      "/human/events",
    ]) {
      assertKeyRequired(await world().call("GET", path, { headers: stranger }));
      assertKeyRequired(await world().call("GET", path, { headers: bearer(agent.text) }));
    }
    assertKeyRequired(await world().call("POST", "/human/responses", { headers: stranger, body }));

    const { id: person } = await addPerson(ctx, { name: "Bo", role: "member" });
    const own = await createKey(ctx, { name: "bo", scope: "answer", person });
    const service = await createKey(ctx, { name: "kiosk", scope: "answer" });
    assert.equal((await world().call("GET", "/human/questions", { headers: bearer(own.text) })).status, 200);
    assertKeyRequired(await world().call("GET", "/human/questions", { headers: bearer(service.text) }));
    assertKeyRequired(await world().call("POST", "/human/responses", { headers: bearer(service.text), body }));
    assert.equal((await world().call("POST", "/human/responses", { headers: bearer(own.text), body })).status, 201);

    const { code } = await createSignInLink(ctx, person);
    const signedIn = await world().call("POST", "/session", { body: { code } });
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    assert.equal((await world().call("GET", "/human/stats", { headers: { cookie } })).body.total_answers, 1);
  });
});
