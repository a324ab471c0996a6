import { z } from "zod";
import { repoOfKind } from "../../core/model/attempt-kind.ts";
import { LEASE_S } from "../../asks/model/job-rules.ts";
import { Refusal } from "../../refusals.ts";
import { cancelJob } from "../../asks/jobs/cancel-job.ts";
import { claimJobFor } from "../../asks/jobs/claim-job.ts";
import { finishJob, heartbeat, releaseJob } from "../../asks/jobs/hold-job.ts";
import { logJob, type JobLog } from "../../asks/jobs/log-job.ts";
import { makeJob } from "../../asks/jobs/make-job.ts";
import { readJob, readJobs } from "../../asks/jobs/read-job.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import { checkFields } from "../http/check-fields.ts";
import { held } from "../http/held.ts";
import { refuseKeyAsName } from "../http/key-as-name.ts";
import { jobPage, wholeJob } from "./admin-view.ts";
import { artifactRoutes } from "./artifact-routes.ts";
import { RELAY_ID } from "../../wire/relay/fields.ts";
import { jobEvents } from "./job-events.ts";
import { enter, isAdminView, jobIdOf, JOB_READERS, readerOf, statesOf, writerOf } from "./job-requests.ts";
import { WireJobLinePage, WireWholeJob } from "../../wire/relay/admin-view.ts";
import { withAliases } from "../../wire/aliases.ts";
import {
  ClaimBody,
  FinishBody,
  HeartbeatBody,
  LogBody,
  LogsBody,
  MOST_LOGS,
  NewJobBody,
  ReasonBody,
  WireAcceptedLogs,
  WireClaimedJob,
  WireHeldJob,
  WireJob,
  WireJobPage,
} from "../../wire/relay/job.ts";
import { jobWire } from "./print.ts";
import { queryText } from "../http/query.ts";
import { bodyOf, cursorOf, cursorText, jsonOf, queryNumber, routeOptions, waitOf } from "./request.ts";

type Of = { Params: { id: string } };

const PAGE = { min: 1, max: 100, usual: 100 };

/** Jobs: making, claiming, holding, ending and following them (spec/relay 2). */
export async function jobRoutes(app: Door, door: DoorContext): Promise<void> {
  lineRoutes(app, door);
  holderRoutes(app, door);
  jobEvents(app, door);
  await app.register(artifactRoutes(door));
}

/** The line of jobs: putting one in, taking one, and looking at them. */
function lineRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post(
    "/jobs",
    routeOptions({
      summary: "Put a job in line, or register one that runs elsewhere",
      body: NewJobBody,
      reply: WireJob,
      replies: { 200: "The job that this id stands for", 201: "The new job" },
    }),
    async (http, reply) => registerJob(door, http, reply),
  );

  app.post(
    "/jobs/claim",
    routeOptions({
      summary: "Take the next job in line, or wait for one",
      body: ClaimBody,
      reply: WireClaimedJob,
      replies: { 200: "The job, and the lease to show", 204: "There is none" },
    }),
    async (http, reply) => claimNext(door, http, reply),
  );

  const anyPage = z.union([WireJobPage, WireJobLinePage]);
  app.get("/jobs", routeOptions({ summary: "Jobs, the newest first", reply: anyPage }), async (http, reply) => {
    if (isAdminView(http)) return reply.send(await jobPage(door, http));
    const caller = await enter(door, http, JOB_READERS);
    const states = statesOf(http);
    const kind = kindOf(http);
    const after = cursorOf(http);
    const { jobs, next } = await readJobs(ctx, readerOf(caller), {
      states,
      ...(kind !== undefined && { kind }),
      after,
      limit: queryNumber(http, "limit", PAGE),
    });
    const page: WireJobPage = { jobs: jobs.map(jobWire), ...(next && { next_cursor: cursorText(next) }) };
    return reply.send(page);
  });

  const anyJob = z.union([WireWholeJob, WireJob]);
  app.get<Of>("/jobs/:id", routeOptions({ summary: "One job", reply: anyJob }), async (http, reply) => {
    if (isAdminView(http)) return reply.send(await wholeJob(door, http));
    const caller = await enter(door, http, JOB_READERS);
    return reply.send(jobWire((await readJob(ctx, jobIdOf(http), readerOf(caller))).job));
  });
}

/** Mounts the routes for a job's holder, and the cancellation, which is open to everybody who may see the job. */
function holderRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post<Of>(
    "/jobs/:id/heartbeat",
    routeOptions({ summary: "Hold a job's lease on", body: HeartbeatBody, bodyOptional: true, reply: WireHeldJob }),
    async (http, reply) => reply.send(await hold(door, http)),
  );

  app.post<Of>(
    "/jobs/:id/release",
    routeOptions({ summary: "Put a job in line again", body: ReasonBody, bodyOptional: true, reply: WireJob }),
    async (http, reply) => {
      const caller = await enter(door, http, ["executor"]);
      const { reason } = bodyOf(http, ReasonBody);
      return reply.send(jobWire(await releaseJob(ctx, jobIdOf(http), writerOf(http, caller), reason)));
    },
  );

  app.post<Of>(
    "/jobs/:id/finish",
    routeOptions({ summary: "End a job as its executor", body: FinishBody, reply: WireJob }),
    async (http, reply) => {
      const caller = await enter(door, http, ["executor"]);
      const finish = bodyOf(http, FinishBody);
      return reply.send(jobWire(await finishJob(ctx, jobIdOf(http), writerOf(http, caller), finish)));
    },
  );

  app.post<Of>(
    "/jobs/:id/cancel",
    routeOptions({ summary: "End a job without a result", body: ReasonBody, bodyOptional: true, reply: WireJob }),
    async (http, reply) => {
      const caller = await enter(door, http, JOB_READERS);
      const { reason } = bodyOf(http, ReasonBody);
      return reply.send(jobWire(await cancelJob(ctx, jobIdOf(http), readerOf(caller), reason)));
    },
  );

  app.post<Of>(
    "/jobs/:id/logs",
    routeOptions({
      summary: "Say something of a job's work: one entry, or up to a hundred",
      body: LogsBody,
      reply: WireAcceptedLogs,
      replies: { 202: "They stand among the job's events" },
    }),
    async (http, reply) => {
      const caller = await enter(door, http, ["executor", "agent"]);
      const logs = logsOf(http);
      await logJob(ctx, jobIdOf(http), writerOf(http, caller), logs);
      return reply.code(202).send({ accepted: logs.length } satisfies WireAcceptedLogs);
    },
  );
}

