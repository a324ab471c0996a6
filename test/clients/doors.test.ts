import assert from "node:assert/strict";
import { after, before, describe, it, mock } from "node:test";
import { answerApprovals as answerAi } from "@parley/adapters/ai";
import { answerInterrupts, type Resumable } from "@parley/adapters/langgraph";
import { answerApprovals as answerMastra } from "@parley/adapters/mastra";
import { answerInterruptions, type Interrupted } from "@parley/adapters/openai-agents";
import { Parley } from "@parley/sdk";
import { ask } from "@parley/sdk/executor";
import { decided, overHttp } from "../../src/connect/decided.ts";
import { bridge } from "../../src/cli/mcp/bridge.ts";
import { claude } from "../../src/connect/agents/claude/claude.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { openHttpGateClient } from "../../src/gateway/http-gate-client.ts";
import { systemExchange } from "../../src/lib/network/exchange.ts";
import { systemFetch } from "../../src/lib/network/fetch.ts";
import { advanceUntil } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";
import { AWAY, ODD, openOddServer, type OddServer } from "./odd-server.ts";

const KEY = `parley_agent_${"x".repeat(38)}`;
const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call" };
const RUN = { fn: "refund", args: { amount: 1 } };
/** By so much the time of day goes on with each request: what a client does about a server that is away is soon over. */
const STEP_MS = 120_000;
const MOST_REQUESTS = 6;

/** Where a door asks, and what ends its wait. */
interface Place {
  url: string;
  /** Aborted if the server is silent: the caller that waits gives up. */
  left: AbortSignal;
  timeoutMs?: number;
}

/** Resolves with what a door says; `ran` is called where it lets something run. */
type Door = (place: Place, ran: () => void) => Promise<string>;

/** A client of the SDK that has asked enough after a few requests, and that signal. */
function client({ url, timeoutMs }: Place): { parley: Parley; signal: AbortSignal } {
  const enough = new AbortController();
  let sent = 0;
  const fetch: typeof globalThis.fetch = (...args) => {
    if (++sent > MOST_REQUESTS) enough.abort(new Error("it was given up"));
    mock.timers.setTime(Date.now() + STEP_MS);
    return globalThis.fetch(...args);
  };
  const parley = new Parley({ url, key: KEY, retries: 0, fetch, ...(timeoutMs !== undefined && { timeoutMs }) });
  return { parley, signal: enough.signal };
}

/** Resolves with what the work does while the held clock goes on. */
async function passing<T>(work: (clock: ReturnType<typeof heldClock>) => Promise<T>): Promise<T> {
  const clock = heldClock();
  let isOver = false;
  const working = work(clock).finally(() => (isOver = true));
  working.catch(() => undefined);
  await advanceUntil({ advance: (ms) => Promise.resolve(clock.advance(ms)) }, 500, () => isOver);
  return working;
}

