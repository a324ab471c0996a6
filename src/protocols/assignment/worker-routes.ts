import type { Context } from "../../context.ts";
import type { AttemptUsage, NewTaskEvent } from "../../tasks/model/task.ts";
import { isPermission, type AgentRequest } from "../../tasks/model/attempt-asks.ts";
import { titleOfPrompt } from "../../tasks/model/names.ts";
import { waitForAttemptNotes } from "../../tasks/attempt-notes.ts";
import { Refusal } from "../../refusals.ts";
import {
  askForAttempt,
  awaitAnswer,
  awaitDecision,
  reportForAttempt,
  withdrawForAttempt,
  type AskingAttempt,
} from "../../tasks/ask-for-attempt.ts";
import {
  markWaiting,
  NotHeld,
  noteAttempt,
  renewAttemptKey,
  resumeLeased,
  stepAttempt,
  type AttemptFacts,
} from "../../tasks/attempt-steps.ts";
import { claimAttempt, workerAttempt } from "../../tasks/claim-attempt.ts";
import {
  completeAttempt,
  endAttempt,
  failAttempt,
  withdrawAttempt,
  type AttemptResult,
} from "../../tasks/close-attempt.ts";
import type { Writer } from "../../asks/jobs/hold-job.ts";
import { WrongMove } from "../../tasks/move.ts";
import { openBundle } from "../../tasks/open-bundle.ts";
import type { AttemptAssignment } from "../../tasks/start-attempt.ts";
import { readTask } from "../../tasks/read.ts";
import { goneSignal, type Door, type DoorContext, type FastifyRequest } from "../http/door.ts";
import { keyHolder } from "../http/principals.ts";
import { taskIdOf } from "../http/task-input.ts";
import { WireWorkReply, WorkReportBody, type WireWorkFacts } from "../../wire/tasks/work.ts";
import { bodyOf, routeOptions, wholeBodyOf } from "./request.ts";

interface OfJob {
  Params: { repo: string; job: string };
}

/** So long a worker waits for a decision before it asks again. */
const WAIT_MS = 20_000;
const JOB_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Mounts the routes by which a remote worker reports on an attempt whose job it holds, and receives replies
 * (spec/assignment 13). They carry the same messages as those of a workshop on the server.
 */
export function workerRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post<OfJob>(
    "/assignment/:repo/work/:job",
    routeOptions("What a worker says of an attempt, and is told", {
      body: WorkReportBody,
      reply: WireWorkReply,
      keysOnly: true,
      replies: { 200: "As asked", 204: "Nothing is decided yet" },
    }),
    async (http, reply) => {
      const by = await workerOf(door, http);
      const { repo, job } = http.params;
      refuseNoJob(job);
      const report = sayingOf(http);
      const replyBody = await answer(ctx, { repo, job, by, report }, goneSignal(reply)).catch((error: unknown) => {
        throw error instanceof NotHeld || error instanceof WrongMove ? new Refusal("fenced") : error;
      });
      return replyBody === undefined ? reply.code(204).send() : reply.send(replyBody);
    },
  );

  app.get<OfJob & { Params: { task: string } }>(
    "/assignment/:repo/work/:job/bundle/:task",
    routeOptions("The commits of a task that the attempt is built on, as a git bundle", { keysOnly: true }),
    async (http, reply) => {
      const by = await workerOf(door, http);
      const { repo, job } = http.params;
      refuseNoJob(job);
      const { attempt } = await workerAttempt(ctx, job, by);
      const task = taskIdOf(http.params.task);
      if (attempt.repo !== repo) throw new Refusal("job_not_found");
      const { file } = await openBundle(ctx, repo, task);
      return reply.type("application/octet-stream").send(file.createReadStream());
    },
  );
}

/** A worker's report on a job, with the worker that sent it. */
interface Word {
  repo: string;
  job: string;
  by: Writer;
  report: WorkReportBody;
}

