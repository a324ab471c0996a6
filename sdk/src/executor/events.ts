import { connect, type JobOptions, jobPath } from "./place.ts";
import type { JobEvent, JobState } from "./wire.ts";
import { platformFetch } from "../http.ts";
import { follow } from "../sse.ts";

/** A stream on which not even a heartbeat came for so long is dead. */
const SILENCE_MS = 60_000;
const OVER: readonly JobState[] = ["SUCCEEDED", "FAILED", "CANCELED", "EXPIRED"];

/**
 * Yields what happens to a job, each event once and in order, also across a server that goes away and comes back. Begins
 * with how the job is, or after the event `after` (0: with the first). Ends when the job has.
 *
 * @throws {ParleyError} `JOB_NOT_FOUND`, `UNAUTHORIZED`, or the signal's reason
 */
export async function* events(options: JobOptions & { after?: number } = {}): AsyncGenerator<JobEvent> {
  const { signal, after } = options;
  const fetch = options.fetch ?? platformFetch;
  const connection = connect({ ...options, fetch: async (...args) => endSilence(await fetch(...args)) });
  const path = `${jobPath(options)}/events${after === undefined ? "" : `?after=${after}`}`;
  for await (const { event, data, id } of follow(connection, path, { signal })) {
    const jobEvent = { id: Number(id), event, data: JSON.parse(data) as unknown } as JobEvent;
    yield jobEvent;
    if (jobEvent.event === "status" && OVER.includes(jobEvent.data.state)) return;
  }
}

/** Returns a reply whose body fails when nothing comes for too long. */
function endSilence(reply: Response): Response {
  if (!reply.ok || !reply.body) return reply;
  const reader = reply.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error("nothing came for a minute")), SILENCE_MS);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), silence]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        void reader.cancel().catch(() => {});
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, reply);
}
