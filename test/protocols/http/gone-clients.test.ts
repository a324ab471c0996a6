import assert from "node:assert/strict";
import diagnostics from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { pino } from "pino";
import { until } from "../../support/contract.ts";
import type { Program } from "../../support/jobs.ts";
import { openRelayScene, type RelayScene } from "../../support/relay.ts";
import { DATABASES } from "../../support/world.ts";

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The server is done with a request once both its sides are closed. */
const isOver = ({ request, response }: Exchange) => request.destroyed && response.closed;
const WARN = 40;
/** Nobody else sleeps for so long. */
const WAIT_MS = 17_000;

for (const on of DATABASES) {
  describe(`a client that goes away on ${on}`, () => {
    const logged: { level: number; msg: string }[] = [];
    const log = pino({ level: "info" }, { write: (line) => void logged.push(JSON.parse(line)) });
    const exchanges: Exchange[] = [];
    const note = (message: unknown) => void exchanges.push(message as Exchange);
    let scene: RelayScene;
    before(async () => {
      scene = await openRelayScene(on, { log });
      diagnostics.subscribe("http.server.request.start", note);
    });
    after(async () => {
      diagnostics.unsubscribe("http.server.request.start", note);
      await scene[Symbol.asyncDispose]();
    });

    beforeEach(() => void logged.splice(0));

    const complaints = () => logged.filter(({ level }) => level >= WARN).map(({ msg }) => msg);

    /** Sends these bytes and returns the socket and what the server has begun for it. */
    async function begin(head: readonly string[], body = ""): Promise<{ socket: Socket; exchange: Exchange }> {
      const { port, host } = new URL(scene.world.url);
      const seen = exchanges.length;
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(`${[head[0], `Host: ${host}`, ...head.slice(1)].join("\r\n")}\r\n\r\n${body}`);
      socket.resume();
      return { socket, exchange: await until(async () => exchanges[seen]) };
    }

    it("amid its body writes no complaint, at doors of every kind", async () => {
      const key = `Authorization: Bearer ${scene.ana.key}`;
      const a2h = ["function_calls", "human_contacts", "messages"].map((path) => `/humanlayer/v1/${path}`);
      for (const path of ["/agent/questions", "/human/responses", "/asks", "/jobs", "/mcp", ...a2h]) {
        const sent = [`POST ${path} HTTP/1.1`, "Content-Type: application/json", "Content-Length: 1000"];
        const { socket, exchange } = await begin(
          [...sent, ...(path === "/asks" || path === "/jobs" ? [key] : [])],
          '{"half":',
        );
        socket.resetAndDestroy();
        await until(async () => isOver(exchange));
        assert.deepEqual(complaints(), [], path);
      }
    });

    it("amid a file writes no complaint", async () => {
      const job = await scene.claimed();
      for (const framing of ["Content-Length: 100000", "Transfer-Encoding: chunked"]) {
        const { socket, exchange } = await begin(
          [
            `PUT /jobs/${job.id}/artifacts/a.txt HTTP/1.1`,
            ...Object.entries({ ...scene.ana.headers, "parley-lease": job.lease }).map(
              ([name, value]) => `${name}: ${value}`,
            ),
            framing,
          ],
          framing.startsWith("T") ? "5\r\nhello\r\n" : "hello",
        );
        await until(async () => exchange.request.readableFlowing !== null);
        socket.resetAndDestroy();
        await until(async () => isOver(exchange));
        assert.deepEqual(complaints(), [], framing);
      }
    });

    it("amid what it waits for ends the wait and writes no complaint, at every door that holds one", async () => {
      for (const [name, { head, body }] of Object.entries(await waits())) {
        const { socket, exchange } = await begin(head, body);
        // The wait for messages of conversations looks again each second.
        const { clock } = scene.world;
        await until(async () => exchange.request.complete && (clock.isAwaited(WAIT_MS) || clock.isAwaited(1000)));
        assert.equal(exchange.response.writableEnded, false, name);
        socket.resetAndDestroy();
        await until(async () => isOver(exchange));
        await until(async () => !clock.isAwaited(WAIT_MS));
        assert.deepEqual(complaints(), [], name);
        assert.equal((await scene.world.call("GET", "/healthz")).status, 200);
      }
    });

    it("amid a stream or a file that it is sent writes no complaint", async () => {
      for (const head of await replies()) {
        const { socket, exchange } = await begin(head);
        await until(async () => socket.bytesRead > 0);
        assert.equal(exchange.response.statusCode, 200, head[0]);
        socket.resetAndDestroy();
        await until(async () => isOver(exchange));
        assert.deepEqual(complaints(), [], head[0]);
        assert.equal((await scene.world.call("GET", "/healthz")).status, 200);
      }
    });

    const keyed = (program: Program) => Object.entries(program.headers).map(([name, value]) => `${name}: ${value}`);
    const post = (path: string, given: object, ...headers: string[]): { head: string[]; body: string } => {
      const body = JSON.stringify(given);
      const about = ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`];
      return { head: [`POST ${path} HTTP/1.1`, ...about, ...headers], body };
    };
    const get = (path: string, by: Program) => ({ head: [`GET ${path} HTTP/1.1`, ...keyed(by)], body: "" });

    /** A request of every door that is held for so long while nobody answers. */
    async function waits(): Promise<Record<string, { head: string[]; body: string }>> {
      const { agent, ana, ask } = scene;
      const seconds = WAIT_MS / 1000;
      const asked = await agent.post("/agent/questions", { prompt: "Which label is clearer?", type: "text" });
      const call = { run_id: "r", call_id: "waits", spec: { fn: "refund", kwargs: {} } };
      assert.equal((await agent.post("/humanlayer/v1/function_calls", call)).status, 200);
      const tool = (name: string, given: object, accept: string) =>
        post(
          "/mcp",
          {
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: { name, arguments: { ...given, max_wait_seconds: seconds } },
          },
          ...keyed(agent),
          `Accept: ${accept}`,
        );
      const { question_id } = asked.body as { question_id: string };
      const both = "application/json, text/event-stream";
      return {
        "a question": get(`/agent/questions/${question_id}?wait=${seconds}`, agent),
        "a call": get(`/humanlayer/v1/function_calls/waits?wait=${seconds}`, agent),
        conversations: get(`/humanlayer/v1/conversations?wait=${seconds}`, agent),
        "an executor's ask": get(`/asks/${(await ask()).ask_id}/answer?wait=${seconds}s`, ana),
        "a claim": post("/jobs/claim", { worker_id: "w", kinds: ["none"], wait: seconds }, ...keyed(ana)),
        "a tool for the crowd": tool("wait_for_human_responses", { question_id }, "application/json"),
        "the same as a stream": tool("wait_for_human_responses", { question_id }, both),
        "a tool for people": tool("contact_human", { message: "Well?" }, "application/json"),
        "that as a stream": tool("request_approval", { fn: "refund", kwargs: {} }, both),
      };
    }

    /** A request for everything that is sent for long. */
    async function replies(): Promise<string[][]> {
      const { agent, ana, admin, ask, claimed, person } = scene;
      const asked = await agent.post("/agent/questions", { prompt: "Which label is clearer?", type: "text" });
      const { question_id } = asked.body as { question_id: string };
      const { job_id } = await ask();
      const { by } = await person();
      const job = await claimed();
      const file = `/jobs/${job.id}/artifacts/large`;
      const headers = { "content-type": "text/plain", "parley-lease": job.lease };
      assert.equal((await ana.call("PUT", file, Buffer.alloc(15_000_000), headers)).status, 201);
      return [
        get(`/agent/questions/${question_id}/events`, agent).head,
        get("/agent/questions/events", agent).head,
        ["GET /human/events HTTP/1.1", "X-Fingerprint: gone"],
        get(`/jobs/${job_id}/events`, ana).head,
        get(`/admin/jobs/${job_id}/events`, admin).head,
        get("/people/me/events", by).head,
        get(file, ana).head,
      ];
    }
  });
}
