import type { AssignmentRules } from "../../tasks/model/rules.ts";
import { Refusal } from "../../refusals.ts";
import { cancelTask } from "../../tasks/cancel.ts";
import { followBoard, followBoards, followTask, type News } from "../../tasks/follow.ts";
import { namePeople } from "../../access/name-people.ts";
import { readTask, readTasks } from "../../tasks/read.ts";
import { reviewTask } from "../../tasks/review.ts";
import { retryTask, submitTask } from "../../tasks/submit.ts";
import { goneSignal, type Door, type DoorContext, type FastifyReply, type FastifyRequest } from "../http/door.ts";
import { parseBody } from "../http/body.ts";
import { fields, optional, textField, wordField } from "../../wire/fields.ts";
import { jsonReply } from "../http/json-reply.ts";
import { administrator, type Administrator } from "../http/principals.ts";
import { sendEvents, sinceOf, type ServerSentEvent } from "../http/sse.ts";
import { taskEventWire, taskNews, taskWire } from "../http/task.ts";
import { repoOf, reviewWishOf, taskIdOf, taskWishOf } from "../http/task-wish.ts";
import { sendDiff, taskAsksOf, wholeTaskOf } from "../http/work.ts";
import { NewAdminTaskBody, PersonReviewBody } from "../../wire/task-bodies.ts";
import {
  WireAdminBoard,
  WireAdminTask,
  WireAdminTaskAsks,
  WireAdminWholeTask,
  WireAssignmentReport,
  type WireTask,
} from "../../wire/task.ts";
import { cursorField } from "./admin-pages.ts";
import { ADMIN_REFUSALS } from "./admin-routes.ts";
import { ErrorBody } from "../../wire/error.ts";

const BODY_BYTES = 262_144;

const ONE = { ...ADMIN_REFUSALS, 404: ErrorBody } as const;
const CHANGE = { 400: ErrorBody, ...ONE, 409: ErrorBody } as const;
const After = fields({
  after: optional(textField("after", 1, 15, { description: "The number of the last event that is known." })),
});
const Diff = fields({
  against: optional(wordField("against", ["start", "base"])),
  attempt: optional(textField("attempt", 1, 7)),
});

interface OfRepo {
  Params: { repo: string };
}
interface OfTask {
  Params: { repo: string; id: string };
}

/**
 * Tasks of coding agents for admins: the board and what can be done on it. `:repo` is a repository's name, `:id` a task's,
 * percent-encoded. What travels stands in `wire/task.ts`.
 *
 *     GET    /admin/assignments                          all repositories and their tasks
 *     GET    /admin/assignments/events                   SSE, live only: `state` and `question` of every task, with `repo`
 *     GET    /admin/assignments/:repo                    the tasks of one
 *     POST   /admin/assignments/:repo                    -> 202 the task; `Idempotency-Key` as on the wire
 *     GET    /admin/assignments/:repo/events             SSE from after `Last-Event-ID`, `?after=`, or now
 *     GET    /admin/assignments/:repo/tasks/:id          the whole task
 *     GET    /admin/assignments/:repo/tasks/:id/asks     ?cursor= -> the oldest first
 *     DELETE /admin/assignments/:repo/tasks/:id          -> the task, once its last process is gone
 *     POST   /admin/assignments/:repo/tasks/:id/retry    -> 202 the task, of one that failed, was canceled or rejected
 *     POST   /admin/assignments/:repo/tasks/:id/review   -> the task; a person's own session alone
 *     GET    /admin/assignments/:repo/tasks/:id/diff     ?against=start|base&attempt= -> text/x-patch
 *     GET    /admin/assignments/:repo/tasks/:id/log      SSE from the first event, or after `Last-Event-ID` or `?after=`;
 *                                                          where the log was cut, what is shown must be read anew
 */
export function adminAssignmentRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));
    boardRoutes(app, door);
    repoRoutes(app, door);
    taskRoutes(app, door);
    reviewRoute(app, door);
    workRoutes(app, door);
  };
}

const tags = ["administration"];

