import { call, type Reply } from "../support/world.ts";
import { type Ended, isRunning, openSite, type Process } from "./kill-process.ts";
import { ended, pause, started, until } from "./kill-steps.ts";
import type { Aside } from "./kill-story.ts";

/** The state that an executor knows: the acknowledged requests, and the lease it was given. */
interface Memory {
  planner: string;
  worker: string;
  acknowledged: Set<string>;
  lease: string;
  leaseS: number;
}

/** One request of an executor's day, and how it is known afterwards that it was kept. */
interface Deed {
  name: string;
  send(ask: Ask): Promise<Reply | null>;
  /** Whether what was acknowledged is there; left out where later deeds show it. */
  holds?(ask: Ask): Promise<boolean>;
}

type Ask = (
  method: string,
  path: string,
  options?: { body?: unknown; by?: "planner" | "worker" },
) => Promise<Reply | null>;

/** Longer than anything takes here; the short one is to run out. */
const LEASE_S = 120;
const SHORT_LEASE_S = 5;
const WITHIN_MS = 20_000;
const KEPT_MS = 31 * 86_400_000;
const TEXT = "what the job found";
const JOB = "J-1";
const ASK = { job_id: JOB, step_id: "S-1", ask_type: "CLARIFICATION", context_hash: "none" };

/**
 * The server dies at a point of a job's life; what its executor was told holds after the next start, and what it was not
 * told is done by sending the same again (spec/invariants D1, J1 to J5; spec/relay 22).
 */
export async function relayDay({ on, step: { at }, story, report }: Aside): Promise<void> {
  if (!at) throw new Error("a day of the relay is for a point");
  await using site = await openSite(on);
  const told = (problem: string): void => report([`${at.point}: ${problem}`]);

  const key = (name: string, scope: string) => site.run(["keys", "create", name, "--scope", scope]);
  const memory: Memory = {
    planner: await key("planner", "assign"),
    worker: await key("worker", "executor"),
    acknowledged: new Set(),
    lease: "",
    leaseS: /^(lease-lost|job-claimed)$/.test(at.point) ? SHORT_LEASE_S : LEASE_S,
  };

  const isRetention = at.point.startsWith("job-retention");
  let server = await started(site, isRetention ? undefined : at);
  const wasWhole = await live(server, memory, at.point, told);
  let dying: Process | Ended = server;
  if (isRetention) {
    await ended(server, "SIGTERM");
    await site.sleepFor(KEPT_MS);
    // It may be dead before it has greeted anybody.
    dying = await site.start({ at });
  }
  const end = isRunning(dying) ? await Promise.race([dying.ended, pause(WITHIN_MS)]) : dying;
  if (end?.signal !== "SIGKILL") {
    if (isRunning(dying)) await ended(dying, "SIGKILL");
    return told(`the server was to die there and did not${wasWhole ? "" : ", nor did the day end"}`);
  }
  story.pointsHit.push(at.point);
  memory.leaseS = LEASE_S;

  server = await started(site, undefined);
  if (isRetention) {
    await until(WITHIN_MS, async () => (await asking(server, memory)("GET", `/jobs/${JOB}`))?.status === 404);
  } else {
    const ask = asking(server, memory);
    for (const deed of deedsOf(memory, at.point)) {
      if (memory.acknowledged.has(deed.name) && deed.holds && !(await deed.holds(ask))) {
        told(`D1: "${deed.name}" was acknowledged and is not so after the next start`);
      }
    }
    if (!(await live(server, memory, at.point, told))) told("the day did not end after the next start");
  }
  await ended(server, "SIGTERM");
  report(await site.examine());
}

