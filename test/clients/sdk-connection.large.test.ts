import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { Parley, ParleyError } from "@parley/sdk";
import { jobs } from "@parley/sdk/executor";
import { People } from "@parley/sdk/people";
import fc from "fast-check";
import { readEvents } from "../../sdk/src/sse.ts";
import { until } from "../support/contract.ts";
import { type Served, serve } from "../browser/served.ts";

describe("the SDK on a bad connection", () => {
  let served: Served;
  before(async () => {
    served = await serve();
  });
  after(() => served[Symbol.asyncDispose]());

  /** Sends every request, and loses the reply of the first that matches. */
  const losing = (method: string): { fetch: typeof fetch; sent: () => number } => {
    let sent = 0;
    return {
      sent: () => sent,
      fetch: async (input, init) => {
        const reply = await fetch(input, init);
        if (init?.method !== method || ++sent > 1) return reply;
        await reply.body?.cancel();
        throw new TypeError("the connection was cut");
      },
    };
  };

  it("asks once when a reply is lost", async () => {
    const line = losing("POST");
    const parley = new Parley({ url: served.url, agentId: "loser", fetch: line.fetch });
    const { question_id: id } = await parley.ask({ prompt: "Was this asked once or twice?" });
    const { questions } = await parley.list();
    assert.equal(line.sent(), 2);
    assert.deepEqual(
      questions.map((one) => one.question_id),
      [id],
    );
  });

  it("answers once when the first reply of a new participant is lost", async () => {
    const parley = new Parley({ url: served.url });
    const { question_id: id } = await parley.ask({ prompt: "Was this answered once or twice?" });
    const line = losing("POST");
    const ana = new People({ url: served.url, fingerprint: "ana-device", fetch: line.fetch });
    await ana.answer({ question_id: id, answer: "Once, please" });
    assert.equal(line.sent(), 2);
    assert.equal((await parley.check(id)).current_responses, 1);
    assert.equal((await ana.stats()).total_answers, 1);
  });

  it("goes on waiting and listening while the server is away", async () => {
    const parley = new Parley({ url: served.url });
    const { question_id: id } = await parley.ask({ prompt: "Will you wait for me?", min_responses: 1 });
    const seen: string[] = [];
    const waiting = parley.wait(id, { onProgress: ({ status }) => seen.push(status) });
    const listening = (async () => {
      const statuses: string[] = [];
      for await (const { status } of parley.events(id)) statuses.push(status);
      return statuses;
    })();
    await until(() => seen.length > 0);
    await served.stop();
    await served.start();
    await new People({ url: served.url }).answer({ question_id: id, answer: "Of course" });

    assert.equal((await waiting).responses[0]?.answer, "Of course");
    assert.deepEqual(seen, ["OPEN", "CLOSED"]);
    assert.deepEqual([...new Set(await listening)], ["OPEN", "CLOSED"]);
  });

  it("follows nobody who sends it on, and shows them neither key nor body", async () => {
    const heard: string[] = [];
    await using other = await listening((request, reply) => {
      heard.push(`${request.method} ${request.url}`);
      reply.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    for (const status of [301, 302, 303, 307, 308]) {
      let keys: (string | undefined)[] = [];
      await using first = await listening((request, reply) => {
        keys.push(request.headers.authorization);
        reply.writeHead(status, { location: `${other.url}${request.url}` }).end();
      });
      const parley = new Parley({ url: first.url, key: "parley_agent_x" });
      const tries = [
        () => parley.check("q_1"),
        () => parley.ask({ prompt: "Who hears this?" }),
        () => parley.approve({ fn: "refund", args: { amount: 1 } }),
        () => parley.events("q_1").next(),
        () => jobs.claim({ url: first.url, key: "parley_agent_x", kinds: ["build"] }, () => undefined),
      ];
      for (const one of tries) {
        keys = [];
        await assert.rejects(one, (error: unknown) => {
          assert.ok(error instanceof ParleyError, String(error));
          assert.deepEqual([error.code, error.status, error.isPassing], ["BAD_REPLY", status, false]);
          return error.message.includes(other.url);
        });
        assert.deepEqual(keys, ["Bearer parley_agent_x"]);
      }
    }
    assert.deepEqual(heard, []);
  });

  it("says that nobody is there, and gives up when it is told to", async () => {
    const nobody = new Parley({ url: "http://127.0.0.1:1", retries: 0 });
    await assert.rejects(
      nobody.check("q_1"),
      (error: unknown) => error instanceof ParleyError && error.code === "UNREACHABLE" && error.status === 0,
    );
    const parley = new Parley({ url: served.url });
    const { question_id: id } = await parley.ask({ prompt: "How long is long enough?" });
    const reason = new Error("enough");
    const stop = new AbortController();
    const waiting = assert.rejects(parley.wait(id, { signal: stop.signal }), reason);
    await until(async () =>
      /^parley_waiters_parked\{.*\} [1-9]/m.test(await (await fetch(`${served.url}/metrics`)).text()),
    );
    stop.abort(reason);
    await waiting;
    assert.equal((await parley.wait(id, { timeoutMs: 100 })).status, "OPEN");
  });

  it("reads the same events however the bytes arrive", async () => {
    const text =
      'retry: 9\r\n: kept alive\r\n\r\nid: 3\nevent: question\ndata: {"a":1}\n\ndata: x\rdata: ÿ✓\r\rdata: z\r\n\r\n';
    const bytes = new TextEncoder().encode(text);
    const read = async (cuts: readonly number[]) => {
      const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
      const chunks = places.slice(1).map((end, index) => bytes.slice(places[index], end));
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk);
          controller.close();
        },
      });
      const events = [];
      for await (const { event, data, id } of readEvents(body)) events.push([event, data, id]);
      return events;
    };
    const whole = await read([]);
    assert.deepEqual(whole.slice(1), [
      ["question", '{"a":1}', "3"],
      ["message", "x\nÿ✓", "3"],
      ["message", "z", "3"],
    ]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        assert.deepEqual(await read(cuts), whole);
      }),
    );
  });
});

/** Answers on a port of this computer until it is disposed of. */
async function listening(answer: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
