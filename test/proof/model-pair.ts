import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import { readEvents } from "../../sdk/src/sse.ts";
import { expireDueQuestions } from "../../src/questions/loops/expire.ts";
import { sweep } from "../../src/server/loops/sweep.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { DATABASES, openWorld, type Reply, type World } from "../support/world.ts";
import { ANY } from "./model-people.ts";
import type { Expected } from "./model-rules.ts";

/** A request in which names such as `{q3}`, `{cursor}` and `{token:bo}` stand for what a server gave away. */
export interface Request {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** One server of the two, and what its names stand for. */
interface Side {
  world: World;
  names: Map<string, string>;
  ids: Map<string, string>;
  /** Moves both clocks while everything sleeps on, as if the loops were dead. */
  step(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A reply, with our names in it. */
interface Seen {
  status: number;
  body: unknown;
  headers: Record<string, string>;
  /** Every other header but those that must differ. */
  rest: Record<string, string>;
}

/** The same server on both databases. */
export interface Pair extends AsyncDisposable {
  readonly now: number;
  /** Makes the request of both and holds the replies against the model's and against each other. @throws {Mismatch} */
  exchange(request: Request, expected: Expected, from?: string): Promise<void>;
  /** Lets time pass on both; asleep, no loop hears of it. */
  advance(ms: number, asleep: boolean): Promise<void>;
  /** Whatever is due or outlived is settled or gone, on both. */
  sweep(): Promise<void>;
  restart(): Promise<void>;
  /** Reads an agent's stream from its beginning. @throws {Mismatch} when it does not hold so many events */
  stream(agent: string, count: number): Promise<{ id: number; body: Record<string, unknown> }[][]>;
  /** Returns the promises that `parley doctor` finds broken. */
  examine(): Promise<string[]>;
}

/** The servers answered something else than the model, or than each other. */
export class Mismatch extends Error {}

const COMPARED = [
  "location",
  "retry-after",
  "idempotency-replayed",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-participant-token",
];
const DIFFERENT = ["date", "x-request-id", "set-cookie", "content-length", "keep-alive", "connection"];
const ID = /\b[qr]_[0-9A-Za-z]{22}\b/g;
const NAME = /\{[\w:-]+\}/g;

export async function openPair(env: Record<string, string>): Promise<Pair> {
  const sides = await Promise.all(DATABASES.map(async (on) => openSide(await openWorld({ on, env }))));
  const each = <T>(use: (side: Side) => Promise<T>): Promise<T[]> => Promise.all(sides.map(use));

  return {
    get now() {
      return sides[0]?.world.clock.now() ?? 0;
    },
    async exchange(request, expected, from) {
      const seen = await each(async (side) => {
        const reply = await call(side, request);
        learn(side, reply, expected, from);
        return read(side, reply, request, expected);
      });
      const wanted = { status: expected.status, body: expected.body, headers: comparable(expected.headers, request) };
      seen.forEach(({ rest: _, ...one }, i) => {
        if (!isDeepStrictEqual(one, wanted)) throw new Mismatch(differenceOf(DATABASES[i] ?? "", one, wanted));
      });
      const [one, other] = seen.map(({ rest }) => rest);
      if (!isDeepStrictEqual(one, other)) {
        throw new Mismatch(`sqlite sent the headers ${say(one)}, and postgres ${say(other)}`);
      }
    },
    async advance(ms, asleep) {
      await each((side) => (asleep ? side.step(ms) : side.world.advance(ms)));
    },
    async sweep() {
      const { signal } = new AbortController();
      await each(async ({ world: { server } }) => {
        while (await expireDueQuestions(server.ctx, signal));
        while (await sweep(server.ctx));
      });
    },
    async restart() {
      await each((side) => side.world.restart());
    },
    stream: (agent, count) => each((side) => readStream(side, agent, count)),
    async examine() {
      const found = await each(async ({ world }) => {
        const findings = await examineStore(world.server.ctx, { quick: false });
        const broken = findings.filter(({ offenders }) => offenders.length > 0);
        return broken.map(
          ({ check, promise, offenders }) => `${world.on}: doctor: ${check}: not so that ${promise}: ${offenders}`,
        );
      });
      return found.flat();
    },
    async [Symbol.asyncDispose]() {
      await each((side) => side.close());
    },
  };
}

async function openSide(world: World): Promise<Side> {
  const { databaseUrl } = world.config;
  const control = databaseUrl === undefined ? null : new pg.Client({ connectionString: databaseUrl });
  await control?.connect();
  let asleepMs = 0;
  const { monotonic } = world.clock;
  world.clock.monotonic = () => monotonic() + asleepMs;
  return {
    world,
    names: new Map(),
    ids: new Map(),
    async step(ms) {
      await control?.query(`UPDATE held_clock SET ms = ms + ${Math.trunc(ms)}`);
      world.clock.oversleep(ms);
      asleepMs += ms;
    },
    async close() {
      await control?.end();
      await world[Symbol.asyncDispose]();
    },
  };
}

function call(side: Side, { method, path, headers, body }: Request): Promise<Reply> {
  const fill = (text: string) => text.replaceAll(NAME, (name) => side.names.get(name) ?? name);
  const filled = Object.entries(headers ?? {}).map(([name, value]) => [name, fill(value)]);
  return side.world.call(method, fill(path), {
    headers: Object.fromEntries(filled) as Record<string, string>,
    ...(body !== undefined && { body: fill(JSON.stringify(body)) }),
  });
}

/** Notes what the reply gives away: the id that the model expects of it, a cursor, a credential. */
function learn(side: Side, reply: Reply, { made }: Expected, from?: string): void {
  const { question_id, response_id, next_cursor } = reply.body;
  const id: unknown = made?.startsWith("{q") ? question_id : response_id;
  if (made !== undefined && typeof id === "string" && !side.ids.has(id)) {
    side.ids.set(id, made);
    side.names.set(made, id);
  }
  if (typeof next_cursor === "string") side.names.set("{cursor}", next_cursor);
  const token = reply.headers.get("x-participant-token");
  if (token !== null && from !== undefined) side.names.set(`{token:${from}}`, token);
}

function read(side: Side, reply: Reply, request: Request, expected: Expected): Seen {
  const text = reply.text.replaceAll(ID, (id) => side.ids.get(id) ?? id);
  const body: unknown = reply.text === "" ? {} : (JSON.parse(text) as unknown);
  const headers = Object.fromEntries(reply.headers) as Record<string, string>;
  const location = headers["location"]?.replaceAll(ID, (id) => side.ids.get(id) ?? id);
  const token = headers["x-participant-token"] && "<token>";
  const ours = { ...headers, ...(location && { location }), ...(token && { "x-participant-token": token }) };
  const rest = Object.entries(headers).filter(([name]) => !COMPARED.includes(name) && !DIFFERENT.includes(name));
  return {
    status: reply.status,
    body: comparableBody(inAnyOrder(body, request), expected.body),
    headers: comparable(ours, request),
    rest: Object.fromEntries(rest),
  };
}

/**
 * Returns the headers that are compared. Limits on writes are exact. Limits on reads are counted in memory and may be a
 * second behind, so that only their size is certain. Other routes have no limits.
 */
function comparable(headers: Readonly<Record<string, string>>, { method }: Request): Record<string, string> {
  const open = { GET: /^x-ratelimit-re/, DELETE: /^x-ratelimit/ }[method];
  const names = COMPARED.filter((name) => headers[name] !== undefined && !open?.test(name));
  return Object.fromEntries(names.map((name) => [name, headers[name] ?? ""]));
}

/** Leaves out what the contract leaves open: the feed's order, cursors, and wherever the model says so. */
function comparableBody(body: unknown, expected: unknown): unknown {
  if (expected === ANY) return ANY;
  if (typeof body !== "object" || body === null || typeof expected !== "object" || expected === null) return body;
  if (Array.isArray(body)) return body.map((item, i) => comparableBody(item, (expected as unknown[])[i]));
  const wanted = expected as Record<string, unknown>;
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
    if (name === "next_cursor" && typeof value === "string") return [name, "{cursor}"];
    return [name, comparableBody(value, wanted[name])];
  });
  const isOpen = wanted["message"] === ANY && wanted["details"] === undefined;
  return Object.fromEntries(entries.filter(([name]) => !(isOpen && name === "details")));
}

/** People are shown equals in different orders. */
function inAnyOrder(body: unknown, { path }: Request): unknown {
  if (!/^\/human\/questions(\?|$)/.test(path)) return body;
  const { questions = [], ...rest } = body as { questions?: { question_id: string }[] };
  return { ...rest, questions: questions.toSorted((one, other) => (one.question_id < other.question_id ? -1 : 1)) };
}

async function readStream({ world, ids }: Side, agent: string, count: number) {
  const closing = new AbortController();
  const headers = { "x-agent-id": agent, "last-event-id": "0" };
  const response = await fetch(`${world.url}/agent/questions/events`, { headers, signal: closing.signal });
  const events: { id: number; body: Record<string, unknown> }[] = [];
  const reading = (async () => {
    if (!response.body) return;
    for await (const { event, id, data } of readEvents(response.body)) {
      if (event === "message") continue;
      const text = data.replaceAll(ID, (one) => ids.get(one) ?? one);
      events.push({ id: Number(id), body: JSON.parse(text) as Record<string, unknown> });
    }
  })().catch(() => undefined);

  const until = performance.now() + 5000;
  while (events.length < count && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 2));
  // One that should not be there would have come in the same breath.
  await world.call("GET", "/agent/questions", { headers });
  closing.abort();
  await reading;
  if (events.length !== count) {
    throw new Mismatch(
      `${world.on}: the stream of ${agent} holds ${events.length} events, and ${count} things happened`,
    );
  }
  return events;
}

function differenceOf(on: string, seen: object, wanted: object): string {
  return `${on} said ${say(seen)}\n    and should have said ${say(wanted)}`;
}

const say = (value: unknown): string => JSON.stringify(value);
