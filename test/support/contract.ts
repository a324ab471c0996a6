import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openWorld, type Reply, type World, type WorldOptions } from "./world.ts";

/** Limits that tests of other rules never meet. */
export const ROOMY = {
  PARLEY_ASK_A_HUMAN_LIMITS_HUMAN_READS_PER_HOUR: "100000",
  PARLEY_ASK_A_HUMAN_LIMITS_AGENT_READS_PER_HOUR: "100000",
  PARLEY_ASK_A_HUMAN_LIMITS_ANSWERS_PER_HOUR: "100000",
  PARLEY_LIMITS_PUSH_REGISTRATIONS_PER_HOUR: "100000",
  PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "100000",
  PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "100000",
} as const;

/**
 * A server that strangers can reach, behind a proxy on this computer. A client named by X-Forwarded-For is a stranger.
 */
export const IN_PUBLIC = {
  PARLEY_HOST: "0.0.0.0",
  PARLEY_OPEN: "true",
  PARLEY_CROWD_PUBLIC: "true",
  PARLEY_TRUSTED_PROXIES: "127.0.0.1",
} as const;

export const LABELS = ["Send", "Submit"];
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** One world for a whole `describe`: its tests keep apart by their names. */
export function sharedWorld(options: WorldOptions): () => World {
  let world: World;
  before(async () => {
    world = await openWorld(options);
  });
  after(() => world[Symbol.asyncDispose]());
  return () => world;
}

let names = 0;
/** A name nobody else in this file has. */
export const fresh = (name: string): string => `${name}-${(names += 1)}`;

/** Returns the header by which the trusted proxy of `IN_PUBLIC` names a client's address. */
export const from = (address: string): Record<string, string> => ({ "x-forwarded-for": address });

