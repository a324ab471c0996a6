import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  HOUR,
  IN_PUBLIC,
  LABELS,
  ROOMY,
  assertLimited,
  assertRefused,
  fresh,
  from,
  limitsOf,
  openStream,
  sharedWorld,
} from "../support/contract.ts";
import { answer, byFingerprint, byToken, type Shown, tokenIn } from "../support/identities.ts";
import { DATABASES, type Reply, openWorld } from "../support/world.ts";

const count = (replies: readonly Reply[], status: number) => replies.filter((reply) => reply.status === status).length;

for (const on of DATABASES) {
  describe(`answers an hour on ${on}`, () => {
    const world = sharedWorld({ on });

    it("are 30 of one person, and only those that were accepted", async () => {
      const asked: string[] = [];
      for (let i = 0; i < 32; i += 1) asked.push((await world().agent(`ana-bot-${i}`).ask({ options: LABELS })).id);
      const bo = world().person(fresh("bo"));
      const first = await bo.answer(asked[0] ?? "", 0);
      assert.deepEqual([limitsOf(first).limit, limitsOf(first).remaining], [30, 29]);
      for (const [reply, status] of [
        [await bo.answer(asked[0] ?? "", 0), 409],
        [await bo.answer(asked[1] ?? "", 7), 400],
        [await bo.answer("q_unknown", 0), 404],
      ] as const) {
        assert.deepEqual([reply.status, limitsOf(reply).limit, limitsOf(reply).remaining], [status, 30, 29]);
        assert.equal(limitsOf(reply).reset, limitsOf(first).reset);
      }
      const replies = await Promise.all(asked.slice(1).map((id) => bo.answer(id, 1)));
      assert.deepEqual([count(replies, 201), count(replies, 429)], [29, 2]);
      const left = asked.slice(1)[replies.findIndex((reply) => reply.status === 429)] ?? "";
      assertLimited(await bo.answer(left, 1), 30, 3600);
      // A question that was decided before the limit still gets 409.
      assert.equal((await bo.answer(asked[0] ?? "", 0)).status, 409);
      assert.equal((await bo.answer(left, 9)).status, 400);

      assert.equal((await world().person(fresh("cy")).answer(left, 1)).status, 201);
      assert.equal((await bo.get("/human/stats")).body.total_answers, 30);
      await world().advance(HOUR - 1);
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      assert.equal((await bo.answer(id, 1)).status, 429);
      await world().advance(1);
      assert.equal((await bo.answer(id, 1)).status, 201);
    });
  });

  describe(`strangers on ${on}`, () => {
    const world = sharedWorld({
      on,
      env: {
        ...IN_PUBLIC,
        ...ROOMY,
        PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "25",
        PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "20",
      },
    });
    const answer = (id: string, address: string, name: string, option = 0) =>
      world().call("POST", "/human/responses", {
        headers: { ...from(address), "x-fingerprint": name },
        body: { question_id: id, selected_option: option },
      });

    it("are 20 newcomers an hour from one network, which is a /24", async () => {
      const { id } = await world().agent(fresh("ana-bot")).ask({ options: LABELS, min_responses: 50 });
      const replies = [];
      for (let i = 0; i < 20; i += 1) replies.push(await answer(id, `203.0.113.${i}`, fresh("bo")));
      assert.equal(count(replies, 201), 20);

      const mallory = fresh("mallory");
      const refused = await answer(id, "203.0.113.250", mallory);
      assertRefused(refused, 429, {
        code: "RATE_LIMITED",
        message: "Too many requests.",
        details: { limit: 20, window_seconds: 3600, retry_after: 3600 },
      });
      assert.equal(refused.headers.get("x-participant-token"), null);
      assert.deepEqual([limitsOf(refused).limit, limitsOf(refused).remaining], [20, 0]);
      for (const path of [`/human/questions/${id}/skip`, "/human/recovery"]) {
        const reply = await world().call("POST", path, {
          headers: { ...from("203.0.113.251"), "x-fingerprint": mallory },
        });
        assert.equal(reply.status, 429, path);
      }
      // Every refusal that comes before the limit is sent before it.
      assert.equal((await answer(id, "203.0.113.250", mallory, 5)).status, 400);
      assert.equal((await answer("q_unknown", "203.0.113.250", mallory)).status, 404);

      // Those who are known, and those from elsewhere, are not concerned.
      const other = await world().agent(fresh("ana-bot")).ask({ options: LABELS, min_responses: 50 });
      const token = replies[0]?.headers.get("x-participant-token") ?? "";
      const known = { ...from("203.0.113.9"), "x-participant-token": token };
      const body = { question_id: other.id, selected_option: 0 };
      assert.equal((await world().call("POST", "/human/responses", { headers: known, body })).status, 201);
      assert.equal((await answer(id, "203.0.114.1", mallory)).status, 201);
      await world().advance(HOUR);
      const later = await world().agent(fresh("ana-bot")).ask({ options: LABELS });
      assert.equal((await answer(later.id, "203.0.113.250", fresh("mallory"))).status, 201);
    });

    it("that ask for a closed question hear that it is closed, even one newcomer too many", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ options: LABELS, min_responses: 50 });
      const closed = await agent.ask({ options: LABELS });
      await agent.cancel(closed.id);
      for (let i = 0; i < 20; i += 1) await answer(id, "192.0.2.1", fresh("bo"));
      const late = fresh("mallory");
      assert.equal((await answer(id, "192.0.2.1", late)).status, 429);
      assert.equal((await answer(closed.id, "192.0.2.1", late)).status, 410);
    });

    it("give so many answers an hour from one network, which is a /48", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const ids: string[] = [];
      for (let i = 0; i < 26; i += 1) ids.push((await agent.ask({ options: LABELS })).id);
      const bo = fresh("bo");
      const replies = [];
      for (const [i, id] of ids.entries()) replies.push(await answer(id, `2001:db8:7:${i}::1`, bo));
      assert.deepEqual([count(replies, 201), replies.at(-1)?.status], [25, 429]);
      assert.deepEqual(replies.at(-1)?.body.error.details, { limit: 25, window_seconds: 3600, retry_after: 3600 });
      assert.equal((await answer(ids.at(-1) ?? "", "2001:db8:8::1", bo)).status, 201);
    });

    it("register 10 push subscriptions an hour from one address", async () => {
      await using other = await openWorld({ on, env: IN_PUBLIC });
      const subscribe = (method: string, address: string, body: unknown) =>
        other.call(method, "/human/push/subscribe", { headers: { ...from(address), "x-fingerprint": "bo" }, body });
      for (let i = 1; i <= 10; i += 1) {
        const reply = await subscribe(i % 2 ? "POST" : "PUT", "203.0.113.1", { fcm_token: "token" });
        assert.deepEqual([reply.status < 300, limitsOf(reply).limit, limitsOf(reply).remaining], [true, 10, 10 - i]);
      }
      assertLimited(await subscribe("POST", "203.0.113.1", { fcm_token: "token" }), 10, 3600);
      const bad = await subscribe("POST", "203.0.113.1", {});
      assert.deepEqual([bad.status, limitsOf(bad).limit, limitsOf(bad).remaining], [400, 10, 0]);
      assert.equal((await subscribe("POST", "203.0.113.2", { fcm_token: "token" })).status, 200);
    });
  });

  describe(`reads of people on ${on}`, () => {
    const world = sharedWorld({ on, env: { ...IN_PUBLIC, PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "8" } });
    const get = (path: string, headers: Record<string, string>) => world().call("GET", path, { headers });

    it("are counted by address, whoever comes from there without a credential", async () => {
      const paths = [
        "/human/questions",
        "/human/stats",
        "/human/leaderboard",
        "/human/push/key",
        "/human/questions/q_x",
      ];
      const address = from("203.0.113.1");
      for (const [i, path] of [...paths, "/human/questions?limit=x", "/human/questions/q_x/results"].entries()) {
        const reply = await get(path, { ...address, "x-fingerprint": `bo-${i}` });
        assert.deepEqual([path, limitsOf(reply).limit, limitsOf(reply).remaining], [path, 8, 7 - i]);
      }
      const stream = await openStream(`${world().url}/human/events`, address);
      assert.deepEqual([stream.status, stream.headers.get("x-ratelimit-remaining")], [200, "0"]);
      stream.close();
      assertLimited(await get("/human/stats", address), 8, 3600);
      assertLimited(await get("/human/stats", { ...address, "x-participant-token": "pt1.p_x.forged" }), 8, 3600);
      assert.equal((await get("/human/stats", from("203.0.113.2"))).status, 200);
      assert.equal((await world().call("POST", "/human/recovery", { headers: address })).status, 201);
    });

    it("are counted apart for whoever shows a credential", async () => {
      const address = from("198.51.100.1");
      const made = await world().call("POST", "/human/recovery", { headers: address });
      const known = { ...address, "x-participant-token": made.headers.get("x-participant-token") ?? "" };
      for (let i = 0; i < 8; i += 1) assert.equal((await get("/human/stats", address)).status, 200);
      assert.equal((await get("/human/stats", address)).status, 429);
      for (let i = 0; i < 8; i += 1) assert.equal(limitsOf(await get("/human/stats", known)).remaining, 7 - i);
      assertLimited(await get("/human/stats", known), 8, 3600);
      assertLimited(await get("/human/stats", { ...known, ...from("198.51.100.2") }), 8, 3600);
    });
  });
}