const DOORS: Record<string, Door> = {
  hook({ url }, ran) {
    const call = { tool_name: "Bash", tool_use_id: "toolu_1", tool_input: { command: "ls" } };
    const input = { hook_event_name: "PreToolUse", session_id: "s", ...call };
    const { signal } = new AbortController();
    return passing(async (clock) => {
      const read = claude.read(Buffer.from(JSON.stringify(input))) ?? assert.fail();
      const place = {
        url,
        key: KEY,
        agentId: claude.agentId,
        clock,
        exchange: systemExchange,
        signal,
        leaseSeconds: 90,
      };
      const decision = await decided(overHttp(place), claude, read, {
        to: undefined,
        by: undefined,
        timeoutSeconds: 10,
      });
      if (decision.kind === "allow") ran();
      return decision.because;
    });
  },

  gate({ url, left }, ran) {
    return passing(async (clock) => {
      const said: string[] = [];
      const over = Promise.withResolvers<unknown>();
      const between = new Gateway({
        gate: "tools",
        client: openHttpGateClient({
          url,
          key: KEY,
          gate: "tools",
          timeoutSeconds: undefined,
          clock,
          fetch: systemFetch,
        }),
        holdMs: 50_000,
        clock,
        newRun: () => "run",
        toClient: (line) => over.resolve(said.push(line)),
        toServer(line) {
          const { id, method } = JSON.parse(line) as { id: string; method: string };
          if (method === "tools/call") return over.resolve(ran());
          const result = { tools: [{ name: "charge", inputSchema: { type: "object" } }] };
          between.fromServer(JSON.stringify({ jsonrpc: "2.0", id, result }));
        },
        onError: (error) => void said.push(String(error)),
      });
      left.addEventListener("abort", over.resolve, { once: true });
      between.fromClient(JSON.stringify({ ...CALL, params: { name: "charge", arguments: { amount: 1 } } }));
      await over.promise;
      between.clientGone();
      await between.serverGone();
      return said.join("\n");
    });
  },

  bridge({ url, left }, ran) {
    return passing(async (clock) => {
      const said: string[] = [];
      const over = Promise.withResolvers<unknown>();
      left.addEventListener("abort", over.resolve, { once: true });
      async function* input() {
        const params = { name: "approve", arguments: { tool_name: "Bash", input: { command: "ls" } } };
        yield Buffer.from(`${JSON.stringify({ ...CALL, params })}\n`);
        await over.promise;
      }
      const write = (line: string) => {
        const { result } = JSON.parse(line) as { result?: object };
        if (JSON.stringify(result)?.includes("allow")) ran();
        over.resolve(said.push(line));
      };
      await bridge(input(), { url, key: KEY, clock, fetch: systemFetch, write, log: (line) => void said.push(line) });
      return said.join("\n");
    });
  },

  async "TypeScript SDK"(place, ran) {
    const { parley, signal } = client(place);
    await parley.requireApproval(ran, { name: RUN.fn })(RUN.args, { signal });
    return "";
  },

  async "executor client"({ url, left }, ran) {
    const options = { url, key: KEY, job_id: "j_1", step_id: "s_1", timeout_s: 0.5, signal: left };
    const fetch: typeof globalThis.fetch = (...args) => {
      mock.timers.setTime(Date.now() + STEP_MS);
      return globalThis.fetch(...args);
    };
    await ask("APPROVAL", "Refund it?", { ...options, fetch });
    ran();
    return "";
  },

  async "adapter for the Vercel AI SDK"(place, ran) {
    const { parley, signal } = client(place);
    const call = { type: "tool-call", toolCallId: "c1", toolName: RUN.fn, input: RUN.args } as const;
    const request = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" } as const;
    const said = JSON.stringify(await answerAi(parley, [{ role: "assistant", content: [call, request] }], { signal }));
    if (said.includes('"approved":true')) ran();
    return said;
  },

  async "adapter for LangGraph.js"(place, ran) {
    const { parley, signal } = client(place);
    const review = { actionRequests: [{ name: RUN.fn, args: RUN.args }], reviewConfigs: [] };
    const interrupts = [{ approve: RUN }, review].map((value, i) => ({ id: `i${i}`, value }));
    const said: string[] = [];
    const graph = {
      getState: () => Promise.resolve({ tasks: said.length === 0 ? [{ interrupts }] : [] }),
      invoke: (command: unknown) => Promise.resolve(said.push(JSON.stringify(command))),
    } as unknown as Resumable;
    await answerInterrupts(parley, graph, { configurable: { thread_id: "t1" }, signal });
    if (/"isApproved":true|"type":"(approve|edit)"/.test(said.join())) ran();
    return said.join();
  },

  async "adapter for the OpenAI Agents SDK"(place, ran) {
    const { parley, signal } = client(place);
    const rawItem = { type: "function_call", callId: "c1" };
    const item = { name: RUN.fn, arguments: JSON.stringify(RUN.args), rawItem };
    const said: string[] = [];
    const state = {
      getInterruptions: () => [item],
      approve: ran,
      reject: (_: unknown, { message }: { message: string }) => void said.push(message),
    } as unknown as Interrupted;
    await answerInterruptions(parley, state, { signal });
    return said.join();
  },

  async "adapter for Mastra"(place, ran) {
    const { parley, signal } = client(place);
    const said: string[] = [];
    const agent = {
      approveToolCallGenerate: () => Promise.resolve<object>({ ran: ran() }),
      declineToolCallGenerate: ({ reason }: { reason: string }) => Promise.resolve<object>({ said: said.push(reason) }),
    };
    const suspendPayload = { toolCallId: "c1", toolName: RUN.fn, args: RUN.args };
    await answerMastra(parley, agent, { runId: "r1", suspendPayload }, { signal });
    return said.join();
  },
};

