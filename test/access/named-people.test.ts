import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import {
  DAY,
  IN_PUBLIC,
  LABELS,
  ROOMY,
  assertRefused,
  fresh,
  from,
  sharedWorld,
  wireNow,
} from "../support/contract.ts";
import {
  alreadyAnswered,
  answer,
  answersOf,
  byFingerprint,
  byToken,
  namedPerson,
  saidOf,
  tokenIn,
} from "../support/identities.ts";
import { ONE_DATABASE } from "../support/world.ts";

for (const on of ONE_DATABASE) {
  describe(`named people on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ask = async () => (await world().agent(fresh("ana-bot")).ask({ options: LABELS, min_responses: 50 })).id;

    it("are one, by session and by key, whatever participant stands beside it", async () => {
      const ana = await namedPerson(world(), "Ana");
      const device = byToken(tokenIn(await answer(world(), await ask(), byFingerprint(fresh("laptop")))));
      const sessions = await Promise.all([device, {}].map((shown) => ana.signIn(shown)));
      const ways = [...sessions, await ana.key(), { ...device, ...sessions[1] }, { ...device, ...(await ana.key()) }];
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

    it("have answered what the participant answered whose credential stands beside theirs", async () => {
      const ana = await namedPerson(world(), "Ana");
      const id = await ask();
      const device = byToken(tokenIn(await answer(world(), id, byFingerprint(fresh("laptop")))));
      for (const way of [{ ...device, ...(await ana.signIn(device)) }, { ...device, ...(await ana.key()) }, device]) {
        assert.deepEqual(saidOf(await answer(world(), id, way)), alreadyAnswered);
        const feed = await world().call("GET", "/human/questions?limit=50", { headers: way });
        assert.ok(!feed.body.questions.some((question: { question_id: string }) => question.question_id === id));
      }
    });

    it("are handed no credential, and are told apart by their tier", async () => {
      const ana = await namedPerson(world(), "Ana");
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
      const ana = await namedPerson(world(), "Ana");
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

    it("are answered for only by requests that are meant as theirs, where they say whose they are", async () => {
      const [ana, bo] = [await namedPerson(world(), "Ana"), await namedPerson(world(), "Bo")];
      const [key, session] = [await ana.key(), await ana.signIn()];
      const id = await ask();
      const changed = { status: 409, code: "PERSON_CHANGED" };
      for (const shown of [key, session]) {
        for (const meant of ["none", bo.id, `${ana.id} `.repeat(2).trim()]) {
          assert.deepEqual(saidOf(await answer(world(), id, { ...shown, "x-person": meant })), changed);
        }
      }
      const device = byFingerprint(fresh("device"));
      assert.deepEqual(saidOf(await answer(world(), id, { ...device, "x-person": ana.id })), changed);
      assert.equal((await answer(world(), id, { ...device, "x-person": "none" })).status, 201);
      assert.equal((await answer(world(), id, { ...session, "x-person": ana.id })).status, 201);
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

    it("is not made for somebody with a name, whom only a session or a key speaks for", async () => {
      const ana = await namedPerson(world(), "Ana");
      for (const shown of [await ana.key(), await ana.signIn(), { ...(await ana.signIn()), ...(await somebody()) }]) {
        assertRefused(await post("/human/recovery", shown), 400, {
          code: "VALIDATION_ERROR",
          message: "You are signed in: sign in on the other device as well.",
        });
      }
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

    it("is done for a person and for the participant beside them, and for nobody at all", async () => {
      const ana = await namedPerson(world(), "Ana");
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      const device = byToken(tokenIn(await answer(world(), id, {})));
      const session = await ana.signIn(device);
      const { id: next } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      await answer(world(), next, session);
      const both = { ...device, ...session };
      assert.equal((await world().call("DELETE", "/human/me", { headers: both })).status, 204);
      for (const headers of [device, session]) assert.equal(await answersOf(world(), headers), 0);
      assert.equal((await world().call("DELETE", "/human/me")).status, 204);
      assert.equal(
        (await world().call("DELETE", "/human/me", { headers: byFingerprint(fresh("mallory")) })).status,
        204,
      );
    });
  });
}