describe("reads of people with credentials", () => {
  const world = sharedWorld({ on: "sqlite", env: { ...IN_PUBLIC, PARLEY_LIMITS_EDGE_BURST: "100000" } });

  it("are 3000 an hour from one address", async () => {
    const address = from("203.0.113.1");
    const tokens = await Promise.all(
      Array.from({ length: 11 }, async () => {
        const made = await world().call("POST", "/human/recovery", { headers: address });
        return made.headers.get("x-participant-token") ?? "";
      }),
    );
    const read = (token: string) =>
      world().call("GET", "/human/push/key", { headers: { ...address, "x-participant-token": token } });
    for (const token of tokens.slice(0, 10)) {
      for (let i = 0; i < 300; i += 50) {
        const replies = await Promise.all(Array.from({ length: 50 }, () => read(token)));
        assert.equal(count(replies, 200), 50);
      }
    }
    assertLimited(await read(tokens[10] ?? ""), 3000, 3600);
  });
});

for (const on of DATABASES) {
  describe(`whoever is on this computer, on ${on}`, () => {
    const world = sharedWorld({
      on,
      env: {
        ...ROOMY,
        PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "8",
        PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "12",
      },
    });

    it("is one participant while it shows nothing, and few others in an hour; the asker sees that it is one network", async () => {
      const agent = world().agent("ana-bot");
      const { id } = await agent.ask({ options: LABELS, min_responses: 10 });
      const nothing: Shown[] = [{}, {}, { "user-agent": "another" }, { "x-agent-id": "somebody" }];
      const replies = await Promise.all(nothing.map((headers) => answer(world(), id, headers)));
      assert.deepEqual([count(replies, 201), count(replies, 409)], [1, 3]);
      const others = await Promise.all(
        Array.from({ length: 9 }, (_, i) => answer(world(), id, byFingerprint(`a${i}`))),
      );
      assert.deepEqual([count(others, 201), count(others, 429)], [7, 2]);
      const { body } = await agent.poll(id);
      assert.deepEqual([body.status, body.integrity], ["PARTIAL", { networks: 1, participants: 8 }]);
    });

    it("answers many questions as one participant, but is not many of them in an hour", async () => {
      await world().advance(HOUR);
      const asked: string[] = [];
      for (let i = 0; i < 20; i += 1) asked.push((await world().agent("bo-bot").ask({ options: LABELS })).id);
      const token = byToken(tokenIn(await answer(world(), asked.pop() ?? "", {})));
      for (const id of asked.splice(0, 2)) assert.equal((await answer(world(), id, token)).status, 201);
      const strangers = await Promise.all(
        asked.splice(0, 9).map((id, i) => answer(world(), id, byFingerprint(`b${i}`))),
      );
      assert.deepEqual([count(strangers, 201), count(strangers, 429)], [8, 1]);
      assert.equal((await answer(world(), asked.pop() ?? "", token)).status, 201);
      assertLimited(await answer(world(), asked.pop() ?? "", token), 12, 3600);
    });
  });
}

describe("whoever is on this computer", () => {
  it("is not believed about addresses unless it is a proxy that is named", async () => {
    await using other = await openWorld({
      on: "sqlite",
      env: { ...IN_PUBLIC, PARLEY_TRUSTED_PROXIES: "", PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "2" },
    });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) {
      statuses.push((await other.call("GET", "/human/stats", { headers: from(`203.0.113.${i}`) })).status);
    }
    assert.deepEqual(statuses, [200, 200, 429]);
  });
});
