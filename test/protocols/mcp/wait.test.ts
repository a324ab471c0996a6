import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { fresh, isHeldFor, MINUTE, ROOMY, sharedWorld, until } from "../../support/contract.ts";
import {
  askByTool,
  BOTH_TYPES,
  legacy,
  modernRequest,
  stream,
  tool,
  toolCall,
  type McpStream,
} from "../../support/mcp.ts";
import { DATABASES, openWorld, type World } from "../../support/world.ts";

const WAIT = "wait_for_human_responses";
const question = () => ({ question: fresh("How long does this take?"), timeout_seconds: 86_400 });

/** Whether somebody waits for this question. */
const isWatched = (world: World, id: string): boolean => [...world.server.ctx.wake.topics()].includes(`question:${id}`);

/** Opens a wait and reads its first comment. */
async function wait(world: World, args: Record<string, unknown>, token?: string): Promise<McpStream> {
  const opened = await stream(world, toolCall(WAIT, args, { ...(token !== undefined && { token }) }));
  assert.deepEqual(await opened.next(), { comment: "waiting" });
  return opened;
}

/** Moves time on by whole heartbeats, and reads what each one says. */
async function beats(world: World, opened: McpStream, count: number): Promise<unknown[]> {
  const said: unknown[] = [];
  for (let i = 0; i < count; i += 1) {
    await world.advance(10_000);
    said.push(await opened.next());
  }
  return said;
}

const progress = (seconds: number, message: string) => ({
  message: {
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: "p7", progress: seconds, message },
  },
});

