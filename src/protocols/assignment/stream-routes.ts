import { Readable } from "node:stream";
import type { TaskEvent } from "../../tasks/model/task.ts";
import { followBoard, followTask, readTaskLog, type News } from "../../tasks/follow.ts";
import { readTask } from "../../tasks/read.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import { sendToAdmin } from "../http/admin-stream.ts";
import { sendEvents, sinceOf, type ServerSentEvent } from "../http/sse.ts";
import { taskEventWire, taskNews } from "../http/task.ts";
import { taskIdOf } from "../http/task-input.ts";
import { callerOf, type AssignCaller } from "./caller.ts";
import { routeOptions } from "./request.ts";

interface OfTask {
  Params: { repo?: string; id: string };
}

/** Following tasks below one form of the endpoint (spec/assignment 11). */
export function streamRoutes(app: Door, door: DoorContext, endpoint: string): void {
  const { ctx, config } = door;

  app.get(
    `${endpoint}/events`,
    routeOptions("States and questions of all tasks (SSE)", { replies: { 200: "As text/event-stream" } }),
    async (http, reply) => {
      const { repo, by } = await callerOf(door, http);
      const since = sinceOf(http);
      return stream({ http, reply, by }, (signal) => taskEvents(followBoard(ctx, repo.name, { signal, ...since })));
    },
  );

  app.get<OfTask>(
    `${endpoint}/tasks/:id/log`,
    routeOptions("What happened to a task (SSE), or so far, as application/x-ndjson", {
      replies: { 200: "As text/event-stream, or as lines of JSON" },
    }),
    async (http, reply) => {
      const { repo, by } = await callerOf(door, http);
      const id = taskIdOf(http.params.id);
      await readTask(ctx, repo.name, id);
      const since = sinceOf(http);
      if (/\bapplication\/x-ndjson\b/.test(http.headers.accept ?? "")) {
        const lines = linesOf(readTaskLog(ctx, repo.name, id, since.since ?? 0));
        return reply.type("application/x-ndjson; charset=utf-8").send(Readable.from(lines));
      }
      return stream({ http, reply, by }, (signal) => taskEvents(followTask(ctx, repo.name, id, { signal, ...since })));
    },
  );

  async function stream(
    { http, reply, by }: { http: FastifyRequest; reply: FastifyReply; by: AssignCaller["by"] },
    open: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
  ): Promise<FastifyReply> {
    if (by.kind === "human") return sendToAdmin(door, { http, reply, by }, open);
    using _place = door.limiter.enter("streams", by.id, config.limits.streams);
    await sendEvents(door, http, reply, open);
    return reply;
  }
}

async function* taskEvents<T extends TaskEvent>(news: AsyncIterable<News<T>>): AsyncGenerator<ServerSentEvent> {
  for await (const one of news) yield taskNews(one);
}

async function* linesOf(events: AsyncIterable<TaskEvent>): AsyncGenerator<string> {
  for await (const event of events) yield `${JSON.stringify(taskEventWire(event))}\n`;
}