/** Does whatever was not acknowledged yet, in order; false when the server went away meanwhile. */
async function live(server: Process, memory: Memory, point: string, told: (problem: string) => void): Promise<boolean> {
  const ask = asking(server, memory);
  for (const deed of deedsOf(memory, point)) {
    if (memory.acknowledged.has(deed.name)) continue;
    const reply = await deed.send(ask);
    if (!reply) return false;
    if (reply.status >= 300) {
      told(`"${deed.name}" was answered ${reply.status} ${reply.text}`);
      return false;
    }
    memory.acknowledged.add(deed.name);
  }
  return true;
}

function deedsOf(memory: Memory, point: string): Deed[] {
  const state = async (ask: Ask) => (await ask("GET", `/jobs/${JOB}`))?.body.state as string | undefined;
  const claiming = async (ask: Ask): Promise<Reply | null> => {
    // A claim whose reply was lost holds the job until its lease runs out.
    let reply: Reply | null = null;
    await until(WITHIN_MS, async () => {
      reply = await ask("POST", "/jobs/claim", {
        body: { kinds: ["k"], worker_id: "w", lease_ttl_s: memory.leaseS, wait: "0" },
      });
      return reply === null || reply.status !== 204;
    });
    memory.lease = (reply as Reply | null)?.body.lease?.token ?? memory.lease;
    return reply;
  };
  const losing: Deed[] = [
    {
      name: "lose",
      async send(ask) {
        let reply: Reply | null = null;
        await until(WITHIN_MS, async () => {
          reply = await ask("GET", `/jobs/${JOB}`, { by: "planner" });
          return reply === null || reply.body.state === "QUEUED";
        });
        return reply;
      },
    },
    { name: "claim again", send: claiming },
  ];
  return [
    {
      name: "make",
      send: (ask) => ask("POST", "/jobs", { body: { job_id: JOB, kind: "k", max_attempts: 9 }, by: "planner" }),
      holds: async (ask) => (await ask("GET", `/jobs/${JOB}`, { by: "planner" }))?.status === 200,
    },
    { name: "claim", send: claiming, holds: async (ask) => (await state(ask)) !== undefined },
    ...(point === "lease-lost" ? losing : []),
    { name: "heartbeat", send: (ask) => ask("POST", `/jobs/${JOB}/heartbeat`, { body: {} }) },
    {
      name: "keep",
      send: (ask) => ask("PUT", `/jobs/${JOB}/artifacts/out/found.txt`, { body: TEXT }),
      holds: async (ask) => (await ask("GET", `/jobs/${JOB}/artifacts/out/found.txt`))?.text === TEXT,
    },
    {
      name: "ask",
      send: (ask) => ask("POST", "/asks", { body: { ...ASK, ask_id: "ask-1", prompt: "Which one is it?" } }),
      holds: async (ask) => (await ask("GET", "/asks/ask-1"))?.status === 200,
    },
    {
      name: "withdraw",
      send: (ask) => ask("DELETE", "/asks/ask-1"),
      holds: async (ask) => (await ask("GET", "/asks/ask-1/answer?wait=0"))?.body.error_code === "E_CANCELED",
    },
    {
      name: "ask again",
      send: (ask) => ask("POST", "/asks", { body: { ...ASK, ask_id: "ask-2", prompt: "And which other?" } }),
      holds: async (ask) => (await ask("GET", "/asks/ask-2"))?.status === 200,
    },
    {
      name: "finish",
      send: (ask) => ask("POST", `/jobs/${JOB}/finish`, { body: { state: "SUCCEEDED", result: { found: 1 } } }),
      holds: async (ask) => (await state(ask)) === "SUCCEEDED",
    },
    {
      name: "hear",
      send: (ask) => ask("GET", "/asks/ask-2/answer?wait=0"),
    },
  ];
}

function asking(server: Process, memory: Memory): Ask {
  return (method, path, { body, by = "worker" } = {}) =>
    call(`${server.url}${path}`, method, {
      headers: {
        authorization: `Bearer ${by === "planner" ? memory.planner : memory.worker}`,
        ...(memory.lease && { "parley-lease": memory.lease }),
      },
      ...(body !== undefined && { body }),
    }).catch(() => null);
}
