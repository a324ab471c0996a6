import type { ReadableNote } from "../requests/model/agent-note.ts";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { ParleyError } from "@parley/sdk/errors";
import { isPassingStatus, persist } from "@parley/sdk/connection";
import { pauseAfter } from "../lib/back-off.ts";
import { systemClock } from "../lib/clock.ts";
import { systemFetch } from "../lib/network/fetch.ts";
import { ARTIFACT_LIMITS } from "../asks/model/artifact-rules.ts";
import type { RepoRules } from "../tasks/model/rules.ts";
import { sizedEvent } from "../tasks/model/event-size.ts";
import type { NewTaskEvent } from "../tasks/model/task.ts";
import type { WireWorkFacts, WorkReportBody } from "../wire/tasks/work.ts";
import type { PermissionDecision, PermissionRequest, QuestionAnswer, AgentQuestion } from "../workshop/agents/agent.ts";
import type { UseReport } from "../tasks/model/attempt-asks.ts";
import type { AttemptSpec } from "../workshop/attempt-assignment.ts";
import { AttemptLost, type AttemptClient, type Progress, type Result } from "../workshop/attempt-client.ts";

/** Everything that a worker may say of an attempt. */
type Report = z.input<typeof WorkReportBody>;

/** Where a worker's server is, and by which key it speaks. */
export interface ServerAddress {
  url: string;
  key: string;
}

/** A job that this worker holds, and what proves it. */
export interface WorkerJob {
  jobId: string;
  repo: string;
  lease: string;
}

/** The server connection of an attempt whose server is elsewhere. */
export interface HttpAttemptClient extends AttemptClient {
  /** Takes the attempt up; a repeated call gives the same result. */
  claimed(): Promise<{ commission: AttemptSpec; repo: RepoRules }>;
  /** Holds the lease on. */
  keep(): Promise<void>;
  /** Writes the commits of a task that the attempt is built on into a file. */
  fetchBundle(task: string): Promise<Uint8Array>;
}

export interface HttpAttemptClientOptions {
  place: ServerAddress;
  hold: WorkerJob;
  leaving: AbortSignal;
  /** Receives every new lease, before it is used. */
  onLease: (hold: WorkerJob) => Promise<void>;
  /** Makes the bundle and the patch of a result. */
  wrap: (result: Result, into: { bundle: string; patch: string }) => Promise<void>;
  /** A folder for what is on its way to the server. */
  folder: string;
  /** The supervisor's log, which goes with the result where there is one. */
  log: () => Promise<string | null>;
}

const BACK_OFF = { firstMs: 1000, longestMs: 15_000 };
/** The status codes of a reply about a lease that is not good any more, or about a job that is over. */
const LOST = new Set([404, 409, 410]);
/** The status codes of a refused key. It stays unknown whether the job is still this worker's. */
const REFUSED = new Set([401, 403]);
const CLOSED_WHY = "the attempt has ended";
const NOT_DECIDED: Pick<PendingRequest<PermissionDecision>, "none" | "refused"> = {
  none: { allow: false, why: CLOSED_WHY, canceled: true },
  refused: (why) => ({ allow: false, why }),
};
const NOT_ANSWERED: Pick<PendingRequest<QuestionAnswer>, "none" | "refused"> = {
  none: { none: true, why: CLOSED_WHY },
  refused: (why) => ({ none: true, why }),
};

/** The server does not take this worker's key. */
export class KeyRefused extends AttemptLost {}

/** The server refuses a request of this form: it is never sent again. */
class Declined extends Error {}

/**
 * Opens the server connection of a job that a worker holds. It waits for a server that is away; a refusal loses the
 * attempt.
 */