for (const on of DATABASES) {
  describe(`waiting for people on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });

    it("is a stream before any time has passed, and ends with the answer as soon as it is in", async () => {
      const id = await askByTool(world(), question());
      // The server's clock stands still: whatever it had waited for would never have come.
      const opened = await wait(world(), { question_id: id });
      assert.equal(opened.status, 200);
      assert.equal(opened.header("content-type"), "text/event-stream; charset=utf-8");
      assert.equal(opened.header("cache-control"), "no-store");
      assert.equal(opened.header("x-accel-buffering"), "no");
      assert.equal(opened.header("mcp-session-id"), undefined);

      await world().person(fresh("p")).answer(id, "Not long.");
      const { id: rpcId, result } = await opened.message();
      assert.equal(rpcId, 1);
      const { settled, waited_seconds, status, responses, next } = result.structuredContent;
      assert.deepEqual([settled, waited_seconds, status, next], [true, 0, "CLOSED", undefined]);
      assert.deepEqual(responses, [{ answer: "Not long." }]);
      assert.equal(await opened.next(), undefined);
    });

    it("returns at once what was decided before the wait began", async () => {
      const id = await askByTool(world(), question());
      await world().person(fresh("p")).answer(id, "Already here.");
      const opened = await wait(world(), { question_id: id }, "p7");
      assert.equal((await opened.message()).result.structuredContent.settled, true);
    });
  });
}

describe("a wait on a database that does not reply", () => {
  it("is heard before anything is looked up", async () => {
    await using world = await openWorld({ on: "postgres" });
    const id = await askByTool(world, question());
    const other = new pg.Client({ connectionString: world.config.databaseUrl });
    await other.connect();
    await other.query("BEGIN");
    await other.query("LOCK TABLE questions, waits IN ACCESS EXCLUSIVE MODE");
    const opened = await wait(world, { question_id: id });
    await until(async () => (await other.query("SELECT 1 FROM pg_locks WHERE NOT granted")).rowCount);

    await other.query("ROLLBACK");
    await other.end();
    await world.person(fresh("p")).answer(id, "Heard you.");
    assert.equal((await opened.message()).result.structuredContent.settled, true);
  });
});

describe("a wait", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });

  it("says how far it is at once, every ten seconds and with every answer, always a greater number", async () => {
    const id = await askByTool(world(), { ...question(), min_responses: 3 });
    const opened = await wait(world(), { question_id: id, min_responses: 2 }, "p7");
    assert.deepEqual(await opened.next(), progress(0, "0 of 2 answers, 00:00"));
    assert.deepEqual(await beats(world(), opened, 4), [
      progress(10, "0 of 2 answers, 00:10"),
      progress(20, "0 of 2 answers, 00:20"),
      progress(30, "0 of 2 answers, 00:30"),
      progress(40, "0 of 2 answers, 00:40"),
    ]);
    await world().person(fresh("p")).answer(id, "First.");
    assert.deepEqual(await opened.next(), progress(40.001, "1 of 2 answers, 00:40"));
    await world().person(fresh("p")).answer(id, "Second.");
    const { structuredContent } = (await opened.message()).result;
    assert.deepEqual(
      [structuredContent.settled, structuredContent.status, structuredContent.current_responses],
      [true, "PARTIAL", 2],
    );
    assert.equal(structuredContent.waited_seconds, 40);
  });

  it("only shows that it lives where no progress was asked for", async () => {
    const id = await askByTool(world(), question());
    const opened = await wait(world(), { question_id: id });
    assert.deepEqual(await beats(world(), opened, 3), Array(3).fill({ comment: "still waiting" }));
    opened.close();
  });

  it("holds 300 seconds with progress and 50 without, or as long as asked, then says how to go on", async () => {
    const id = await askByTool(world(), { ...question(), min_responses: 5 });
    const cases: [args: object, token: string | undefined, seconds: number][] = [
      [{}, "p7", 300],
      [{}, undefined, 50],
      [{ max_wait_seconds: 420 }, undefined, 420],
      [{ max_wait_seconds: 20, min_responses: 2 }, "p7", 20],
    ];
    for (const [args, token, seconds] of cases) {
      const opened = await wait(world(), { question_id: id, ...args }, token);
      if (token) await opened.next();
      await until(() => isWatched(world(), id), "a wait for the question");
      await beats(world(), opened, seconds / 10 - 1);
      await world().advance(10_000);
      const answer = async () => {
        for (;;) {
          const message = await opened.message();
          if (message.id !== undefined) return message;
        }
      };
      const { structuredContent, content, isError } = (await answer()).result;
      const minimum = "min_responses" in args ? { min_responses: 2 } : {};
      assert.equal(isError, undefined);
      assert.deepEqual(
        [structuredContent.settled, structuredContent.status, structuredContent.waited_seconds],
        [false, "OPEN", seconds],
      );
      assert.deepEqual(structuredContent.next, { tool: WAIT, arguments: { question_id: id, ...minimum } });
      assert.match(content[1].text, /as `next` says/);
      assert.deepEqual(JSON.parse(content[0].text), structuredContent);
    }
  });

  it("lasts for seven minutes and brings the answer that came in the last of them", async () => {
    const id = await askByTool(world(), question());
    const opened = await wait(world(), { question_id: id, max_wait_seconds: 3600 }, "p7");
    await opened.next();
    const said = await beats(world(), opened, 42);
    assert.deepEqual(said.at(-1), progress(420, "0 of 1 answers, 07:00"));
    await world().person(fresh("p")).answer(id, "After seven minutes.");
    const { structuredContent } = (await opened.message()).result;
    assert.deepEqual([structuredContent.settled, structuredContent.waited_seconds], [true, 420]);
  });

  it("ends with the question: when its deadline passes, or when it is cancelled", async () => {
    const dying = await askByTool(world(), { ...question(), timeout_seconds: 60 });
    const cancelled = await askByTool(world(), question(), { headers: { "x-agent-id": "default" } });
    const first = await wait(world(), { question_id: dying, max_wait_seconds: 600 });
    const second = await wait(world(), { question_id: cancelled });
    await until(() => isWatched(world(), dying) && isWatched(world(), cancelled));
    await world().agent("default").cancel(cancelled);
    const ended = (await second.message()).result.structuredContent;
    assert.deepEqual([ended.settled, ended.status, ended.cancelled], [true, "EXPIRED", true]);

    await world().advance(MINUTE + 10);
    const expired = (await first.message()).result.structuredContent;
    assert.deepEqual([expired.settled, expired.status, expired.responses], [true, "EXPIRED", []]);
  });

  it("is one JSON reply after at most 50 seconds where the client takes no stream", async () => {
    const id = await askByTool(world(), question());
    for (const accept of ["application/json", "*/*", ""]) {
      const args = { question_id: id, max_wait_seconds: 3600 };
      const reply = legacy(world(), "tools/call", { name: WAIT, arguments: args }, { headers: { accept } });
      await until(async () => world().clock.isAwaited(50_000));
      await world().advance(49_999);
      assert.equal(await isHeldFor(world(), 1, reply), true);
      await world().advance(1);
      const { status, headers, body } = await reply;
      assert.deepEqual([status, headers.get("content-type")], [200, "application/json; charset=utf-8"]);
      assert.equal(body.result.structuredContent.waited_seconds, 50);
    }
  });

  it("ends when its client hangs up, and nothing but the wait ends", async () => {
    const id = await askByTool(world(), question());
    const opened = await wait(world(), { question_id: id }, "p7");
    await until(() => isWatched(world(), id));
    opened.close();
    await until(() => !isWatched(world(), id));

    await world().person(fresh("p")).answer(id, "Nobody was listening.");
    const later = await tool(world(), WAIT, { question_id: id });
    assert.deepEqual(later.structuredContent.responses, [{ answer: "Nobody was listening." }]);
  });

  it("does not end by a notification: the request it names could be another client's", async () => {
    const id = await askByTool(world(), question());
    const opened = await stream(world(), toolCall(WAIT, { question_id: id }, { id: 5 }));
    await opened.next();
    const params = { requestId: 5, reason: "mine" };
    const body = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    assert.equal((await world().call("POST", "/mcp", { body })).status, 202);
    await world().person(fresh("p")).answer(id, "Still waited for.");
    assert.equal((await opened.message()).result.structuredContent.settled, true);
  });

  it("keeps the replies of two clients apart that use the same request ids under one name", async () => {
    const ids = [await askByTool(world(), question()), await askByTool(world(), question())];
    const waits = await Promise.all(
      ids.map((id) => stream(world(), toolCall(WAIT, { question_id: id }, { id: 1, token: "p7" }))),
    );
    waits[0]?.close();
    for (const id of ids) await world().person(fresh("p")).answer(id, `For ${id}.`);
    for (let message = await waits[1]?.message(); ; message = await waits[1]?.message()) {
      if (message.result) {
        assert.equal(message.result.structuredContent.question_id, ids[1]);
        assert.deepEqual(message.result.structuredContent.responses, [{ answer: `For ${ids[1]}.` }]);
        break;
      }
    }
  });

  it("tells what it declines on the stream, as a result", async () => {
    const opened = await wait(world(), { question_id: "q_unknown" });
    const { result } = await opened.message();
    assert.deepEqual([result.isError, result.structuredContent.error.code], [true, "QUESTION_NOT_FOUND"]);
    assert.equal(await opened.next(), undefined);
  });

  it("streams for modern clients too", async () => {
    const id = await askByTool(world(), question());
    const opened = await stream(world(), modernRequest("tools/call", { name: WAIT, arguments: { question_id: id } }));
    await world().person(fresh("p")).answer(id, "In every revision.");
    const { result } = await opened.message();
    assert.deepEqual([result.resultType, result.structuredContent.settled], ["complete", true]);
  });
});

describe("parked waits", () => {
  it("are so many for each agent, and one more is told so", async () => {
    await using world = await openWorld({ on: "sqlite", env: { PARLEY_LIMITS_LONG_POLLS: "3" } });
    const id = await askByTool(world, question());
    const waits = await Promise.all([1, 2, 3].map(() => wait(world, { question_id: id }, "p7")));
    await Promise.all(waits.map((one) => one.message()));

    const { result } = await (await wait(world, { question_id: id })).message();
    assert.equal(result.isError, true);
    const { code, details } = result.structuredContent.error;
    assert.deepEqual([code, details.limit, details.retry_after], ["RATE_LIMITED", 3, 5]);
    const other = await stream(world, {
      ...toolCall(WAIT, { question_id: id }),
      headers: { "x-agent-id": "bo", accept: BOTH_TYPES },
    });
    await other.next();
    assert.equal((await other.message()).result.structuredContent.error.code, "QUESTION_NOT_FOUND");

    waits[0]?.close();
    await until(async () => (await tool(world, WAIT, { question_id: id, max_wait_seconds: 0 })).isError === undefined);
    for (const one of waits) one.close();
  });

  it("end with their pending result when the server stops, and it loses nothing", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const id = await askByTool(world, question());
    const opened = await wait(world, { question_id: id }, "p7");
    await opened.next();
    const restarted = world.restart();
    const { result } = await opened.message();
    assert.deepEqual([result.structuredContent.settled, result.structuredContent.status], [false, "OPEN"]);
    assert.deepEqual(result.structuredContent.next, { tool: WAIT, arguments: { question_id: id } });
    await restarted;

    const again = await wait(world, { question_id: id }, "p7");
    await world.person("bo").answer(id, "After the restart.");
    for (let message = await again.message(); ; message = await again.message()) {
      if (!message.result) continue;
      assert.equal(message.result.structuredContent.settled, true);
      break;
    }
  });
});
