import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endSessions } from "../../src/access/end-sessions.ts";
import { sql } from "../../src/core/store/sql.ts";
import { fresh, HOUR, LABELS, ROOMY, sharedWorld } from "../support/contract.ts";
import { answer, answersOf, byFingerprint, namedPerson, tokenIn, type Shown } from "../support/identities.ts";
import { ONE_DATABASE } from "../support/world.ts";

/** How a browser's participant is shown, once somebody has signed in there. */
const CARRIERS: Record<string, (token: string, fingerprint: string) => Shown> = {
  "a cookie": (token) => ({ cookie: `parley_p=${token}` }),
  "a header": (token) => ({ "x-participant-token": token }),
  "its fingerprint": (_, fingerprint) => byFingerprint(fingerprint),
};
const STILL_SIGNED_IN = [true, false];

for (const on of ONE_DATABASE) {
  describe(`the participant of a browser in which Ana signed in, on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const ask = async () => (await world().agent(fresh("bot")).ask({ options: LABELS, min_responses: 50 })).id;

    for (const [carrier, shownBy] of Object.entries(CARRIERS)) {
      for (const isSignedIn of STILL_SIGNED_IN) {
        it(`is nobody but itself, shown by ${carrier}, ${isSignedIn ? "beside" : "after"} her session`, async () => {
          const { ctx } = world().server;
          const fingerprint = fresh("kiosk");
          const token = tokenIn(await answer(world(), await ask(), byFingerprint(fingerprint)));
          const [, participant] = token.split(".");
          const shown = shownBy(token, fingerprint);
          const ana = await namedPerson(world(), "Ana");
          const session = await ana.signIn(shown);
          const hers = await ask();
          assert.equal((await answer(world(), hers, session)).status, 201);
          if (!isSignedIn) await endSessions(ctx, ana.id, { kind: "server", id: "test" });

          // Reading.
          assert.equal(await answersOf(world(), shown), 1);
          const get = async (path: string) => (await world().call("GET", path, { headers: shown })).body;
          assert.equal((await get(`/human/questions/${hers}`)).can_answer, true);
          const feed = await get("/human/questions?limit=50");
          assert.ok(feed.questions.some((question: { question_id: string }) => question.question_id === hers));
          assert.equal(
            (await get("/human/leaderboard?limit=100")).your_points,
            (await get("/human/stats")).total_points,
          );

          // Writing.
          const post = (path: string, body: unknown = {}) => world().call("POST", path, { headers: shown, body });
          const [answered, skipped, reported] = [await ask(), await ask(), await ask()];
          assert.equal((await answer(world(), answered, shown)).status, 201);
          assert.equal((await post(`/human/questions/${skipped}/skip`)).status, 204);
          assert.equal((await post(`/human/questions/${reported}/report`, { reason: "unclear" })).status, 204);
          const subscribed = await post("/human/push/subscribe", { fcm_token: fresh("token") });
          const refreshed = await world().call("PUT", "/human/push/subscribe", {
            headers: shown,
            body: { fcm_token: fresh("token") },
          });
          assert.deepEqual([subscribed.status, refreshed.status], [201, 200]);
          // The number of codes that may be tried within an hour is limited.
          await world().advance(HOUR);
          const { code } = (await post("/human/recovery")).body;
          const moved = await world().call("POST", "/human/recovery/redeem", { body: { code } });
          assert.equal(tokenIn(moved), token);

          const by = (table: string) =>
            ({
              responses: sql`SELECT person FROM responses WHERE ask_id = ${answered}`,
              skips: sql`SELECT person FROM skips WHERE ask_id = ${skipped}`,
              reports: sql`SELECT person FROM reports WHERE ask_id = ${reported}`,
              subscriptions: sql`SELECT person FROM push_subscriptions
                WHERE subscription_id = ${subscribed.body.subscription_id} AND credential IS NULL`,
            })[table] ?? assert.fail();
          for (const table of ["responses", "skips", "reports", "subscriptions"]) {
            assert.deepEqual(
              (await ctx.db.all<{ person: string }>(by(table))).map(({ person }) => person),
              [participant],
              table,
            );
          }

          // Erasing.
          assert.equal((await world().call("DELETE", "/human/me", { headers: shown })).status, 204);
          assert.equal(await answersOf(world(), await ana.key()), 1);
        });
      }
    }

    it("is another one after she has signed out", async () => {
      const ana = await namedPerson(world(), "Ana");
      const token = tokenIn(await answer(world(), await ask(), {}));
      const session = await ana.signIn({ cookie: `parley_p=${token}` });
      const headers = { ...session, cookie: `${session["cookie"]}; parley_p=${token}` };
      const left = await world().call("DELETE", "/session", { headers });
      assert.deepEqual(
        left.headers.getSetCookie().map((cookie) => /^(\w+)=;.* Max-Age=(\d+)/.exec(cookie)?.slice(1)),
        [
          ["parley", "0"],
          ["parley_p", "0"],
        ],
      );
      const nobody = await world().call("DELETE", "/session", { headers: { cookie: `parley_p=${token}` } });
      assert.equal(nobody.headers.getSetCookie().length, 1, "who was not signed in keeps theirs");
    });
  });
}
