import type { AssignmentRules } from "../../../tasks/model/rules.ts";
import { followBoards } from "../../../tasks/follow.ts";
import { readTask, readTasks } from "../../../tasks/read.ts";
import { retryTask } from "../../../tasks/submit.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import { sendToAdmin } from "../../http/admin-stream.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { taskEventWire, taskWire } from "../../http/task.ts";
import { repoOf, taskIdOf } from "../../http/task-input.ts";
import { WireAdminTask, WireAssignmentReport } from "../../../wire/tasks/task.ts";
import { ADMIN_REFUSALS } from "./access-routes.ts";
import { ErrorBody } from "../../../wire/error.ts";

const tags = ["administration"];

/**
 * Tasks of coding agents, as only the console needs them. All else of a task an admin has at the door
 * (`protocols/assignment/`), under their session. `:repo` is a repository's name, `:id` a task's, percent-encoded.
 *
 *     GET    /admin/assignments                          all repositories and their tasks
 *     GET    /admin/assignments/events                   SSE, live only: `state` and `question` of every task, with `repo`
 *     POST   /admin/assignments/:repo/tasks/:id/retry    -> 202 the task, of one that failed, was canceled or rejected
 */
export function adminTaskRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    boardRoutes(app, door);
    retryRoute(app, door);
  };
}

/** The board of all repositories. */
function boardRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/assignments",
    {
      schema: {
        tags,
        summary: "Repositories, agents, and all their tasks",
        response: { 200: jsonReply(WireAssignmentReport), ...ADMIN_REFUSALS },
      },
    },
    async (http): Promise<WireAssignmentReport> => {
      await administrator(door, http);
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
    async (http, reply) => {
      const by = await administrator(door, http);
      const names = ctx.assignment.repos.map(({ name }) => name);
      return sendToAdmin(door, { http, reply, by }, async function* (signal) {
        for await (const { repo, ...event } of followBoards(ctx, names, signal)) {
          yield { event: event.type, data: JSON.stringify({ ...taskEventWire(event), repo }) };
        }
      });
    },
  );
}

/** Trying a task again as it was submitted; over the protocol its sender submits it anew. */
function retryRoute(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post<{ Params: { repo: string; id: string } }>(
    "/admin/assignments/:repo/tasks/:id/retry",
    {
      schema: {
        tags,
        summary: "Try a task again that ended without a result",
        response: {
          202: jsonReply(WireAdminTask),
          400: ErrorBody,
          ...ADMIN_REFUSALS,
          404: ErrorBody,
          409: ErrorBody,
        },
      },
    },
    async (http, reply) => {
      const by = await administrator(door, http);
      const task = { repo: repoOf(door, http.params.repo).name, id: taskIdOf(http.params.id) };
      await retryTask(ctx, task, { by, principal: by.id });
      const wire: WireAdminTask = taskWire(await readTask(ctx, task.repo, task.id), door);
      return reply.code(202).send(wire);
    },
  );
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
