import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VERSION } from "../../../src/lib/version.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { createKey } from "../../../src/access/create-key.ts";
import { advanceUntil, until } from "../../support/contract.ts";
import { ONE_DATABASE, openWorld, type World } from "../../support/world.ts";

async function word(world: World, path: string): Promise<[number, string]> {
  const reply = await world.call("GET", path);
  assert.equal(reply.headers.get("content-type"), "text/plain; charset=utf-8");
  return [reply.status, reply.text];
}

/** The value of one metric, with its labels as they are printed. */
async function metric(world: World, name: string): Promise<number | undefined> {
  const { text } = await world.call("GET", "/metrics");
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

for (const on of ONE_DATABASE) {
  describe(`operations on ${on}`, () => {
    it("says in one word that the process runs and can be sent requests", async () => {
      await using world = await openWorld({ on });
      assert.deepEqual(await word(world, "/healthz"), [200, "ok"]);
      assert.deepEqual(await word(world, "/readyz"), [200, "ready"]);
    });

    it("is not ready while a promise of the store is broken, looked at every minute", async () => {
      await using world = await openWorld({ on });
      await world.agent("ana-bot").ask();
      assert.deepEqual(await word(world, "/readyz"), [200, "ready"]);
      const { db } = world.server.ctx;
      const setVersion = (version: number) =>
        db.transact((tx) => tx.all(sql`UPDATE questions SET version = ${version}`));
      await setVersion(7);
      await world.advance(60_000);
      await advanceUntil(world, 500, async () => (await word(world, "/readyz"))[1] === "broken");
      assert.deepEqual(await word(world, "/readyz"), [503, "broken"]);
      assert.deepEqual(await word(world, "/healthz"), [200, "ok"]);

      await setVersion(1);
      await advanceUntil(world, 500, async () => (await word(world, "/readyz"))[1] === "ready");
      assert.deepEqual(await word(world, "/readyz"), [200, "ready"]);
    });

    it("counts by the first look what happened before it, among people and among executors", async () => {
      await using world = await openWorld({ on });
      await metric(world, "parley_asks_open");
      await world.advance(10_000);
      await world.person("ana").answer(await world.agent("ana-bot").ask({ min_responses: 1 }), "Send");
      const { text: key } = await createKey(world.server.ctx, { name: "runs", scope: "executor" });
      const headers = { authorization: `Bearer ${key}` };
      const made = await world.call("POST", "/jobs", { headers, body: { external: true } });
      assert.equal(made.status, 201, made.text);
      await world.advance(10_000);
      const { text } = await world.call("GET", "/metrics");
      for (const line of [
        "parley_asks_created_total 1",
        "parley_responses_total 1",
        'parley_asks_settled_total{state="answered"} 1',
        "parley_asks_open 0",
        'parley_job_state{state="RUNNING"} 1',
      ]) {
        assert.ok(text.split("\n").includes(line), line);
      }
    });

    it("counts what is asked, answered, ended and held", async () => {
      await using world = await openWorld({ on });
      const agent = world.agent("ana-bot");
      await metric(world, "parley_asks_open");
      await world.advance(10_000);
      const answered = await agent.ask({ min_responses: 1 });
      await world.person("ana").answer(answered, "Send");
      const short = await agent.ask({ timeout_seconds: 60 });
      await agent.cancel((await agent.ask()).id);
      const open = await agent.ask();
      await world.advance(61_000);
      // The read settles the question if the loop has not. The figures count what was settled before they are read.
      assert.equal((await agent.poll(short.id)).body.status, "EXPIRED");
      await world.advance(10_000);

      await until(async () => (await metric(world, "parley_asks_open")) === 1);
      assert.equal(await metric(world, "parley_asks_created_total"), 4);
      assert.equal(await metric(world, "parley_responses_total"), 1);
      assert.equal(await metric(world, `parley_asks_settled_total{state="answered"}`), 1);
      assert.equal(await metric(world, `parley_asks_settled_total{state="expired"}`), 1);
      assert.equal(await metric(world, `parley_asks_settled_total{state="cancelled"}`), 1);
      assert.equal(
        await metric(world, `parley_http_request_seconds_count{route="/agent/questions",method="POST",status="201"}`),
        4,
      );
      assert.ok(((await metric(world, "parley_store_transaction_seconds_count")) ?? 0) >= 5);
      assert.notEqual(await metric(world, "nodejs_eventloop_lag_p99_seconds"), undefined);

      const waiting = agent.poll(open.id, "?wait=20");
      await until(async () => (await metric(world, `parley_waiters_parked{kind="long-polls"}`)) === 1);
      await agent.cancel(open.id);
      assert.equal((await waiting).body.status, "EXPIRED");
      assert.equal(await metric(world, `parley_waiters_parked{kind="long-polls"}`), 0);
    });
  });
}

describe("operations", () => {
  it("shows figures off this computer only to a key of scope admin", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_HOST: "0.0.0.0" } });
    const keyOf = async (scope: "admin" | "agent") => (await createKey(world.server.ctx, { name: "ops", scope })).text;
    const ask = async (headers: Record<string, string>) => (await world.call("GET", "/metrics", { headers })).status;
    assert.equal(await ask({}), 401);
    assert.equal(await ask({ authorization: `Bearer ${await keyOf("agent")}` }), 401);
    assert.equal(await ask({ authorization: `Bearer ${await keyOf("admin")}` }), 200);
    assert.deepEqual(await word(world, "/healthz"), [200, "ok"]);
    assert.deepEqual(await word(world, "/readyz"), [200, "ready"]);
  });

  it("names routes in the metrics, never what stood in an address", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const { text: key } = await createKey(world.server.ctx, { name: "canary-bot", scope: "agent" });
    await world.call("GET", `/k/${key}/agent/questions/q_canary`);
    await world.call("GET", "/canary/path");
    const { text } = await world.call("GET", "/metrics");
    assert.ok(!text.includes("canary") && !text.includes(key));
    assert.match(text, /route="\/agent\/questions\/:id",method="GET",status="404"/);
    assert.match(text, /route="unknown",method="GET",status="404"/);
  });
});

