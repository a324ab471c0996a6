import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweep } from "../src/loops/sweep.ts";
import { sql } from "../src/store/sql.ts";
import { addPerson } from "../src/verbs/add-person.ts";
import { createKey } from "../src/verbs/create-key.ts";
import { createSignInLink } from "../src/verbs/create-sign-in-link.ts";
import { assertRefused, DAY, fresh, from, IN_PUBLIC, LABELS, ROOMY, sharedWorld, wireNow } from "./contract.ts";
import { DATABASES, openWorld, type Reply, type World } from "./world.ts";

const TOKEN = /^pt1\.p_[0-9A-Za-z]{22}\.[\w-]{43}$/;
const tokenIn = (reply: Reply): string => reply.headers.get("x-participant-token") ?? assert.fail("no credential");
const byToken = (token: string) => ({ "x-participant-token": token });
const byFingerprint = (fingerprint: string) => ({ "x-fingerprint": fingerprint });
const alreadyAnswered = { status: 409, code: "ALREADY_ANSWERED" };
const saidOf = (reply: Reply) => ({ status: reply.status, code: reply.body.error?.code });

/** Answers, and returns what was said. */
const answer = (world: World, id: string, headers: Record<string, string>, option = 0): Promise<Reply> =>
  world.call("POST", "/human/responses", { headers, body: { question_id: id, selected_option: option } });
const answersOf = async (world: World, headers: Record<string, string>): Promise<number> =>
  (await world.call("GET", "/human/stats", { headers })).body.total_answers;

/** Somebody who can sign in, and how. */
async function person(world: World, name: string) {
  const { ctx } = world.server;
  const { id } = await addPerson(ctx, { name, role: "member" });
  return {
    id,
    /** Signs in on a device, whose participant becomes this person's. */
    async signIn(device: Record<string, string> = {}): Promise<Record<string, string>> {
      const { code } = await createSignInLink(ctx, id);
      const reply = await world.call("POST", "/session", { body: { code }, headers: device });
      assert.equal(reply.status, 200);
      const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      return { cookie, "sec-fetch-site": "same-origin" };
    },
    async key(): Promise<Record<string, string>> {
      const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
      return { authorization: `Bearer ${text}` };
    },
  };
}