/** Checks the headers of every JSON reply. */
export function assertCommonHeaders(reply: Reply): void {
  assert.equal(reply.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(reply.headers.get("cache-control"), "no-store");
  assert.match(reply.headers.get("x-request-id") ?? "", /^\S{8,}$/);
}

/** The reply is this refusal, word for word, and nothing else. */
export function assertRefused(
  reply: Reply,
  status: number,
  error: { code: string; message: string; details?: Record<string, unknown> },
): void {
  assert.deepEqual([reply.status, reply.body], [status, { error }]);
  assertCommonHeaders(reply);
}

/** The reply is a 400 for these reasons. */
export function assertInvalid(reply: Reply, message: string | null, details: Record<string, unknown>): void {
  const { error } = reply.body;
  assertRefused(reply, 400, { code: "VALIDATION_ERROR", message: message ?? error?.message, details });
}

export const NOT_FOUND = "The requested question does not exist or has expired.";

export function assertUnknownQuestion(reply: Reply, id: string): void {
  const details = { question_id: id };
  assertRefused(reply, 404, { code: "QUESTION_NOT_FOUND", message: NOT_FOUND, details });
}

/** Returns the values of the limit headers as numbers; NaN if one is missing or is not a plain integer. */
export function limitsOf(reply: Reply): { limit: number; remaining: number; reset: number; retryAfter: number } {
  const read = (name: string) => {
    const text = reply.headers.get(name);
    return text !== null && /^\d+$/.test(text) ? Number(text) : Number.NaN;
  };
  return {
    limit: read("x-ratelimit-limit"),
    remaining: read("x-ratelimit-remaining"),
    reset: read("x-ratelimit-reset"),
    retryAfter: read("retry-after"),
  };
}

/** The reply is a 429 of this bucket, with headers and body that say the same. */
export function assertLimited(reply: Reply, limit: number, retryAfter: number): void {
  assertRefused(reply, 429, {
    code: "RATE_LIMITED",
    message: "Too many requests.",
    details: { limit, window_seconds: 3600, retry_after: retryAfter },
  });
  const told = limitsOf(reply);
  assert.deepEqual([told.limit, told.remaining, told.retryAfter], [limit, 0, retryAfter]);
}

/** The store's present second, as it stands in replies. */
export function wireNow(world: World, afterMs = 0): string {
  return `${new Date(world.clock.now() + afterMs).toISOString().slice(0, 19)}Z`;
}

/** How long a test waits for what must come; it costs nothing where that comes, and a machine that is busy is waited for. */
const WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 10;

type Missing = undefined | null | false;

/** Looks until there is something, and returns it: tests wait by no other loop, and for no time. */
export async function until<T>(
  look: () => T | Missing | Promise<T | Missing>,
  what = "what was waited for",
  withinMs = WITHIN_MS,
): Promise<T> {
  for (const end = performance.now() + withinMs; ;) {
    const found = await look();
    if (found) return found;
    assert.ok(performance.now() < end, `never came: ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/**
 * Moves the world's time on, step by step, until something holds. Real time passes too, for the waits that this wakes.
 */
export async function advanceUntil(
  world: Pick<World, "advance">,
  stepMs: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  await until(async () => (await holds()) || void (await world.advance(stepMs)));
}

/** Resolves when so many have begun, at this moment of the held clock, to sleep for so long. */
export async function begun(world: Pick<World, "clock">, ms: number, count = 1): Promise<void> {
  await until(() => world.clock.begun(ms) >= count, `${count} waits of ${ms} ms`);
}

/** Whether the work goes on, asleep for so long on the held clock; false once it is over. */
export async function isHeldFor(world: Pick<World, "clock">, ms: number, work: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  const end = () => (isOver = true);
  work.then(end, end);
  await until(() => isOver || world.clock.isAwaited(ms), `a wait of ${ms} ms`);
  return !isOver;
}

/** Returns what comes of this; fails with these words where nothing does. */
export async function within<T>(work: Promise<T>, otherwise: string): Promise<T> {
  const over = new AbortController();
  const late = sleep(WITHIN_MS, undefined, { signal: over.signal, ref: false }).then(() => assert.fail(otherwise));
  return Promise.race([work, late]).finally(() => over.abort());
}

export interface RawReply {
  status: number;
  headers: Map<string, string>;
  text: string;
}

/**
 * Sends these bytes over a socket of their own and returns what came back before the server closed; with `waitMs`, what
 * came back until then.
 */
export async function sendRaw(url: string, bytes: string | Uint8Array, waitMs?: number): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.setEncoding("utf8").on("data", (part: string) => (text += part));
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(bytes);
  await (waitMs === undefined
    ? within(closed, `the server did not close after ${text}`)
    : Promise.race([closed, sleep(waitMs)]));
  socket.destroy();
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [start = "", ...lines] = head.split("\r\n");
  const headers = new Map(
    lines.map((line) => [line.split(":")[0]?.toLowerCase() ?? "", line.replace(/^[^:]*:\s*/, "")]),
  );
  return { status: Number(start.split(" ")[1]), headers, text: rest.join("\r\n\r\n") };
}

export interface StreamEvent {
  event?: string;
  id?: string;
  data?: string;
  retry?: string;
  comment?: string;
}

export interface OpenStream {
  status: number;
  headers: Headers;
  /** The next block of the stream, or nothing when it has ended. Fails when none comes. */
  next(): Promise<StreamEvent | undefined>;
  /** The next block that is an event, its data parsed; nothing when the stream has ended. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read data of every shape
  nextEvent(): Promise<{ event: string; id: string | undefined; data: any } | undefined>;
  close(): void;
}

/** Opens an event stream. */
export async function openStream(url: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  const stop = new AbortController();
  const response = await fetch(url, { headers, signal: stop.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";

  async function next(): Promise<StreamEvent | undefined> {
    while (!text.includes("\n\n")) {
      const part = await within(reader?.read() ?? assert.fail("no stream"), "the stream was silent");
      if (part.done) return undefined;
      text += part.value;
    }
    const end = text.indexOf("\n\n");
    const block = text.slice(0, end);
    text = text.slice(end + 2);
    return Object.fromEntries(
      block.split("\n").map((line) => {
        const colon = line.indexOf(":");
        return [colon === 0 ? "comment" : line.slice(0, colon), line.slice(colon + 1).trimStart()];
      }),
    );
  }

  return {
    status: response.status,
    headers: response.headers,
    next,
    async nextEvent() {
      for (;;) {
        const block = await next();
        if (!block) return undefined;
        if (block.event !== undefined) {
          return { event: block.event, id: block.id, data: JSON.parse(block.data ?? "null") as unknown };
        }
      }
    },
    close: () => stop.abort(),
  };
}