/** The board of all repositories. */
function boardRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/assignments",
    {
      schema: {
        tags,
        summary: "Repositories, agents, and all their tasks",
        response: { 200: jsonReply(WireAssignmentReport), ...ONE },
      },
    },
    async (request): Promise<WireAssignmentReport> => {
      await administrator(door, request);
      const { repos, agents, parallel } = ctx.assignment;
      const readings = await Promise.all(repos.map(({ name }) => readTasks(ctx, name)));
      return {
        sandboxNotice: door.work?.sandboxNotice() ?? null,
        parallel,
        repos: repos.map(repoWire),
        agents: agents.map(({ name }) => agentWire(door, name)),
        tasks: readings.flatMap(({ tasks }) => tasks).map((task) => taskWire(task, door)),
      };
    },
  );

  app.get(
    "/admin/assignments/events",
    {
      schema: {
        tags,
        summary: "States and questions of every task, from now on (SSE)",
        response: { ...ADMIN_REFUSALS, 429: ErrorBody },
      },
    },
    async (request, reply) => {
      const names = ctx.assignment.repos.map(({ name }) => name);
      return follow(door, request, reply, async function* (signal) {
        for await (const { repo, ...event } of followBoards(ctx, names, signal)) {
          yield { event: event.type, data: JSON.stringify({ ...taskEventWire(event), repo }) };
        }
      });
    },
  );
}

/** One repository: its tasks, and giving another. */
function repoRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get<OfRepo>(
    "/admin/assignments/:repo",
    { schema: { tags, summary: "The tasks of a repository", response: { 200: jsonReply(WireAdminBoard), ...ONE } } },
    async (request): Promise<WireAdminBoard> => {
      await administrator(door, request);
      const { name: repo } = repoOf(door, request.params.repo);
      const { seq, tasks } = await readTasks(ctx, repo);
      return { repo, seq, tasks: tasks.map((task) => taskWire(task, door)) };
    },
  );

  app.post<OfRepo>(
    "/admin/assignments/:repo",
    {
      bodyLimit: BODY_BYTES,
      config: { takesBody: true, maxBodyBytes: BODY_BYTES },
      schema: {
        tags,
        summary: "Give work to an agent",
        body: NewAdminTaskBody,
        response: { 202: jsonReply(WireAdminTask), ...CHANGE },
      },
    },
    async (request, reply) => {
      const by = await administrator(door, request);
      const { name: repo } = repoOf(door, request.params.repo);
      const given = request.body as Record<string, unknown>;
      const of = { repo, principal: by.id, by, credential: `${by.kind}:${by.id}` };
      const { task, replayed } = await submitTask(ctx, taskWishOf(door, request, given, of));
      if (replayed) reply.header("idempotency-replayed", "true");
      return reply.code(202).send(await wireOf(door, repo, task.id));
    },
  );

  app.get<OfRepo>(
    "/admin/assignments/:repo/events",
    {
      schema: {
        tags,
        summary: "States and questions of a repository's tasks (SSE)",
        querystring: After,
        response: { 400: ErrorBody, ...ONE, 429: ErrorBody },
      },
    },
    async (request, reply) => {
      await administrator(door, request);
      const { name } = repoOf(door, request.params.repo);
      const since = sinceOf(request);
      return follow(door, request, reply, (signal) => told(followBoard(ctx, name, { signal, ...since })));
    },
  );
}

/** One task, and what an admin does with it. */
function taskRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get<OfTask>(
    "/admin/assignments/:repo/tasks/:id",
    {
      schema: {
        tags,
        summary: "One task, with all that happened to it",
        response: { 200: jsonReply(WireAdminWholeTask), ...ONE },
      },
    },
    async (request) => {
      await administrator(door, request);
      const { repo, id } = taskOf(door, request);
      return wholeTaskOf(door, repo, id);
    },
  );

  app.delete<OfTask>(
    "/admin/assignments/:repo/tasks/:id",
    { schema: { tags, summary: "Cancel a task", response: { 200: jsonReply(WireAdminTask), ...ONE, 503: ErrorBody } } },
    async (request, reply) => {
      const by = await administrator(door, request);
      const task = taskOf(door, request);
      const who = { by, name: await nameOf(door, by) };
      await cancelTask(ctx, task, who, goneSignal(reply));
      return wireOf(door, task.repo, task.id);
    },
  );

  app.post<OfTask>(
    "/admin/assignments/:repo/tasks/:id/retry",
    {
      schema: {
        tags,
        summary: "Try a task again that ended without a result",
        response: { 202: jsonReply(WireAdminTask), ...CHANGE },
      },
    },
    async (request, reply) => {
      const by = await administrator(door, request);
      const task = taskOf(door, request);
      await retryTask(ctx, task, { by, principal: by.id });
      return reply.code(202).send(await wireOf(door, task.repo, task.id));
    },
  );
}

