import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sweep } from "../../src/server/loops/sweep.ts";
import { sql } from "../../src/core/store/sql.ts";
import { DAY, IN_PUBLIC, LABELS, ROOMY, fresh, from, sharedWorld } from "../support/contract.ts";
import { alreadyAnswered, answer, answersOf, byFingerprint, byToken, saidOf, tokenIn } from "../support/identities.ts";
import { DATABASES, openWorld, onOneDatabase } from "../support/world.ts";

const TOKEN = /^pt1\.p_[0-9A-Za-z]{22}\.[\w-]{43}$/;

for (const on of DATABASES) {
  describe(`participants on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    const world = sharedWorld({ on, env: ROOMY });
    const ask = async (more: object = {}) =>
      (
        await world()
          .agent(fresh("ana-bot"))
          .ask({ options: LABELS, min_responses: 50, ...more })
      ).id;

    itOnOne("are not made by reading", async () => {
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

    itOnOne("are handed a credential with whatever they change first, and none when they have one", async () => {
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

    itOnOne("are handed none with a refusal", async () => {
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

    itOnOne("are known by cookie, by header, or by a fingerprint and nothing else", async () => {
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

    itOnOne("cannot be taken over by their fingerprint once they have shown their credential", async () => {
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

    itOnOne("are who their credential says, whatever fingerprint stands beside it", async () => {
      const [bo, cy] = [fresh("bo"), fresh("cy")];
      const id = await ask();
      const token = tokenIn(await answer(world(), id, byFingerprint(bo)));
      const next = await ask();
      await answer(world(), next, { ...byToken(token), ...byFingerprint(cy) });
      assert.equal(await answersOf(world(), byToken(token)), 2);
      assert.equal(await answersOf(world(), byFingerprint(cy)), 0);
    });

    itOnOne("are nobody by a credential that is not genuine", async () => {
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
        `pt1.${id.slice(0, -1)}${id.endsWith("x") ? "y" : "x"}.${mac}`,
        `pt1.${id}.${mac}x`,
        "garbage",
      ]) {
        assert.equal(await answersOf(world(), byToken(forged)), 0);
        assert.equal(await answersOf(world(), { cookie: `parley_p=${forged}` }), 0);
        // ... and so the fingerprint beside it counts.
        assert.equal(await answersOf(world(), { ...byToken(forged), ...byFingerprint(bo) }), 1);
      }
    });

    itOnOne("are one on this computer while they show nothing, and new each time from elsewhere", async () => {
      const id = await ask();
      const [one, again] = [await answer(world(), id, {}), await answer(world(), id, {})];
      assert.deepEqual([one.status, saidOf(again)], [201, alreadyAnswered]);
      const [here, other] = [one, await answer(world(), await ask(), {})].map(tokenIn);
      assert.equal(here, other);

      await using inPublic = await openWorld({ on, env: { ...IN_PUBLIC, ...ROOMY } });
      const asked = await inPublic.agent("ana-bot").ask({ options: LABELS });
      const strangers = ["203.0.113.1", "203.0.113.1"].map((address) => answer(inPublic, asked.id, from(address)));
      const [first, second] = (await Promise.all(strangers)).map(tokenIn);
      assert.notEqual(first, second);
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
  const env = { PARLEY_PUBLIC_URL: "https://ask.example", PARLEY_OPEN: "true", PARLEY_CROWD_PUBLIC: "true" };
  const world = sharedWorld({ on: "sqlite", env });

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
