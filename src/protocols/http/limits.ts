import type { FastifyInstance, FastifyReply } from "fastify";
import type { LimitReading } from "../../core/limits.ts";

/**
 * Puts the limit headers on every reply whose caller is known: of the route's own bucket, or of the one that tripped
 * (spec/ask-a-human 1.4).
 */
export function tellLimits(app: FastifyInstance): void {
  app.addHook("onSend", async (http, reply, payload) => {
    // point: before-reply
    const { limit, peekLimit } = http.facts;
    // A reply about a store that is away must not wait for it.
    const reading = limit ?? (reply.statusCode >= 500 ? undefined : await peekLimit?.().catch(() => undefined));
    if (reading) setLimitHeaders(reply, reading);
    return payload;
  });
}

/** Puts the limit headers on a reply. */
export function setLimitHeaders(reply: FastifyReply, reading: LimitReading): void {
  reply
    .header("x-ratelimit-limit", reading.limit)
    .header("x-ratelimit-remaining", reading.remaining)
    .header("x-ratelimit-reset", Math.ceil(reading.resetsAt / 1000));
}