for (const on of DATABASES) {
  describe(`participants on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ask = async (more: object = {}) =>
      (
        await world()
          .agent(fresh("ana-bot"))
          .ask({ options: LABELS, min_responses: 50, ...more })
      ).id;

    it("are not made by reading", async () => {
      const id = await ask();
      const mallory = byFingerprint(fresh("mallory"));
      for (const path of [
        "/human/questions",
        `/human/questions/${id}`,
        "/human/stats",
        "/human/leaderboard",
        "/human/push/key",
      ]) {
        const reply = await world().call("GET", path, { headers: mallory });
        assert.equal(reply.status, 200);
        assert.deepEqual([reply.headers.get("set-cookie"), reply.headers.get("x-participant-token")], [null, null]);
      }
      const { body } = await world().call("GET", `/human/questions/${id}`, { headers: mallory });
      assert.equal(body.can_answer, true);
    });

    it("are handed a credential with whatever they change first, and none when they have one", async () => {
      const id = await ask();
      const writes: [method: string, path: string, body: unknown][] = [
        ["POST", "/human/responses", { question_id: id, selected_option: 0 }],
        ["POST", `/human/questions/${id}/skip`, undefined],
        ["POST", `/human/questions/${id}/report`, { reason: "other" }],
        ["POST", "/human/push/subscribe", { fcm_token: fresh("token") }],
        ["PUT", "/human/push/subscribe", { fcm_token: fresh("token") }],
        ["POST", "/human/recovery", undefined],
      ];
      for (const [method, path, body] of writes) {
        const send = (headers: Record<string, string>) =>
          world().call(method, path, { headers, ...(body !== undefined && { body }) });
        for (const stranger of [{}, byFingerprint(fresh("bo"))]) {
          const reply = await send(stranger);
          assert.ok(reply.status < 300, `${path} ${reply.status}`);
          const token = tokenIn(reply);
          assert.match(token, TOKEN);
          assert.equal(
            reply.headers.get("set-cookie"),
            `parley_p=${token}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax`,
          );
          const again = await send(byToken(token));
          assert.deepEqual([again.headers.get("set-cookie"), again.headers.get("x-participant-token")], [null, null]);
        }
      }
    });

    it("are handed none with a refusal", async () => {
      const id = await ask();
      for (const [path, body] of [
        ["/human/responses", { question_id: id, selected_option: 9 }],
        ["/human/responses", { question_id: "q_unknown", selected_option: 0 }],
        ["/human/questions/q_unknown/skip", {}],
        [`/human/questions/${id}/report`, { reason: "boring" }],
        ["/human/push/subscribe", {}],
        ["/human/recovery/redeem", { code: "wrong" }],
      ] as const) {
        const reply = await world().call("POST", path, { headers: byFingerprint(fresh("bo")), body });
        assert.ok(reply.status >= 400);
        assert.deepEqual([reply.headers.get("set-cookie"), reply.headers.get("x-participant-token")], [null, null]);
      }
    });

    it("are known by cookie, by header, or by a fingerprint and nothing else", async () => {
      const bo = fresh("bo");
      const token = tokenIn(await answer(world(), await ask(), byFingerprint(bo)));
      const id = await ask();
      assert.equal((await answer(world(), id, byFingerprint(bo))).status, 201);
      assert.deepEqual(saidOf(await answer(world(), id, byFingerprint(bo))), alreadyAnswered);
      assert.equal(await answersOf(world(), byFingerprint(bo)), 2);
      for (const headers of [
        byToken(token),
        { cookie: `parley_p=${token}` },
        { cookie: `x=1; parley_p=${token}; y=2` },
      ]) {
        assert.equal(await answersOf(world(), headers), 2);
        assert.deepEqual(saidOf(await answer(world(), id, headers)), alreadyAnswered);
      }
    });

    it("cannot be taken over by their fingerprint once they have shown their credential", async () => {
      for (const show of ["GET", "POST"]) {
        const bo = fresh("bo");
        const id = await ask();
        const token = tokenIn(await answer(world(), id, byFingerprint(bo)));
        const both = { ...byToken(token), ...byFingerprint(bo) };
        if (show === "GET") await world().call("GET", "/human/stats", { headers: both });
        else await answer(world(), id, both);

        // A stranger with the same fingerprint sees nothing of the owner's, and stands in nobody's way.
        assert.equal(await answersOf(world(), byFingerprint(bo)), 0);
        const stranger = await answer(world(), id, byFingerprint(bo));
        assert.equal(stranger.status, 201);
        assert.notEqual(tokenIn(stranger), token);
        assert.equal(await answersOf(world(), byFingerprint(bo)), 1);
        const next = await ask();
        assert.equal((await answer(world(), next, byFingerprint(bo))).status, 201);
        assert.equal((await answer(world(), next, both)).status, 201);
        assert.equal(await answersOf(world(), byToken(token)), 2);
        // The fingerprint is the stranger's now, until that one shows a credential too.
        assert.equal(await answersOf(world(), byToken(tokenIn(stranger))), 2);
        assert.equal(await answersOf(world(), byFingerprint(bo)), 0);
      }
    });

    it("are who their credential says, whatever fingerprint stands beside it", async () => {
      const [bo, cy] = [fresh("bo"), fresh("cy")];
      const id = await ask();
      const token = tokenIn(await answer(world(), id, byFingerprint(bo)));
      const next = await ask();
      await answer(world(), next, { ...byToken(token), ...byFingerprint(cy) });
      assert.equal(await answersOf(world(), byToken(token)), 2);
      assert.equal(await answersOf(world(), byFingerprint(cy)), 0);
    });

    it("are nobody by a credential that is not genuine", async () => {
      const bo = fresh("bo");
      const first = await answer(world(), await ask(), byFingerprint(bo));
      const token = tokenIn(first);
      const [, id = "", mac = ""] = token.split(".");
      const otherMac = `${mac.slice(0, -1)}${mac.endsWith("A") ? "B" : "A"}`;
      for (const forged of [
        `pt1.${id}.${otherMac}`,
        `pt1.${id}.`,
        `pt1.${id}`,
        `pt2.${id}.${mac}`,
        `pt1.${id.slice(0, -1)}x.${mac}`,
        `pt1.${id}.${mac}x`,
        "garbage",
      ]) {
        assert.equal(await answersOf(world(), byToken(forged)), 0);
        assert.equal(await answersOf(world(), { cookie: `parley_p=${forged}` }), 0);
        // ... and so the fingerprint beside it counts.
        assert.equal(await answersOf(world(), { ...byToken(forged), ...byFingerprint(bo) }), 1);
      }
    });

    it("are new each time they show nothing", async () => {
      const id = await ask();
      const replies = [await answer(world(), id, {}), await answer(world(), id, {})];
      assert.deepEqual(
        replies.map((reply) => reply.status),
        [201, 201],
      );
      const [one, other] = replies.map(tokenIn);
      assert.notEqual(one, other);
    });

    it("are one when two first requests with one fingerprint come at once", async () => {
      const bo = fresh("bo");
      const [id, next] = [await ask(), await ask()];
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, i) => answer(world(), i % 2 ? id : next, byFingerprint(bo))),
      );
      assert.deepEqual(replies.map((reply) => reply.status).sort(), [201, 201, 409, 409, 409, 409, 409, 409]);
      assert.equal(await answersOf(world(), byFingerprint(bo)), 2);
      const tokens = replies.filter((reply) => reply.status === 201).map((reply) => tokenIn(reply).split(".")[1]);
      assert.equal(new Set(tokens).size, 1);
    });

    it("leave neither fingerprint nor address in the store", async () => {
      await using other = await openWorld({ on, env: { ...IN_PUBLIC, ...ROOMY } });
      const { id } = await other.agent("ana-bot").ask({ options: LABELS });
      const headers = { ...from("203.0.113.77"), "x-fingerprint": "fingerprint-of-bo" };
      const token = tokenIn(await answer(other, id, headers));
      await other.call("GET", "/human/stats", { headers: { ...headers, ...byToken(token) } });
      await other.call("POST", `/human/questions/${id}/report`, { headers, body: { reason: "other" } });
      await other.call("POST", "/human/push/subscribe", { headers, body: { fcm_token: "token" } });
      const { db } = other.server.ctx;
      const tables = [
        "participants",
        "fingerprints",
        "responses",
        "reports",
        "ledger",
        "limit_windows",
        "push_subscriptions",
      ];
      const rows = await Promise.all(tables.map((name) => db.all(sql([`SELECT * FROM ${name}`] as never))));
      const stored = JSON.stringify(rows);
      assert.match(stored, /p_[0-9A-Za-z]{22}/);
      assert.doesNotMatch(stored, /fingerprint-of-bo|203\.0\.113/);
    });
  });

  describe(`named people on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ask = async () => (await world().agent(fresh("ana-bot")).ask({ options: LABELS, min_responses: 50 })).id;

    it("are one, by session, by key, and on whatever device they have signed in", async () => {
      const ana = await person(world(), "Ana");
      const devices = await Promise.all(
        ["laptop", "phone"].map(async (name) =>
          byToken(tokenIn(await answer(world(), await ask(), byFingerprint(fresh(name))))),
        ),
      );
      const sessions = await Promise.all(devices.map((device) => ana.signIn(device)));
      const ways = [...devices, ...sessions, await ana.key(), { ...devices[0], ...sessions[1] }];
      for (const way of ways) {
        const id = await ask();
        assert.equal((await answer(world(), id, way)).status, 201);
        for (const other of ways) {
          assert.deepEqual(saidOf(await answer(world(), id, other)), alreadyAnswered);
          const { body } = await world().call("GET", `/human/questions/${id}`, { headers: other });
          assert.deepEqual([body.can_answer, body.reason], [false, "already_answered"]);
        }
      }
      for (const way of ways) assert.equal(await answersOf(world(), way), ways.length);
    });

    it("have answered what their device answered before they signed in", async () => {
      const ana = await person(world(), "Ana");
      const id = await ask();
      const device = byToken(tokenIn(await answer(world(), id, byFingerprint(fresh("laptop")))));
      const session = await ana.signIn(device);
      for (const way of [session, await ana.key(), device]) {
        assert.deepEqual(saidOf(await answer(world(), id, way)), alreadyAnswered);
        const feed = await world().call("GET", "/human/questions?limit=50", { headers: way });
        assert.ok(!feed.body.questions.some((question: { question_id: string }) => question.question_id === id));
      }
    });

    it("are handed no credential, and are told apart by their tier", async () => {
      const ana = await person(world(), "Ana");
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS });
      const reply = await answer(world(), id, await ana.key());
      assert.deepEqual([reply.status, reply.headers.get("set-cookie")], [201, null]);
      await answer(world(), id, {});
      const { body } = await agent.poll(id, "?expand=meta");
      assert.deepEqual(
        body.responses.map((response: { tier: string }) => response.tier),
        ["named", "anonymous"],
      );
    });

    it("act under their session from our own pages only", async () => {
      const ana = await person(world(), "Ana");
      const { cookie = "" } = await ana.signIn();
      const id = await ask();
      for (const headers of [
        { cookie },
        { cookie, "sec-fetch-site": "cross-site" },
        { cookie, "sec-fetch-site": "same-site" },
        { cookie, "sec-fetch-site": "none" },
      ] as Record<string, string>[]) {
        assert.deepEqual(saidOf(await answer(world(), id, headers)), { status: 403, code: "ORIGIN_REFUSED" });
        assert.equal(await answersOf(world(), headers), 0);
      }
      assert.equal((await answer(world(), id, { cookie, origin: world().url })).status, 201);
    });

    it("are not stood for by a key that is bad, or a service's", async () => {
      const service = await createKey(world().server.ctx, { name: "kiosk", scope: "answer" });
      const admin = await createKey(world().server.ctx, { name: "admin", scope: "admin" });
      const id = await ask();
      for (const key of [service.text, admin.text, "x", `${service.text}x`]) {
        const headers = { authorization: `Bearer ${key}`, ...byFingerprint(fresh("mallory")) };
        assert.deepEqual(saidOf(await answer(world(), id, headers)), { status: 401, code: "UNAUTHORIZED" });
        const { status } = await world().call("GET", "/human/stats", { headers });
        assert.equal(status, 401);
      }
    });
  });

  describe(`a recovery code on ${on}`, () => {
    const world = sharedWorld({ on, env: { ...ROOMY, ...IN_PUBLIC } });
    const post = (path: string, headers: Record<string, string>, body?: unknown) =>
      world().call("POST", path, { headers, ...(body !== undefined && { body }) });
    let address = 0;
    const nextAddress = () => from(`198.51.100.${(address += 1)}`);
    const redeem = (code: string) => post("/human/recovery/redeem", nextAddress(), { code });
    const REFUSED = {
      code: "NOT_FOUND",
      message: "This recovery code was used already, has expired or is not known.",
    };

    async function somebody() {
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      return byToken(tokenIn(await answer(world(), id, { ...nextAddress(), ...byFingerprint(fresh("bo")) })));
    }

    it("takes a participant to another device, once", async () => {
      const bo = await somebody();
      const made = await post("/human/recovery", bo);
      assert.equal(made.status, 201);
      assert.deepEqual(Object.keys(made.body).sort(), ["code", "expires_at"]);
      assert.equal(made.body.expires_at, wireNow(world(), 30 * DAY));
      const moved = await redeem(made.body.code);
      assert.equal(moved.status, 200);
      assert.equal(tokenIn(moved), bo["x-participant-token"]);
      assert.match(moved.headers.get("set-cookie") ?? "", /^parley_p=pt1\.p_/);
      assert.equal(await answersOf(world(), byToken(tokenIn(moved))), 1);
      assertRefused(await redeem(made.body.code), 404, REFUSED);
    });

    it("ends with the next one, and after 30 days", async () => {
      const bo = await somebody();
      const { body: former } = await post("/human/recovery", bo);
      const { body: latter } = await post("/human/recovery", bo);
      assertRefused(await redeem(former.code), 404, REFUSED);
      await world().advance(30 * DAY - 1);
      assert.equal((await redeem(latter.code)).status, 200);
      const { body: late } = await post("/human/recovery", bo);
      await world().advance(30 * DAY);
      assertRefused(await redeem(late.code), 404, REFUSED);
    });

    it("merges no histories", async () => {
      const [bo, cy] = [await somebody(), await somebody()];
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      await answer(world(), id, cy);
      const { body } = await post("/human/recovery", bo);
      const moved = await post("/human/recovery/redeem", { ...cy, ...nextAddress() }, { code: body.code });
      assert.equal(await answersOf(world(), byToken(tokenIn(moved))), 1);
      assert.equal(await answersOf(world(), cy), 2);
    });

    it("is guessed at five times an hour from one address", async () => {
      const { body } = await post("/human/recovery", await somebody());
      const mallory = nextAddress();
      for (let i = 0; i < 5; i += 1) {
        assertRefused(await post("/human/recovery/redeem", mallory, { code: `guess-${i}` }), 404, REFUSED);
      }
      const sixth = await post("/human/recovery/redeem", mallory, { code: body.code });
      assertRefused(sixth, 429, {
        code: "RATE_LIMITED",
        message: "Too many requests.",
        details: { limit: 5, window_seconds: 3600, retry_after: 3600 },
      });
      assert.equal((await redeem(body.code)).status, 200);
    });

    it("works for somebody with a name too", async () => {
      const ana = await person(world(), "Ana");
      const key = await ana.key();
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      assert.equal((await answer(world(), id, key)).status, 201);
      const { body } = await post("/human/recovery", key);
      const moved = byToken(tokenIn(await redeem(body.code)));
      assert.equal(await answersOf(world(), moved), 1);
      assert.deepEqual(saidOf(await answer(world(), id, moved)), alreadyAnswered);
    });
  });

  describe(`erasing oneself on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("leaves the answers, and nobody whose they were", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS });
      const bo = byFingerprint(fresh("bo"));
      const token = tokenIn(await answer(world(), id, bo, 1));
      const subscribed = await world().call("POST", "/human/push/subscribe", {
        headers: byToken(token),
        body: { fcm_token: fresh("token") },
      });
      const before = (await agent.poll(id)).text;
      const board = async () => (await world().call("GET", "/human/leaderboard?limit=100")).body.entries.length;
      const ranked = await board();

      const erased = await world().call("DELETE", "/human/me", { headers: byToken(token) });
      assert.deepEqual([erased.status, erased.text], [204, ""]);
      assert.match(erased.headers.get("set-cookie") ?? "", /^parley_p=; .*Max-Age=0/);

      assert.equal((await agent.poll(id)).text, before);
      assert.equal(await board(), ranked - 1);
      for (const headers of [byToken(token), bo]) {
        const { body } = await world().call("GET", "/human/stats", { headers });
        assert.deepEqual([body.total_answers, body.total_points, body.rank, body.badges], [0, 0, null, []]);
      }
      const path = `/human/push/subscribe/${subscribed.body.subscription_id}`;
      assert.equal((await world().call("DELETE", path)).status, 404);
    });

    it("is done for a person on every device, and for nobody at all", async () => {
      const ana = await person(world(), "Ana");
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      const device = byToken(tokenIn(await answer(world(), id, {})));
      const session = await ana.signIn(device);
      const { id: next } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      await answer(world(), next, session);
      assert.equal((await world().call("DELETE", "/human/me", { headers: session })).status, 204);
      for (const headers of [device, session]) assert.equal(await answersOf(world(), headers), 0);
      assert.equal((await world().call("DELETE", "/human/me")).status, 204);
      assert.equal(
        (await world().call("DELETE", "/human/me", { headers: byFingerprint(fresh("mallory")) })).status,
        204,
      );
    });
  });

  describe(`a participant who does not come back on ${on}`, () => {
    it("is forgotten 400 days after the last request, and the answers stay", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const agent = world.agent("ana-bot");
      const { id } = await agent.ask({ options: LABELS });
      const bo = byToken(tokenIn(await answer(world, id, byFingerprint("bo"))));
      const cy = byToken(tokenIn(await answer(world, id, byFingerprint("cy"))));
      await world.advance(399 * DAY);
      assert.equal(await answersOf(world, cy), 1);
      await world.advance(DAY - 1);
      await sweep(world.server.ctx);
      assert.deepEqual(
        [await answersOf(world, cy), (await world.call("GET", "/human/leaderboard")).body.entries.length],
        [1, 2],
      );
      await world.advance(1);
      await sweep(world.server.ctx);
      assert.equal((await world.call("GET", "/human/leaderboard")).body.entries.length, 1);
      assert.equal(await answersOf(world, bo), 0);
      assert.equal(await answersOf(world, cy), 1);
    });
  });
}

describe("people who come by https", () => {
  const world = sharedWorld({ on: "sqlite", env: { PARLEY_PUBLIC_URL: "https://ask.example" } });

  it("have a cookie that is bound to the host", async () => {
    const { id } = await world().agent("ana-bot").ask({ options: LABELS });
    const reply = await answer(world(), id, {});
    const token = tokenIn(reply);
    assert.equal(
      reply.headers.get("set-cookie"),
      `__Host-parley_p=${token}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure`,
    );
    assert.equal(await answersOf(world(), { cookie: `__Host-parley_p=${token}` }), 1);
    assert.equal(await answersOf(world(), { cookie: `parley_p=${token}` }), 0);
  });
});
