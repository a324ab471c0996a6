import { oncePer } from "../../lib/once-per.ts";
import { followJob, type JobNews } from "../../asks/jobs/follow-job.ts";
import { readJob } from "../../asks/jobs/read-job.ts";
import { sendToAdmin } from "../http/admin-stream.ts";
import { administrator } from "../http/principals.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import { isStillGood, whenNoLongerGood } from "../http/held.ts";
import { beat, openEventStream, sinceOf } from "../http/sse.ts";
import { ADMIN, enter, isAdminView, jobIdOf, JOB_READERS, readerOf } from "./job-requests.ts";
import { withAliases } from "../../wire/aliases.ts";
import { answerWire, askWire, jobEventWire, jobWire } from "./print.ts";
import { routeOptions } from "./request.ts";

const RETRY = "retry: 2000\n\n";
/** A reader that has taken nothing for so long is dead. */
const IDLE_MS = 60_000;

/** Following a job (spec/relay 5). */
export function jobEvents(app: Door, door: DoorContext): void {
  app.get<{ Params: { id: string } }>(
    "/jobs/:id/events",
    routeOptions({ summary: "Follow a job (SSE)", replies: { 200: "Its events, as text/event-stream" } }),
    async (http, reply) => {
      if (isAdminView(http)) return followAsAdmin(door, http, reply);
      const caller = await enter(door, http, JOB_READERS);
      const { job } = await readJob(door.ctx, jobIdOf(http), readerOf(caller));
      const since = sinceOf(http);
      if (http.method === "HEAD") {
        return reply.header("x-accel-buffering", "no").type("text/event-stream; charset=utf-8").send();
      }
      using _place = door.limiter.enter("streams", caller.principal, door.config.limits.streams);
      const delivers = caller.scope === "executor" || caller.scope === "agent";
      await stream(door, http, reply, { id: job.id, ...since, delivers });
      return reply;
    },
  );
}

/** Follows a job for an admin: of an answer it says only whose it is and how it ended. */
export async function followAsAdmin(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const by = await administrator(door, http);
  const { job } = await readJob(door.ctx, jobIdOf(http), ADMIN);
  const since = sinceOf(http);
  return sendToAdmin(door, { http, reply, by }, async function* (signal) {
    for await (const news of followJob(door.ctx, job.id, { signal, ...since })) {
      const { seq, event, data } = jobEventWire(news);
      yield { event, id: String(seq), data: JSON.stringify(data) };
    }
  });
}

async function stream(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
  { id, since, delivers }: { id: string; since?: number; delivers: boolean },
): Promise<void> {
  const { ctx } = door;
  const { gone, write, end } = openEventStream(reply, RETRY);
  let drainedAt = ctx.clock.monotonic();
  const beating = beat(door, gone, () => {
    const now = ctx.clock.monotonic();
    if (reply.raw.writableLength === 0) drainedAt = now;
    else if (now - drainedAt >= IDLE_MS) reply.raw.destroy();
    write(`: hb ${ctx.clock.now()}\n\n`);
  });
  using _watch = whenNoLongerGood(door, http, end);
  try {
    for await (const news of followJob(ctx, id, { signal: gone, delivers, holdsBack: true, since })) {
      if (!(await isStillGood(door, http))) break;
      write(textOf(news));
      if (gone.aborted) break;
    }
    if (ctx.stopping.aborted) write(RETRY);
  } catch (error) {
    ctx.log.warn({ err: error, requestId: http.id }, "a stream broke off");
  } finally {
    end();
    await beating;
  }
}

/** Returns an event's text: printed once for all whom one commit wakes. */
const textOf = oncePer(
  (news: JobNews) => `id: ${news.seq}\nevent: ${nameOf(news)}\ndata: ${JSON.stringify(dataOf(news))}\n\n`,
);

function nameOf({ kind }: JobNews): "status" | "log" | "answer" {
  return kind === "log" || kind === "answer" ? kind : "status";
}

function dataOf(news: JobNews): Readonly<Record<string, unknown>> {
  switch (news.kind) {
    case "answer":
      return answerWire(news.answer);
    case "reset": {
      const snapshot = { job: jobWire(news.job), pending_asks: news.pending.map((ask) => askWire(ask)) };
      return withAliases({ ...news.body, reset: true, snapshot });
    }
    case "status":
    case "log":
    case "snapshot":
      return withAliases(news.body);
  }
}