/** Replies with the job that a body asks for: a new one, or the one that its id stands for already. */
async function registerJob(door: DoorContext, http: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = await enter(door, http, ["assign", "executor", "agent"]);
  const body = bodyOf(http, NewJobBody);
  refuseKeyAsName(body.job_id);
  const external = body.external ?? false;
  if (external === (caller.scope === "assign")) {
    throw new Refusal("scope_missing", { scope: external ? "executor" : "assign" });
  }
  const { job, made } = await makeJob(door.ctx, {
    ...(body.job_id !== undefined && { id: body.job_id }),
    owner: caller.principal,
    external,
    kind: body.kind ?? "default",
    spec: body.spec,
    env: body.env ?? null,
    repo: body.repo ?? null,
    labels: body.labels ?? {},
    priority: body.priority ?? "P1",
    ttlS: body.ttl_s ?? 86_400,
    maxAttempts: body.max_attempts ?? 3,
  });
  return reply
    .code(made ? 201 : 200)
    .header("location", `/jobs/${job.id}`)
    .send(jobWire(job));
}

/** Replies with the next job in line and the lease to show for it, or with nothing when the wait is over. */
async function claimNext(door: DoorContext, http: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { ctx, config } = door;
  const { principal, isOpen } = await enter(door, http, ["executor"]);
  const { kinds: named = ["default"], worker_id: worker, lease_ttl_s: leaseS, wait } = bodyOf(http, ClaimBody);
  refuseKeyAsName(worker);
  const waitMs = waitOf(wait, config.waitCapS * 1000);
  const kinds = named.filter((kind) => mayClaim(door, kind, isOpen));
  using _place = waitMs > 0 ? door.limiter.enter("long-polls", principal, config.limits.longPolls) : undefined;
  const input = { kinds, holder: principal, worker, leaseS: leaseS ?? LEASE_S.usual };
  const claimed = await held(door, http, reply, (signal) => claimJobFor(ctx, input, { waitMs, signal }));
  if (!claimed) return reply.code(204).send();
  const { token, epoch, ttlS, expiresAt } = claimed.lease;
  const taken: WireClaimedJob = {
    job: jobWire(claimed.job),
    lease: { token, epoch, ttl_s: ttlS, expires_at: expiresAt },
  };
  return reply.send(taken);
}

/** Holds the lease of a job on, and returns how the job stands. */
async function hold(door: DoorContext, http: FastifyRequest): Promise<WireHeldJob> {
  const caller = await enter(door, http, ["executor"]);
  const { note } = bodyOf(http, HeartbeatBody);
  const job = await heartbeat(door.ctx, jobIdOf(http), writerOf(http, caller), note);
  return withAliases<WireHeldJob>({
    job_id: job.id,
    state: job.state,
    epoch: job.epoch,
    lease_expires_at: job.leaseUntil,
    pending_asks: job.pendingAsks,
  });
}

/** Tasks are for workers with a key, of repositories that this server does not have itself (spec/assignment 13). */
function mayClaim({ ctx }: DoorContext, kind: string, isOpen: boolean): boolean {
  const repo = repoOfKind(kind);
  return repo === null || (!isOpen && ctx.assignment.repos.some(({ name, path }) => name === repo && path === null));
}

function kindOf(http: FastifyRequest): string | undefined {
  const kind = queryText(http.query, "kind");
  if (kind === undefined || RELAY_ID.test(kind)) return kind;
  throw new Refusal("invalid_input", { field: "kind", constraint: "format" });
}

function logsOf(http: FastifyRequest): JobLog[] {
  const value = jsonOf(http);
  const given = Array.isArray(value) ? (value as unknown[]) : [value];
  if (given.length === 0 || given.length > MOST_LOGS) {
    throw new Refusal("invalid_input", { field: "logs", constraint: "length", min: 1, max: MOST_LOGS });
  }
  return given.map((one) => {
    if (typeof one !== "object" || one === null || Array.isArray(one)) throw new Refusal("body_not_object");
    const present = Object.fromEntries(Object.entries(one).filter(([, member]) => member !== null));
    const checked = checkFields(LogBody, present);
    if ("error" in checked) throw checked.error;
    const { step_id: stepId, ask_id: askId, level = "info", message, fields } = checked.value;
    return {
      level,
      message,
      stepId,
      askId,
      ...(fields && { fields }),
    };
  });
}
