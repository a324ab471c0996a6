import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { refuseFields } from "../../core/model/field-problem.ts";
import { runOfTask } from "../../requests/model/agent-note.ts";
import { Refusal } from "../../refusals.ts";
import { cancelTask } from "../../tasks/cancel.ts";
import { noteTaskAgent } from "../../tasks/note-agent.ts";
import { readTask, readTasks } from "../../tasks/read.ts";
import { reviewTask } from "../../tasks/review.ts";
import { submitTask } from "../../tasks/submit.ts";
import { goneSignal, type Door, type DoorContext, type FastifyReply, type FastifyRequest } from "../http/door.ts";
import { isTaskId, NewTaskBody, TaskNameBody, TaskReviewBody } from "../../wire/tasks/bodies.ts";
import { AgentNoteBody, WireAgentNotes } from "../../wire/agent-note.ts";
import { WireBoard, WireTask, WireTaskAskPage, WireWholeTask } from "../../wire/tasks/task.ts";
import { agentNotesBody } from "../http/agent-notes.ts";
import { queryText } from "../http/query.ts";
import { taskWire } from "../http/task.ts";
import { reviewInputOf, taskIdOf, taskInputOf } from "../http/task-input.ts";
import { sendDiff, taskAsksOf, wholeTaskOf } from "../http/work.ts";
import { callerOf, nameOfPerson } from "./caller.ts";
import { endpointOf } from "./host-form.ts";
import { bodyOf, hasBody, routeOptions } from "./request.ts";

const PROTOCOL_VERSION = "0.0.1";

interface OfTask {
  Params: { repo?: string; id: string };
}

/** Giving work, looking at it, and what people say of it, below one form of the endpoint (spec/assignment 2). */
export function taskRoutes(app: Door, door: DoorContext, endpoint: string): void {
  boardRoutes(app, door, endpoint);
  oneTaskRoutes(app, door, endpoint);
  noteRoute(app, door, endpoint);
}

/** The endpoint itself: giving work, the whole board, and cancelling a task that is named. */
function boardRoutes(app: Door, door: DoorContext, endpoint: string): void {
  const { ctx } = door;
  const serverName = ctx.assignment.serverName ?? `Parley on ${hostname()}`;

  app.post(
    endpoint,
    routeOptions("Give work to an agent; the same id again replaces it", {
      body: NewTaskBody,
      reply: WireTask,
      replies: { 202: "The task, in line" },
    }),
    async (http, reply) => {
      const { repo, by, credential } = await callerOf(door, http);
      const of = { repo: repo.name, principal: by.id, by, credential };
      const { task, replayed } = await submitTask(ctx, taskInputOf(door, http, bodyOf(http), of));
      if (replayed) reply.header("idempotency-replayed", "true");
      return reply
        .code(202)
        .header("location", `${endpointOf(http)}/tasks/${encodeURIComponent(task.id)}`)
        .send(await wireOf(door, repo.name, task.id));
    },
  );

  app.get(
    endpoint,
    routeOptions("What this server is, and its tasks, the oldest first", {
      reply: WireBoard,
      replies: { 200: "As asked", 304: "As you know it" },
    }),
    async (http, reply) => {
      const { repo } = await callerOf(door, http);
      const id = queryText(http.query, "id");
      const ids = id === undefined ? undefined : [id].filter(isTaskId);
      const { seq, tasks } = await readTasks(ctx, repo.name, ids);
      const wire = tasks.map((task) => taskWire(task, door));
      const board: WireBoard = { serverName, protocolVersion: PROTOCOL_VERSION, seq, tasks: wire };
      const body = JSON.stringify(board);
      const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
      reply.header("etag", etag);
      if (knows(http, etag)) return reply.code(304).send();
      return reply.type("application/json; charset=utf-8").send(body);
    },
  );

  app.delete(
    endpoint,
    routeOptions("Cancel a task, named by `?id=` or in the body", { body: TaskNameBody, reply: WireTask }),
    async (http, reply) => {
      const named = queryText(http.query, "id");
      return cancel(door, http, reply, () => named ?? idIn(http));
    },
  );
}