/** Takes a worker's report, and returns the reply; undefined while nothing is decided. */
async function answer(
  ctx: Context,
  { repo, job, by, report }: Word,
  signal: AbortSignal,
): Promise<WireWorkReply | undefined> {
  const rules = ctx.assignment.repos.find(({ name }) => name === repo);
  if (!rules || rules.path !== null) throw new Refusal("repo_not_found", { repo });
  if (report.say === "claimed") {
    const assignment = await claimAttempt(ctx, job, by);
    if (assignment.task.repo !== repo) throw new Refusal("job_not_found");
    return { commission: assignmentWire(assignment), repo: { ...rules } };
  }
  const { attempt, held } = await workerAttempt(ctx, job, by);
  if (attempt.repo !== repo) throw new Refusal("job_not_found");
  switch (report.say) {
    case "step":
      await stepAttempt(ctx, held, report.to, factsOf(report.facts));
      return {};
    case "note":
      await noteAttempt(ctx, held, report.events as NewTaskEvent[], factsOf(report.facts));
      return {};
    case "waiting":
      await markWaiting(ctx, held, report.isWaiting);
      return {};
    case "wish":
      return decide(ctx, { attempt, held }, { ref: report.ref, http: report.wish as AgentRequest }, signal);
    case "used":
      await reportForAttempt(ctx, attempt, report.ref, report.report);
      return {};
    case "withdraw":
      await withdrawForAttempt(ctx, { attemptId: attempt.attemptId, principal: attempt.holder }, report.ref);
      return {};
    case "notes":
      return { notes: await waitForAttemptNotes(ctx, held, { known: report.known, waitMs: WAIT_MS, signal }) };
    case "key":
      return { key: await renewAttemptKey(ctx, held) };
    case "resumed":
      return resumeLeased(ctx, held, report.from);
    case "conflict": {
      const { dependencies } = await readTask(ctx, repo, attempt.id);
      await withdrawAttempt(ctx, held, { paths: report.paths, deps: dependencies });
      return {};
    }
    case "done":
      await completeAttempt(ctx, held, report.result satisfies AttemptResult);
      return {};
    case "failed":
      await failAttempt(ctx, held, report.error, report.wip);
      return {};
    case "ended":
      await endAttempt(ctx, held.attemptId, report);
      return {};
  }
}

function assignmentWire({ task, attempt, dependencies, changes, publishedSha }: AttemptAssignment) {
  return {
    task: { ...task },
    attempt: { ...attempt },
    dependencies: [...dependencies],
    changes: changes && { ...changes },
    publishedSha,
  };
}

/** Asks people, or policy, what an attempt wants to know or to do, and waits a while for what they say. */
async function decide(
  ctx: Context,
  { attempt, held }: Awaited<ReturnType<typeof workerAttempt>>,
  { ref, http }: { ref: string; http: AgentRequest },
  gone: AbortSignal,
): Promise<WireWorkReply | undefined> {
  const { repo, id: taskId, jobId, holder, attemptId, agent, sandbox } = attempt;
  const { task } = await readTask(ctx, repo, taskId);
  const who: AskingAttempt = {
    jobId,
    principal: holder,
    attemptId,
    repo,
    taskId,
    slug: task.slug,
    title: titleOfPrompt(task.title),
    agent,
    sandbox: sandbox ?? "none",
    deadlineS: ctx.assignment.askDeadlineS,
    allowCommands: ctx.assignment.repos.find(({ name }) => name === repo)?.allowCommands ?? [],
  };
  const { askId } = await askForAttempt(ctx, who, ref, http);
  await markWaiting(ctx, held, true);
  const late = new AbortController();
  const signal = AbortSignal.any([gone, late.signal]);
  const waiting = ctx.clock.sleep(WAIT_MS, signal).then(() => late.abort());
  const decided = isPermission(http) ? await awaitDecision(ctx, askId, signal) : await awaitAnswer(ctx, askId, signal);
  late.abort();
  await waiting;
  return decided ?? undefined;
}

/** Returns who speaks for a worker. @throws {Refusal} `key_required`, `scope_missing` */
export async function workerOf(door: DoorContext, http: FastifyRequest): Promise<Writer> {
  const key = await keyHolder(door, http);
  if ("open" in key) throw new Refusal("key_required");
  if (key.scope !== "executor") throw new Refusal("scope_missing", { scope: "executor" });
  const lease = http.headers["parley-lease"];
  return { principal: key.principal, lease: typeof lease === "string" ? lease : undefined };
}

/** @throws {Refusal} `job_not_found` for what no job is called */
function refuseNoJob(id: string): void {
  if (!JOB_ID.test(id)) throw new Refusal("job_not_found");
}

function sayingOf(http: FastifyRequest): WorkReportBody {
  const read = WorkReportBody.safeParse(bodyOf(http));
  if (!read.success) {
    const [problem] = read.error.issues;
    throw new Refusal("invalid_input", { field: problem?.path.join(".") ?? "say", constraint: "format" });
  }
  const report = read.data;
  if (report.say !== "wish" || !("tool" in report.wish)) return report;
  // People approve exactly what the agent's tool is given, with members that are null, and whatever they are called.
  const { wish: input } = wholeBodyOf(http) as { wish: { input: Record<string, unknown> } };
  return { ...report, wish: { ...report.wish, input: input.input } };
}

/** Returns what is there; what a client leaves out is left as it is. */
function factsOf(facts: WireWorkFacts): AttemptFacts {
  const present = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  return present as AttemptFacts & { usage?: AttemptUsage };
}
