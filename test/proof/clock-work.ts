import { call, type Reply } from "../support/world.ts";

/** Something that ends by itself, once so much time has passed by the machine's uptime. */
export interface Open {
  kind: Kind;
  id: string;
  /** Between these two moments of the harness's own clock it was made. */
  sentMs: number;
  heardMs: number;
  lastsMs: number;
}

/** The kinds of work with a deadline. A task's deadline is the lease of its worker. */
export const KINDS = ["question", "approval", "ask", "job"] as const;
export type Kind = (typeof KINDS)[number];

/** A job that somebody holds. */
export interface Held {
  id: string;
  token: string;
  sentMs: number;
  heardMs: number;
  lastsMs: number;
}

export interface Keys {
  agent: string;
  planner: string;
  worker: string;
}

/** Clients of one server after another. */
export interface Work {
  /** The address of the server that runs now. */
  at(url: string): void;
  open(kind: Kind, lastsS: number): Promise<Open>;
  /** Returns whether it is open, or null where no server has it any more. */
  isOpen(one: Pick<Open, "kind" | "id">): Promise<boolean | null>;
  /** Waits for the end of something that does not end meanwhile. Returns how long that took. */
  wait(one: Pick<Open, "kind" | "id">, waitS: number): Promise<number>;
  /** Makes a job, or a task, and takes it. */
  hold(what: "job" | "task", leaseS: number): Promise<Held>;
  /** Says that the holder lives. Returns the status; 0 where no server is there. */
  beat(held: Pick<Held, "id" | "token">): Promise<number>;
  stateOf(jobId: string): Promise<string>;
  /** Returns the state of a task. */
  task(id: string): Promise<string>;
}

const A2H = "/humanlayer/v1/function_calls";
const TASK = "task-1";

/** `nowMs` is the harness's own clock. */
export function openWork({ agent, planner, worker }: Keys, nowMs: () => number): Work {
  let url = "";
  let ids = 0;

  const send = (
    method: string,
    path: string,
    by: string,
    { body, lease }: { body?: unknown; lease?: string } = {},
  ): Promise<Reply> =>
    call(`${url}${path}`, method, {
      headers: { authorization: `Bearer ${by}`, ...(lease !== undefined && { "parley-lease": lease }) },
      ...(body !== undefined && { body }),
    });

  async function accepted(method: string, path: string, by: string, body: unknown): Promise<Reply> {
    const reply = await send(method, path, by, { body });
    if (reply.status >= 300) throw new Error(`${method} ${path} was answered ${reply.status} ${reply.text}`);
    return reply;
  }

  const wishes: Record<Kind, (id: string, lastsS: number) => [string, string, object]> = {
    question: (id, lastsS) => [
      "/agent/questions",
      agent,
      { prompt: `Which label, ${id}?`, type: "text", min_responses: 1, timeout_seconds: lastsS, idempotency_key: id },
    ],
    approval: (id, lastsS) => [
      A2H,
      agent,
      { run_id: "clock", call_id: id, spec: { fn: "issue_refund", kwargs: { order: id }, timeout_seconds: lastsS } },
    ],
    ask: (id, lastsS) => [
      "/asks",
      worker,
      {
        ask_id: id,
        job_id: `job-of-${id}`,
        step_id: "S-1",
        ask_type: "CLARIFICATION",
        prompt: "Which currency?",
        context_envelope: { job_snapshot: {}, role: "default" },
        constraints: { timeout_s: lastsS },
      },
    ],
    job: (id, lastsS) => ["/jobs", planner, { job_id: id, kind: "unclaimed", ttl_s: lastsS }],
  };
  const paths: Record<Kind, (id: string) => [string, string]> = {
    question: (id) => [`/agent/questions/${id}`, agent],
    approval: (id) => [`${A2H}/${id}`, agent],
    ask: (id) => [`/asks/${id}`, worker],
    job: (id) => [`/jobs/${id}`, planner],
  };
  const isOpenIn: Record<Kind, (body: Reply["body"]) => boolean> = {
    question: ({ status }) => status === "OPEN",
    approval: ({ status }) => status.expired !== true,
    ask: ({ status }) => status === "PENDING",
    job: ({ state }) => state !== "EXPIRED",
  };

  return {
    at: (next) => void (url = next),
    async open(kind, lastsS) {
      const name = `${kind}-${(ids += 1)}`;
      const [path, by, body] = wishes[kind](name, lastsS);
      const sentMs = nowMs();
      const reply = await accepted("POST", path, by, body);
      const id = kind === "question" ? String(reply.body.question_id) : name;
      return { kind, id, sentMs, heardMs: nowMs(), lastsMs: lastsS * 1000 };
    },
    async isOpen({ kind, id }) {
      const [path, by] = paths[kind](id);
      const reply = await send("GET", path, by);
      if (reply.status === 404) return null;
      if (reply.status !== 200) throw new Error(`GET ${path} was answered ${reply.status} ${reply.text}`);
      return isOpenIn[kind](reply.body);
    },
    async wait({ kind, id }, waitS) {
      const [path, by] = paths[kind](id);
      const from = performance.now();
      // A worker waits for jobs of its kind.
      if (kind === "job") {
        await accepted("POST", "/jobs/claim", worker, { kinds: ["none"], worker_id: id, wait: `${waitS}s` });
      } else {
        await send("GET", kind === "ask" ? `${path}/answer?wait=${waitS}s` : `${path}?wait=${waitS}`, by);
      }
      return performance.now() - from;
    },
    async hold(what, leaseS) {
      const id = `held-${(ids += 1)}`;
      const kind = what === "task" ? "aa/shop" : id;
      if (what === "task") await accepted("POST", "/assignment", planner, { id: TASK, prompt: "Do it" });
      else await accepted("POST", "/jobs", planner, { job_id: id, kind, max_attempts: 9 });
      const sentMs = nowMs();
      const { body } = await accepted("POST", "/jobs/claim", worker, {
        kinds: [kind],
        worker_id: "w",
        wait: "20s",
        lease_ttl_s: leaseS,
      });
      return {
        id: String(body.job.job_id),
        token: String(body.lease.token),
        sentMs,
        heardMs: nowMs(),
        lastsMs: leaseS * 1000,
      };
    },
    beat: ({ id, token }) =>
      send("POST", `/jobs/${id}/heartbeat`, worker, { body: {}, lease: token }).then(
        ({ status }) => status,
        () => 0,
      ),
    stateOf: async (jobId) => String((await send("GET", `/jobs/${jobId}`, planner)).body.state),
    task: async (id) => String((await send("GET", `/assignment/tasks/${id}`, planner)).body.state),
  };
}