export function openHttpAttemptClient(options: HttpAttemptClientOptions): HttpAttemptClient {
  const { leaving } = options;
  const line = openConnection(options);
  const { say, request, work, job } = line;
  let isTroubled = false;

  return {
    ending: line.ending,
    interrupting: new AbortController().signal,
    leaving,
    async claimed() {
      const reply = await say<{ commission: AttemptSpec; repo: RepoRules }>({ say: "claimed" });
      if (!reply) throw new Error("the server gave no work");
      return reply;
    },
    keep: async () => void (await request(`${job()}/heartbeat`, { method: "POST" })),
    async fetchBundle(task) {
      const reply = await request(`${work()}/bundle/${encodeURIComponent(task)}`, {});
      return new Uint8Array(await reply.arrayBuffer());
    },
    step: async (to, progress) => void (await say({ say: "step", to, facts: factsOf(progress) })),
    note: async (events, progress) =>
      void (await say({ say: "note", events: events.map(eventOf), facts: factsOf(progress) })),
    waiting: async (isWaiting) => void (await say({ say: "waiting", isWaiting })),
    permission: (ref, permission, signal) =>
      askThrough<PermissionDecision>(line, { ref, request: permission, ...NOT_DECIDED }, { signal, leaving }),
    question: (ref, question, signal) =>
      askThrough<QuestionAnswer>(line, { ref, request: question, ...NOT_ANSWERED }, { signal, leaving }),
    used: (ref, report) => reportUse(line, ref, report),
    withdraw: async (ref) => void (await say({ say: "withdraw", ref })),
    async notes(known, signal) {
      const until = AbortSignal.any([signal, leaving, line.ending]);
      return (await say<{ notes: ReadableNote[] }>({ say: "notes", known: [...known] }, until))?.notes ?? [];
    },
    async trouble(why) {
      if (why === null && !isTroubled) return;
      isTroubled = why !== null;
      const text = why ?? "It goes on.";
      await say({ say: "note", events: [{ type: "error", data: { text } }], facts: {} });
    },
    async newKey() {
      const reply = await say<{ key: string }>({ say: "key" });
      return reply?.key ?? "";
    },
    async resumed(from) {
      const reply = await say<{ lease: string }>({ say: "resumed", from });
      if (!reply) throw new Error("the server gave no lease");
      const next = { ...line.hold(), lease: reply.lease };
      await options.onLease(next);
      line.heldBy(next);
    },
    conflict: async ({ paths }) => void (await say({ say: "conflict", paths: [...paths] })),
    done: (result) => handIn(line, options, result),
    failed: async (error, { wip }) => void (await say({ say: "failed", error, wip })),
    // The server may have given it to somebody else: then there is nobody to tell.
    ended: async ({ wip, survivors }) =>
      void (await say({ say: "ended", wip, survivors: [...survivors] }, leaving).catch(() => undefined)),
  };
}

/** The worker's connection to its server for one job. */
interface ServerConnection {
  /** The lease under which the next requests are sent. */
  hold(): WorkerJob;
  heldBy(hold: WorkerJob): void;
  /** Aborted when the job is lost. */
  ending: AbortSignal;
  /** The paths to which the worker sends reports of the work, and of the job. */
  work(): string;
  job(): string;
  /** Sends a request until the server answers it. @throws {AttemptLost} @throws {Declined} */
  request(path: string, init: RequestInit, until?: AbortSignal): Promise<Response>;
  say<T>(saying: Report, until?: AbortSignal): Promise<T | null>;
}

function openConnection({ place, leaving, hold: heldBefore }: HttpAttemptClientOptions): ServerConnection {
  let hold = heldBefore;
  const ending = new AbortController();
  const stop = AbortSignal.any([leaving, ending.signal]);
  const work = () => `/assignment/${encodeURIComponent(hold.repo)}/work/${encodeURIComponent(hold.jobId)}`;

  async function request(path: string, init: RequestInit, until = stop): Promise<Response> {
    const once = async (): Promise<Response> => {
      if (until.aborted) throw new AttemptLost("it was left");
      const reply = await systemFetch(`${place.url}${path}`, {
        ...init,
        signal: until,
        headers: { ...init.headers, authorization: `Bearer ${place.key}`, "parley-lease": hold.lease },
      }).catch((cause: unknown) => {
        throw new ParleyError("UNREACHABLE", "the server gave no reply", { cause });
      });
      const { status } = reply;
      if (status < 300) return reply;
      if (isPassingStatus(status)) throw new ParleyError("BAD_REPLY", `the server answered ${status}`, { status });
      if (!LOST.has(status) && !REFUSED.has(status))
        throw new Declined(`the server declined it (${status}): ${await reply.text()}`);
      const body = (await reply.json().catch(() => ({}))) as { error?: { message?: string } };
      const why = body.error?.message ?? `the server answered ${status}`;
      ending.abort();
      throw REFUSED.has(status) ? new KeyRefused(why) : new AttemptLost(why);
    };
    const pauseMs = (failures: number) => pauseAfter(failures, BACK_OFF);
    return persist(once, { signal: until, clock: systemClock, pauseMs }).catch((error: unknown) => {
      throw error === until.reason ? new AttemptLost("it was left") : error;
    });
  }
  return {
    hold: () => hold,
    heldBy(next) {
      hold = next;
    },
    ending: ending.signal,
    work,
    job: () => `/jobs/${encodeURIComponent(hold.jobId)}`,
    request,
    async say<T>(saying: Report, until = stop) {
      const body = JSON.stringify(saying);
      const headers = { "content-type": "application/json" };
      const reply = await request(work(), { method: "POST", headers, body }, until);
      return reply.status === 204 ? null : ((await reply.json()) as T);
    },
  };
}