/** A client's message that no server answered, or that the caller gave up. */
const NO_ANSWER = /No Parley server answers|could not be reached|was cut|did not reply in time|it was left/;

describe("a door", () => {
  let server: OddServer;
  before(async () => {
    server = await openOddServer();
    mock.timers.enable({ apis: ["Date"], now: Date.now() });
  });
  after(async () => {
    mock.timers.reset();
    await server[Symbol.asyncDispose]();
  });

  /** Returns what a door says of a server that answers so; fails where it lets anything run. */
  async function saidOf(door: Door, how: string): Promise<string> {
    const left = new AbortController();
    server.onSilence = () => left.abort(new Error("it was left"));
    const place = { url: server.at(how), left: left.signal, ...(how === "silent" && { timeoutMs: 50 }) };
    let runs = 0;
    const said = await door(place, () => void (runs += 1)).catch((error: unknown) => {
      assert.ok(error instanceof Error, String(error));
      return error.message;
    });
    assert.equal(runs, 0, `${how}: it let something run, and said ${said}`);
    assert.ok(!said.includes("undefined"), `${how}: ${said}`);
    return said;
  }

  it("of an adapter is asked about nothing that could not be shown, and lets it run in no way", async () => {
    const { parley } = client({ url: server.at("page"), left: new AbortController().signal });
    const request = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" } as const;
    await assert.rejects(
      answerAi(parley, [{ role: "assistant", content: [request] }]),
      /No call c1 is in the messages/,
    );

    const suspended = { runId: "r1", suspendPayload: { toolCallId: "c1", toolName: RUN.fn, args: "all" } };
    const fail = () => Promise.reject(new Error("it went on"));
    const agent = { approveToolCallGenerate: fail, declineToolCallGenerate: fail };
    assert.equal(await answerMastra(parley, agent, suspended), suspended);

    const value = { approve: { fn: RUN.fn } };
    const getState = () => Promise.resolve({ tasks: [{ interrupts: [{ id: "i1", value }] }] });
    const graph = { getState, invoke: fail } as unknown as Resumable;
    await answerInterrupts(parley, graph, { configurable: { thread_id: "t1" } });
  });

  for (const [name, door] of Object.entries(DOORS)) {
    it(`${name}: lets nothing run by an odd reply, or one of another version or call`, async () => {
      for (const how of ODD) await saidOf(door, how);
    });

    it(`${name}: lets nothing run where no server answers, the reply is cut, or none comes`, async () => {
      for (const how of AWAY) {
        const said = await saidOf(door, how);
        // A caller that gave up receives no further reply.
        if (how !== "silent" || said !== "") assert.match(said, NO_ANSWER, how);
      }
    });

    it(`${name}: says where a redirect leads, and sends nothing there`, async () => {
      const said = await saidOf(door, "redirect");
      assert.ok(said.includes(`${server.origin} redirects to ${server.elsewhere}`), said);
      assert.ok(said.includes("PARLEY_URL"), said);
      assert.deepEqual(server.sentOn, []);
    });
  }
});