/** The notes of people to the agent that works on a task. */
function noteRoute(app: Door, door: DoorContext, endpoint: string): void {
  app.post<OfTask>(
    `${endpoint}/tasks/:id/notes`,
    routeOptions("Send a note to the agent at work; a person's key, or an admin's session", {
      body: AgentNoteBody,
      reply: WireAgentNotes,
    }),
    async (http) => {
      const { repo, person } = await callerOf(door, http);
      if (person === null) throw new Refusal("person_needed");
      const id = taskIdOf(http.params.id);
      const { text } = bodyOf(http);
      await noteTaskAgent(door.ctx, { repo: repo.name, id, person }, typeof text === "string" ? text : "");
      return { notes: await agentNotesBody(door.ctx, runOfTask(repo.name, id), person) };
    },
  );
}

/** One task, by its place below the endpoint. */
function oneTaskRoutes(app: Door, door: DoorContext, endpoint: string): void {
  app.get<OfTask>(
    `${endpoint}/tasks/:id`,
    routeOptions("A task, with its prompt, attempts, reviews and asks", { reply: WireWholeTask }),
    async (http) => {
      const { repo } = await callerOf(door, http);
      return wholeTaskOf(door, repo.name, taskIdOf(http.params.id));
    },
  );

  app.get<OfTask>(
    `${endpoint}/tasks/:id/asks`,
    routeOptions("What a task's agents asked, the oldest first; `cursor` is `next` of the page before", {
      reply: WireTaskAskPage,
    }),
    async (http) => {
      const { repo } = await callerOf(door, http);
      return taskAsksOf(door, http, { repo: repo.name, id: taskIdOf(http.params.id) });
    },
  );

  app.delete<OfTask>(
    `${endpoint}/tasks/:id`,
    routeOptions("Cancel a task", { reply: WireTask }),
    async (http, reply) => {
      return cancel(door, http, reply, () => http.params.id);
    },
  );

  app.get<OfTask>(
    `${endpoint}/tasks/:id/diff`,
    routeOptions("The work of an attempt, as a patch", { replies: { 200: "text/x-patch" } }),
    async (http, reply) => {
      const { repo } = await callerOf(door, http);
      return sendDiff(door, http, reply, { repo: repo.name, id: taskIdOf(http.params.id) });
    },
  );

  app.post<OfTask>(
    `${endpoint}/tasks/:id/review`,
    routeOptions("Approve work, reject it, or ask for changes; a person's key, or an admin's session", {
      body: TaskReviewBody,
      reply: WireTask,
    }),
    async (http) => {
      const { repo, person } = await callerOf(door, http);
      if (person === null) throw new Refusal("person_needed");
      const id = taskIdOf(http.params.id);
      const of = { repo: repo.name, id, person, name: await nameOfPerson(door, person) };
      await reviewTask(door.ctx, reviewInputOf(bodyOf(http), of));
      return wireOf(door, repo.name, id);
    },
  );
}

/** Replies with a task that is cancelled, once its last process is gone. */
async function cancel(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
  idGiven: () => unknown,
): Promise<FastifyReply> {
  const { repo, by, keyName } = await callerOf(door, http);
  const id = taskIdOf(idGiven());
  const who = { by, name: keyName ?? (await nameOfPerson(door, by.id)) };
  await cancelTask(door.ctx, { repo: repo.name, id }, who, goneSignal(reply));
  return reply.send(await wireOf(door, repo.name, id));
}

async function wireOf(door: DoorContext, repo: string, id: string): Promise<WireTask> {
  return taskWire(await readTask(door.ctx, repo, id), door);
}

function idIn(http: FastifyRequest): unknown {
  const { id } = hasBody(http) ? bodyOf(http) : {};
  if (id === undefined) throw refuseFields([{ message: "id is required", field: "id", constraint: "required" }]);
  return id;
}

function knows(http: FastifyRequest, etag: string): boolean {
  const given = http.headers["if-none-match"];
  return given !== undefined && given.split(",").some((one) => ["*", etag, `W/${etag}`].includes(one.trim()));
}