/** A person's review of a task. */
function reviewRoute(app: Door, door: DoorContext): void {
  app.post<OfTask>(
    "/admin/assignments/:repo/tasks/:id/review",
    {
      bodyLimit: BODY_BYTES,
      config: { takesBody: true, maxBodyBytes: BODY_BYTES },
      schema: {
        tags,
        summary: "Approve, reject, or ask for changes",
        body: PersonReviewBody,
        response: { 200: jsonReply(WireAdminTask), ...CHANGE },
      },
    },
    async (request) => {
      const by = await administrator(door, request);
      if (by.kind !== "human") throw new Refusal("person_needed");
      const task = taskOf(door, request);
      const of = { ...task, person: by.id, name: await nameOf(door, by) };
      await reviewTask(door.ctx, reviewWishOf(request.body as Record<string, unknown>, of));
      return wireOf(door, task.repo, task.id);
    },
  );
}

/** What came of a task: its questions, its patch and its log. */
function workRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get<OfTask>(
    "/admin/assignments/:repo/tasks/:id/asks",
    {
      schema: {
        tags,
        summary: "What a task's agents asked, the oldest first",
        querystring: fields(cursorField),
        response: { 200: jsonReply(WireAdminTaskAsks), 400: ErrorBody, ...ONE },
      },
    },
    async (request) => {
      await administrator(door, request);
      return taskAsksOf(door, request, taskOf(door, request));
    },
  );

  app.get<OfTask>(
    "/admin/assignments/:repo/tasks/:id/diff",
    {
      schema: {
        tags,
        summary: "The work of an attempt, as a patch",
        querystring: Diff,
        response: { 400: ErrorBody, ...ONE },
      },
    },
    async (request, reply) => {
      await administrator(door, request);
      return sendDiff(door, request, reply, taskOf(door, request));
    },
  );

  app.get<OfTask>(
    "/admin/assignments/:repo/tasks/:id/log",
    {
      schema: {
        tags,
        summary: "What happened to a task, from the first event on (SSE)",
        querystring: After,
        response: { 400: ErrorBody, ...ONE, 429: ErrorBody },
      },
    },
    async (request, reply) => {
      await administrator(door, request);
      const { repo, id } = taskOf(door, request);
      await readTask(ctx, repo, id);
      const since = sinceOf(request);
      return follow(door, request, reply, (signal) => told(followTask(ctx, repo, id, { signal, ...since })));
    },
  );
}

/** Returns the task that the path names, whether or not there is one. @throws {Refusal} */
function taskOf(door: DoorContext, request: FastifyRequest): { repo: string; id: string } {
  const { repo, id } = request.params as OfTask["Params"];
  return { repo: repoOf(door, repo).name, id: taskIdOf(id) };
}

async function wireOf(door: DoorContext, repo: string, id: string): Promise<WireTask> {
  return taskWire(await readTask(door.ctx, repo, id), door);
}

async function nameOf({ ctx }: DoorContext, by: Administrator): Promise<string> {
  if (by.kind !== "human") return by.id;
  return (await namePeople(ctx, [by.id])).get(by.id) ?? by.id;
}

/** Whoever is no admin any more hears nothing more. */
async function follow(
  door: DoorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  open: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
): Promise<FastifyReply> {
  const by = await administrator(door, request);
  using _place = door.parked.park("admin streams", by.id, door.config.limits.humanStreams);
  await sendEvents(door, request, reply, async function* (signal) {
    for await (const event of open(signal)) {
      const still = await administrator(door, request).catch(() => null);
      if (still?.id !== by.id) return;
      yield event;
    }
  });
  return reply;
}

async function* told<T extends Parameters<typeof taskEventWire>[0]>(
  news: AsyncIterable<News<T>>,
): AsyncGenerator<ServerSentEvent> {
  for await (const one of news) yield taskNews(one);
}

function repoWire(repo: AssignmentRules["repos"][number]): WireAssignmentReport["repos"][number] {
  const { name, agent, isDefault, parallel, startOn, onApprove, path } = repo;
  return {
    name,
    agent,
    isDefault,
    parallel,
    startDependentsOn: startOn,
    target: onApprove?.target ?? null,
    worker: path === null,
  };
}

function agentWire({ work }: DoorContext, name: string): WireAssignmentReport["agents"][number] {
  const { ready, why } = work?.readiness(name) ?? { ready: false, why: "this server runs no agents" };
  return { name, ready, ...(why !== null && { why }) };
}