describe("the API's description", () => {
  const ROUTES = [
    "post /agent/questions",
    "get /agent/questions",
    "get /agent/questions/{id}",
    "delete /agent/questions/{id}",
    "get /agent/questions/{id}/events",
    "get /agent/questions/events",
    "get /human/questions",
    "get /human/questions/{id}",
    "get /human/questions/{id}/results",
    "post /human/questions/{id}/skip",
    "post /human/questions/{id}/report",
    "post /human/responses",
    "post /human/push/subscribe",
    "put /human/push/subscribe",
    "delete /human/push/subscribe/{id}",
    "get /human/push/key",
    "get /human/stats",
    "get /human/leaderboard",
    "get /human/events",
    "post /human/recovery",
    "post /human/recovery/redeem",
    "delete /human/me",
    "post /session",
    "get /session",
    "delete /session",
    "get /healthz",
    "get /readyz",
    "get /metrics",
  ];

  it("is OpenAPI 3.1, names every route and says what each reply means", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const { status, body } = await world.call("GET", "/openapi.json");
    assert.deepEqual(body.info.license, { name: "Apache 2.0", identifier: "Apache-2.0" });
    assert.equal(body.paths["/mcp"].post.responses["202"].content, undefined, "nothing is replied");
    assert.deepEqual([status, body.openapi, body.info.title, body.info.version], [200, "3.1.0", "Parley", VERSION]);
    const operations = Object.entries(body.paths as Record<string, Record<string, Operation>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );
    const names = operations.map(({ name }) => name);
    assert.deepEqual(
      ROUTES.filter((route) => !names.includes(route)),
      [],
    );
    for (const { name, operation } of operations) {
      assert.ok(operation.summary && operation.tags?.length, name);
      for (const response of Object.values(operation.responses)) {
        assert.ok(response.description && response.description !== "Default Response", name);
      }
    }
  });

  it("is what the routes check with", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const { body } = await world.call("GET", "/openapi.json");
    const { $ref } = body.paths["/agent/questions"].post.requestBody.content["application/json"].schema;
    assert.equal($ref, "#/components/schemas/NewQuestion");
    const schema = body.components.schemas.NewQuestion;
    assert.deepEqual(schema.required, ["prompt", "type"]);
    const { minLength, maxLength } = schema.properties.prompt;
    const ask = (length: number) => world.agent("ana-bot").create({ prompt: "x".repeat(length) });
    for (const length of [minLength, maxLength]) assert.equal((await ask(length)).status, 201);
    for (const length of [minLength - 1, maxLength + 1]) assert.equal((await ask(length)).status, 400);
  });
});

interface Operation {
  summary?: string;
  tags?: string[];
  responses: Record<string, { description: string }>;
}
