import { setTimeout as sleep } from "node:timers/promises";
import { call, type Reply } from "../support/world.ts";
import type { Pair } from "./freeze-pair.ts";

/** Something that a server acknowledged, and the record therefore holds. */
export interface Act {
  id: string;
  action: string;
}

/** The replies of a server since a mark. */
export interface Seen {
  done: number;
  /** How many got 503. */
  refused: number;
  longestMs: number;
}

/** Clients of both servers, each of which asks, decides, and starts and cancels jobs, one act after another. */
export interface FreezeLoad {
  start(): void;
  /** No act is begun any more, and none is under way. */
  stop(): Promise<void>;
  /** Resolves once each server has acknowledged so many more acts. */
  until(count: number): Promise<void>;
  mark(): number;
  since(mark: number, servers: readonly (0 | 1)[]): Seen;
  /** Sends unacknowledged requests again, under their old ids, until they are acknowledged. */
  settle(): Promise<void>;
  acts(): readonly Act[];
  acknowledged(): number;
  settled(): number;
}

interface PlannedAct extends Act {
  path: string;
  body: Record<string, unknown>;
  key: string;
}

interface Request {
  server: 0 | 1;
  from: number;
  to?: number;
  status?: number;
}

const CLIENTS = 6;
const NEVER_WITHIN_MS = 60_000;
const A2H = "/humanlayer/v1";

export function openFreezeLoad(pair: Pair, onProblem: (says: string) => void): FreezeLoad {
  const requests: Request[] = [];
  const acts: Act[] = [];
  const unknown: PlannedAct[] = [];
  const clients: Promise<void>[] = [];
  let stopping = false;
  let settled = 0;
  let ids = 0;

  async function send(server: 0 | 1, { path, body, key }: Omit<PlannedAct, keyof Act>): Promise<Reply | null> {
    const request: Request = { server, from: performance.now() };
    requests.push(request);
    try {
      const reply = await call(`${pair.urls[server]}${path}`, "POST", {
        body,
        headers: { authorization: `Bearer ${key}` },
      });
      request.status = reply.status;
      return reply;
    } catch {
      return null;
    } finally {
      request.to = performance.now();
    }
  }

  /** Returns whether it was acknowledged. A refusal names when to come again. */
  async function perform(server: 0 | 1, input: PlannedAct): Promise<boolean> {
    const reply = await send(server, input);
    if (reply !== null && reply.status < 300) {
      acts.push({ id: input.id, action: input.action });
      return true;
    }
    unknown.push(input);
    if (reply?.status === 503 && reply.headers.get("retry-after") !== null) return false;
    onProblem(`${input.path} was answered ${reply?.status ?? "with a broken connection"} ${reply?.text ?? ""}`);
    return false;
  }

  async function client(server: 0 | 1, number: number): Promise<void> {
    // A third of them share one agent, and with it the row of its limit.
    const key = pair.agents[number % 3 === 0 ? 0 : 1 + server * 3 + (number % 3)] ?? "";
    while (!stopping) {
      const id = `call-${(ids += 1)}`;
      const spec = { fn: "issue_refund", kwargs: { order: id } };
      const created = { id, action: "function_call.created", path: `${A2H}/function_calls`, key };
      const approved = { id, action: "function_call.approved", path: `${A2H}/agent/function_calls/${id}/respond`, key };
      if (await perform(server, { ...created, body: { run_id: "freeze", call_id: id, spec } })) {
        await perform(server, { ...approved, body: { approved: true } });
      }
      const job = `job-${(ids += 1)}`;
      const queued = await send(server, { path: "/jobs", body: { job_id: job, kind: "freeze" }, key: pair.planner });
      if (queued?.status === 201) {
        const path = `/jobs/${job}/cancel`;
        await perform(server, { id: job, action: "job.canceled", path, body: {}, key: pair.planner });
      }
    }
  }

  async function settleOne(input: PlannedAct): Promise<void> {
    const until = performance.now() + NEVER_WITHIN_MS;
    while (performance.now() < until) {
      const reply = await send(1, input);
      if (reply && (reply.status < 300 || reply.status === 409)) {
        settled += 1;
        acts.push({ id: input.id, action: input.action });
        return;
      }
      await sleep(200);
    }
    onProblem(`${input.action} of ${input.id} was refused for a minute after everything was well again`);
  }

  return {
    start() {
      for (const server of [0, 1] as const) {
        for (let i = 0; i < CLIENTS; i += 1) clients.push(client(server, i));
      }
    },
    async stop() {
      stopping = true;
      await Promise.all(clients);
    },
    async until(count) {
      const from = requests.length;
      const good = (server: number) =>
        requests.slice(from).filter((one) => one.server === server && (one.status ?? 999) < 300).length;
      const late = performance.now() + NEVER_WITHIN_MS;
      while ((good(0) < count || good(1) < count) && performance.now() < late) await sleep(20);
    },
    mark: () => performance.now(),
    since(mark, servers) {
      const now = performance.now();
      const own = requests.filter(({ server, to = now }) => servers.includes(server) && to >= mark);
      return {
        done: own.filter(({ status = 999 }) => status < 300).length,
        refused: own.filter(({ status }) => status === 503).length,
        longestMs: Math.max(0, ...own.map(({ from, to = now }) => to - from)),
      };
    },
    async settle() {
      await Promise.all(unknown.splice(0).map(settleOne));
    },
    acts: () => acts,
    acknowledged: () => acts.length,
    settled: () => settled,
  };
}
