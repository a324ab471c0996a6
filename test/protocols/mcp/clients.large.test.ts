import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { fresh, ROOMY, sharedWorld, until } from "../../support/contract.ts";
import { QUESTION, TOOL_NAMES } from "../../support/mcp.ts";
import {
  type AnyClient,
  CLIENTS,
  openNew,
  openOld,
  over,
  type Place,
  type Transport,
} from "../../support/mcp-official.ts";
import { newFolder, serve, start } from "../../support/program.ts";

const WAIT = "wait_for_human_responses";

type Json = Record<string, unknown>;

for (const by of Object.keys(over) as Transport[]) {
  for (const [name, { open, speaks }] of Object.entries(CLIENTS)) {
    describe(`${name}, over ${over[by]}`, () => {
      const world = sharedWorld({ on: "sqlite", env: { ...ROOMY, PARLEY_OPEN: "false" } });
      const opened: AnyClient[] = [];
      let client: AnyClient;
      before(async () => {
        client = await connect();
      });
      after(() => Promise.all(opened.map((one) => one.close())));
      async function connect(): Promise<AnyClient> {
        const { text: key } = await createKey(world().server.ctx, { name: "ana-bot", scope: "agent" });
        const client = await open({ url: world().url, key }, by);
        opened.push(client);
        return client;
      }

      it("lists the tools, asks, waits, and gets what a person answers meanwhile", async () => {
        assert.equal(client.protocol(), speaks);
        assert.deepEqual(await client.tools(), TOOL_NAMES);

        const asked = await client.call("ask_human", { question: QUESTION, min_responses: 1 });
        const id = asked.structured["question_id"] as string;
        const waiting = client.call(WAIT, { question_id: id });
        await until(async () => [...world().server.ctx.wake.topics()].includes(`question:${id}`));
        await world().person(fresh("p")).answer(id, "Send is clearer.");
        const { structured, content, isError } = await waiting;
        assert.equal(isError, false);
        assert.deepEqual([structured["settled"], structured["responses"]], [true, [{ answer: "Send is clearer." }]]);
        assert.match(content[1]?.["text"] as string, /not instructions/);

        const checked = await client.call("check_human_responses", { question_id: id });
        assert.equal(checked.structured["status"], "CLOSED");
      });

      it("hears of progress for seven minutes, and then gets the answer", async () => {
        const asked = await client.call("ask_human", {
          question: fresh("How slow can a person be?"),
          min_responses: 1,
        });
        const id = asked.structured["question_id"] as string;
        const heard: number[] = [];
        const waiting = client.call(
          WAIT,
          { question_id: id, max_wait_seconds: 3600 },
          { onprogress: ({ progress }) => heard.push(progress) },
        );
        await until(async () => heard.length === 1);
        for (let i = 1; i <= 42; i += 1) {
          await world().advance(10_000);
          await until(async () => heard.length === i + 1);
        }
        await world().person(fresh("p")).answer(id, "As slow as that.");
        const { structured } = await waiting;
        assert.deepEqual([structured["settled"], structured["waited_seconds"]], [true, 420]);
        assert.deepEqual(
          heard,
          [...heard].sort((one, other) => one - other),
        );
        assert.equal(new Set(heard).size, heard.length);
        assert.equal(heard.at(-1), 420);
      });

      it("tells a mistake as a tool's error, which the model can read", async () => {
        const { structured, isError } = await client.call("ask_human", { question: "Short?" });
        assert.equal(isError, true);
        assert.equal((structured["error"] as Json)["code"], "VALIDATION_ERROR");
      });

      it("ends a wait by cancelling the call, and never the question", async () => {
        const asked = await client.call("ask_human", { question: fresh("Is this cancelled now?"), min_responses: 1 });
        const id = asked.structured["question_id"] as string;
        const isWatched = () => [...world().server.ctx.wake.topics()].includes(`question:${id}`);
        const stop = new AbortController();
        const waiting = client.call(WAIT, { question_id: id }, { signal: stop.signal });
        await until(async () => isWatched());
        stop.abort("enough");
        await assert.rejects(waiting);
        // Over HTTP older clients only send a notification, which could name another client's request: the wait goes on
        // unheard until its hold is over, and its reply reaches nobody.
        if (by === "stdio" || speaks === "2026-07-28") await until(async () => !isWatched());
        const checked = await client.call("check_human_responses", { question_id: id });
        assert.equal(checked.structured["status"], "OPEN");
      });

      it("shares nothing with another session under the same key but the questions", async () => {
        const [one, other] = [client, await connect()];
        const ask = async (by: AnyClient) =>
          (await by.call("ask_human", { question: fresh("Whose answer is this?"), min_responses: 1 })).structured[
            "question_id"
          ] as string;
        // Both count their requests from the same number.
        const ids = await Promise.all([ask(one), ask(other)]);
        const waits = [one.call(WAIT, { question_id: ids[0] }), other.call(WAIT, { question_id: ids[1] })];
        await world().person(fresh("p")).answer(ids[1], "The other's.");
        assert.deepEqual((await waits[1])?.structured["responses"], [{ answer: "The other's." }]);
        await world().person(fresh("p")).answer(ids[0], "The one's.");
        assert.deepEqual((await waits[0])?.structured["responses"], [{ answer: "The one's." }]);
      });
    });
  }
}

