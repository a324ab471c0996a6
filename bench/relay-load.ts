import { setTimeout as sleep } from "node:timers/promises";
import { request, type IncomingMessage } from "node:http";
import { Connection } from "./connection.ts";

/** The input of an executor's ask. */
export interface Wish {
  jobId: string;
  prompt: string;
  type?: "CLARIFICATION" | "POLICY_DECISION" | "RESOURCE_FETCH";
  tools?: readonly string[];
  envelope?: object;
  meta?: Record<string, unknown>;
  timeoutS?: number;
}

/** How one ask ended, and when. */
export interface Round {
  ms: number;
  answer: Record<string, unknown> & { status: string; source: string };
}

/** Executors with a connection each. */
export interface Executors {
  post(client: number, input: Wish): Promise<string>;
  /** Asks, waits for the answer, and times both together. */
  round(client: number, input: Wish): Promise<Round>;
  close(): void;
}

const CONTEXT = { job_snapshot: { repo: "shop", env_profile: "dev" }, role: "default" };

/** Opens `clients` executors without a key, which all are the same principal. */
export function openExecutors(url: string, clients: number): Executors {
  const connections = Array.from({ length: clients }, () => new Connection(url));
  const of = (client: number): Connection => {
    const connection = connections[client];
    if (!connection) throw new Error("there is no such client");
    return connection;
  };

  async function post(client: number, input: Wish): Promise<string> {
    const body = JSON.stringify({
      job_id: input.jobId,
      step_id: "S-1",
      ask_type: input.type ?? "CLARIFICATION",
      prompt: input.prompt,
      context_envelope: input.envelope ?? CONTEXT,
      constraints: {
        ...(input.tools && { allowed_tools: input.tools }),
        ...(input.timeoutS !== undefined && { timeout_s: input.timeoutS }),
      },
      ...(input.meta && { meta: input.meta }),
    });
    const reply = await of(client).send("POST", "/asks", "", body);
    if (reply.status !== 202) throw new Error(`an ask was answered with ${reply.status}: ${reply.body}`);
    return (JSON.parse(reply.body) as { ask_id: string }).ask_id;
  }

  return {
    post,
    async round(client, input) {
      const from = performance.now();
      const id = await post(client, input);
      for (;;) {
        const reply = await of(client).send("GET", `/asks/${id}/answer?wait=20s`, "");
        if (reply.status === 204) continue;
        if (reply.status !== 200) throw new Error(`a wait was answered with ${reply.status}: ${reply.body}`);
        return { ms: performance.now() - from, answer: JSON.parse(reply.body) as Round["answer"] };
      }
    },
    close: () => connections.forEach((connection) => connection.close()),
  };
}

/** Somebody who waits: called when the first bytes of the awaited reply have come. */
export interface Waiter {
  /** Milliseconds on `performance.now()`; nothing while it waits. */
  toldAt: number | null;
  close(): void;
}

/** A server takes 1,000 connections of one address; loopback has many. */
const CONNECTIONS_PER_ADDRESS = 900;

/**
 * Opens `count` requests that stay open, a few hundred at a time, from as many loopback addresses as it takes; resolves
 * when all are. `isTold` returns whether the awaited reply came.
 */
export async function openWaiters(
  url: string,
  count: number,
  path: string,
  isTold: (text: string) => boolean,
): Promise<Waiter[]> {
  const { hostname, port } = new URL(url);
  const waiters: Waiter[] = [];
  const opening: Promise<void>[] = [];
  for (let i = 0; i < count; i += 1) {
    const waiter: Waiter = { toldAt: null, close: () => undefined };
    waiters.push(waiter);
    const localAddress = `127.0.1.${1 + Math.floor(i / CONNECTIONS_PER_ADDRESS)}`;
    const sent = request({ hostname, port, path, localAddress, agent: false, headers: { host: "127.0.0.1" } });
    waiter.close = () => void sent.destroy();
    const tell = (text: string): void => {
      if (waiter.toldAt === null && isTold(text)) waiter.toldAt = performance.now();
    };
    sent.on("response", (response: IncomingMessage) => {
      response.setEncoding("utf8").on("data", tell);
      response.on("error", () => undefined);
    });
    opening.push(
      new Promise((resolve, reject) => {
        sent.on("error", reject);
        sent.once("socket", (socket) => socket.once("connect", () => resolve()));
      }),
    );
    sent.end();
    if (i % 250 === 249) await Promise.all(opening.splice(0));
  }
  await Promise.all(opening);
  // Sent is not read yet: the server is given the time to take in the last ones.
  await sleep(2000);
  return waiters;
}