/** A server that does not take such a report yet loses nothing else by it. */
async function reportUse({ say }: ServerConnection, ref: string, report: UseReport): Promise<void> {
  await say({ say: "used", ref, report }).catch((error: unknown) => {
    if (!(error instanceof Declined)) throw error;
  });
}

/** A request that an agent waits for, and the reply to the agent where nobody decides. */
interface PendingRequest<T> {
  ref: string;
  request: PermissionRequest | AgentQuestion;
  none: T;
  refused: (why: string) => T;
}

/** Returns the decision on a request, however long that takes; `none` where `signal` is aborted first. */
async function askThrough<T extends PermissionDecision | QuestionAnswer>(
  { say, ending }: ServerConnection,
  { ref, request: question, none, refused }: PendingRequest<T>,
  { signal, leaving }: { signal: AbortSignal; leaving: AbortSignal },
): Promise<T> {
  while (!signal.aborted) {
    const until = AbortSignal.any([signal, leaving, ending]);
    const decided = await say<T>({ say: "wish", ref, wish: wireRequestOf(question) }, until).catch((error: unknown) => {
      if (error instanceof Declined) return refused(error.message);
      throw error;
    });
    if (decided) return decided;
  }
  return none;
}

function wireRequestOf(question: PermissionRequest | AgentQuestion): (Report & { say: "wish" })["wish"] {
  return "tool" in question ? question : { ...question, options: [...question.options] };
}

function eventOf(event: NewTaskEvent): (Report & { say: "note" })["events"][number] {
  const { type, data } = sizedEvent(event);
  return { type, data: { ...data } };
}

function factsOf({ usage, ...rest }: Progress & { logSeq?: number } = {}): z.input<typeof WireWorkFacts> {
  return { ...rest, ...(usage && { usage: { ...usage } }) };
}

/** Sends the commits of a result, its patch and the log of its supervisor along, and says then that it is done. */
async function handIn(
  { say, request, job }: ServerConnection,
  { wrap, folder, log: readLog }: HttpAttemptClientOptions,
  result: Result,
): Promise<void> {
  const send = async (name: string, file: Uint8Array | string): Promise<void> => {
    await request(`${job()}/artifacts/${name}`, { method: "PUT", body: Buffer.from(file) });
  };
  const [bundle, patch] = [join(folder, "work.bundle"), join(folder, "work.patch")];
  await wrap(result, { bundle, patch });
  await send("work.bundle", await readFile(bundle));
  await send("work.patch", await readFile(patch));
  const log = await readLog();
  if (log !== null) await send("log.ndjson", endOf(log));
  await say({ say: "done", result: { ...result, warnings: [...result.warnings] } });
  await rm(bundle, { force: true });
  await rm(patch, { force: true });
}

/** Returns as many of the last lines of a log as a file of a job may hold; the first says so where some are left out. */
function endOf(log: string): string {
  const bytes = Buffer.from(log);
  const most = ARTIFACT_LIMITS.fileBytes - LEFT_OUT.length;
  if (bytes.length <= most) return log;
  const end = bytes.subarray(bytes.length - most);
  return LEFT_OUT + end.subarray(end.indexOf(10) + 1).toString("utf8");
}

const LEFT_OUT = `${JSON.stringify({ type: "error", text: "Earlier output is not sent along." })}\n`;