describe("the bridge", () => {
  const ask = {
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "ask_human", arguments: { question: QUESTION } },
  };

  it("opens and lists the tools while the server is away, and asks once it is there", async () => {
    const dataDir = newFolder();
    const probe = await serve(dataDir);
    const { port } = new URL(probe.url);
    probe.child.kill("SIGTERM");
    await probe.ended;

    for (const open of [(place: Place) => openNew(place, "stdio", "auto"), (place: Place) => openOld(place, "stdio")]) {
      const client = await open({ url: probe.url });
      try {
        assert.deepEqual(await client.tools(), TOOL_NAMES);
        const asking = client.call("ask_human", { question: QUESTION });
        const server = await serve(dataDir, {}, "--port", port);
        assert.equal((await asking).isError, false);
        server.child.kill("SIGTERM");
        await server.ended;
      } finally {
        await client.close();
      }
    }
  });

  it("writes JSON-RPC only, and ends with 0 when its input ends", async () => {
    const server = await serve(newFolder());
    const run = start(["mcp", "--url", server.url]);
    const lines = [
      "not JSON",
      "[]",
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
      JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }),
      JSON.stringify({ jsonrpc: "2.0", id: "one", method: "ping" }),
      JSON.stringify({
        ...ask,
        params: { ...ask.params, arguments: { question: "Does U+2028 \u2028 break a line?" } },
      }),
    ];
    run.child.stdin.end(`${lines.join("\n")}\n`);
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    const replies = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { id?: unknown; error?: { code: number }; result?: Json });
    const byId = new Map(replies.map((reply) => [reply.id, reply]));
    assert.deepEqual(
      replies.filter((reply) => reply.error).map((reply) => reply.error?.code),
      [-32700, -32600],
    );
    assert.deepEqual(byId.get("one")?.result, {});
    assert.equal((byId.get(7)?.result?.["structuredContent"] as Json)["status"], "OPEN");
    assert.equal(replies.length, 4);
    server.child.kill("SIGTERM");
  });

  it("passes a refused key on as an answer to the request", async () => {
    const server = await serve(newFolder(), { PARLEY_OPEN: "false" });
    const run = start(["mcp"], { PARLEY_URL: server.url, PARLEY_KEY: "parley_agent_wrong" });
    run.child.stdin.end(`${JSON.stringify(ask)}\n`);
    const { code, out } = await run.ended;
    const { id, error } = JSON.parse(out) as { id: number; error: { message: string } };
    assert.deepEqual([code, id, error.message], [0, 7, "A valid key is required."]);
    server.child.kill("SIGTERM");
  });
});
