import "./strict-replies.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import pg from "pg";
import { pino, type Logger } from "pino";
import type { Channel } from "../../src/channels/channel.ts";
import { loadConfig, type Config } from "../../src/config/config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { DATABASE_FILE } from "../../src/core/store/data-dir.ts";
import { startServer, type RunningServer } from "../../src/server/server.ts";
import type { Outside } from "../../src/server/outside.ts";
import { dropDatabase, freshDatabase, migratedDatabase, writeMigratedDatabase } from "./fresh-database.ts";
import { heldClock, NOON, type HeldClock } from "./held-clock.ts";

export const DATABASES = ["sqlite", "postgres"] as const;
export type DatabaseName = (typeof DATABASES)[number];
/**
 * For rules that no row can break, such as parsing, shapes of errors, headers and rendering: one database shows them.
 * Rules about transactions, locks, order, time and SQL are shown on each of `DATABASES`.
 */
export const ONE_DATABASE: readonly DatabaseName[] = ["sqlite"];

/**
 * Returns what declares a test of a suite that runs on each database, for a rule that no row can break: it is `it` on
 * one of them, and declares nothing on the others.
 */
export function onOneDatabase(on: DatabaseName): (name: string, run: () => Promise<void>) => unknown {
  // `it` itself, because Node names the file that calls it as the file of the test.
  return ONE_DATABASE.includes(on) ? it : () => undefined;
}

/** A reply as the tests look at it. */
export interface Reply {
  status: number;
  headers: Headers;
  /** The parsed body, or an empty object if there is no body. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  body: any;
  text: string;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** One server of a world. */
export interface Node {
  url: string;
  server: RunningServer;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
}

/** An agent in open mode, or with a key. */
export interface Agent {
  headers: Record<string, string>;
  /** Asks, with sensible defaults, and returns the question; the request must be accepted. */
  ask(question?: Record<string, unknown>, on?: Node): Promise<{ id: string; expiresAt: string }>;
  create(question?: Record<string, unknown>, options?: CallOptions & { on?: Node }): Promise<Reply>;
  poll(id: string, query?: string, on?: Node): Promise<Reply>;
  cancel(id: string, on?: Node): Promise<Reply>;
}

/** Somebody of the crowd, known by a fingerprint. */
export interface Person {
  headers: Record<string, string>;
  /** Answers with an option's number or a text. */
  answer(
    question: string | { id: string },
    answer: number | string,
    more?: Record<string, unknown>,
    on?: Node,
  ): Promise<Reply>;
  get(path: string, on?: Node): Promise<Reply>;
  post(path: string, body?: unknown, on?: Node): Promise<Reply>;
}

export interface World extends AsyncDisposable, Node {
  on: DatabaseName;
  clock: HeldClock;
  config: Config;
  agent(name: string): Agent;
  person(name: string): Person;
  people(count: number): Person[];
  /** Moves time for every node and for the database. */
  advance(ms: number): Promise<void>;
  /** Starts one more server on the same database (PostgreSQL only). */
  addNode(): Promise<Node>;
  /** Stops the first server and starts it again on the same data. */
  restart(outside?: Partial<Outside>): Promise<void>;
}

export interface WorldOptions {
  on: DatabaseName;
  /** Settings as environment variables, such as `PARLEY_ASK_A_HUMAN_POINTS_BONUSES`. */
  env?: Record<string, string>;
  /** The store that the world begins with; an empty one otherwise. */
  store?: StoreFiles;
  /** Where the clock stands at first. */
  at?: number;
  /** Time runs by itself, for clients that have a clock of their own; `advance` then does nothing. */
  running?: boolean;
  /** Ways to reach people beside those that are configured. */
  channels?: readonly Channel[];
  /** Where the servers log. */
  log?: Logger;
}

/** A store that some version has left: the bytes of its SQLite file, or SQL that makes it, and the key of what is sealed. */
export interface StoreFiles {
  sqlite: Buffer;
  postgres: string;
  installationKey: string;
}

/** Opens a world of its own: a database, a held clock, a server, real HTTP. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const clock = heldClock(options.at ?? NOON);
  const dataDir = mkdtempSync(join(tmpdir(), "parley-world-"));
  const { store } = options;
  const database =
    options.on === "postgres" ? await openDatabase(options.running ? null : clock, store?.postgres) : null;
  if (store) writeFileSync(join(dataDir, "installation.key"), store.installationKey, { mode: 0o600 });
  if (!database && store) writeFileSync(join(dataDir, DATABASE_FILE), store.sqlite, { mode: 0o600 });
  else if (!database) await writeMigratedDatabase(join(dataDir, DATABASE_FILE));
  const config = loadConfig({
    env: {
      HOME: dataDir,
      PARLEY_DATA_DIR: dataDir,
      PARLEY_PORT: "0",
      ...(database && { DATABASE_URL: database.url }),
      // The machine may be slow; tests of this wait set their own.
      PARLEY_DATABASE_WAIT_MS: "60000",
      // Everybody is on this computer here, and many tests need a crowd.
      PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "10000",
      PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "10000",
      // Tests of the undo set their own time for it.
      PARLEY_INBOX_UNDO_SECONDS: "0",
      ...options.env,
    },
  });
  const log = options.log ?? pino({ level: process.env["TEST_LOG_LEVEL"] ?? "fatal" });

  const start = async (outside: Partial<Outside> = {}): Promise<Node> => {
    const { channels = [], running } = options;
    const server = await startServer(config, {
      clock: running ? systemClock : clock,
      log,
      channels,
      // The agents of whoever runs the tests are nobody's here.
      env: { HOME: dataDir, ...options.env },
      ...outside,
    });
    const node: Node = {
      url: server.url,
      server,
      call: (method, path, callOptions) => call(`${server.url}${path}`, method, callOptions),
    };
    return node;
  };

  let first = await start();
  const nodes: Node[] = [];

  const world: World = {
    on: options.on,
    clock,
    config,
    get url() {
      return first.url;
    },
    get server() {
      return first.server;
    },
    call: (method, path, callOptions) => first.call(method, path, callOptions),
    agent: (name) => agentOf(() => first, { "x-agent-id": name }),
    person: (name) => personOf(() => first, { "x-fingerprint": `${name}-device` }),
    people: (count) => Array.from({ length: count }, (_, i) => world.person(`person-${i}`)),
    async advance(ms) {
      await database?.advance(ms);
      clock.advance(ms);
    },
    async addNode() {
      const node = await start();
      nodes.push(node);
      return node;
    },
    async restart(outside) {
      await first.server.stop();
      first = await start(outside);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([first, ...nodes].map((node) => node.server.stop()));
      await database?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return world;
}

/** Makes one request. A string or bytes are sent as they are; anything else as JSON. */
export async function call(url: string, method: string, options: CallOptions = {}): Promise<Reply> {
  const { body, headers, signal } = options;
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: "manual",
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: (raw ? body : JSON.stringify(body)) as BodyInit }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status: response.status, headers: response.headers, text, body: isJson && text ? JSON.parse(text) : {} };
}

export function agentOf(home: () => Node, headers: Record<string, string>): Agent {
  const agent: Agent = {
    headers,
    async ask(question = {}, on) {
      const reply = await agent.create(question, on ? { on } : {});
      if (reply.status !== 201) throw new Error(`the question was refused: ${reply.status} ${reply.text}`);
      return { id: reply.body.question_id, expiresAt: reply.body.expires_at };
    },
    create(question = {}, { on = home(), headers: more, ...rest } = {}) {
      const type = question["options"] ? "multiple_choice" : "text";
      const body = { prompt: "Which label is clearer?", type, ...question };
      return on.call("POST", "/agent/questions", { body, headers: { ...headers, ...more }, ...rest });
    },
    poll: (id, query = "", on = home()) => on.call("GET", `/agent/questions/${id}${query}`, { headers }),
    cancel: (id, on = home()) => on.call("DELETE", `/agent/questions/${id}`, { headers }),
  };
  return agent;
}

export function personOf(home: () => Node, headers: Record<string, string>): Person {
  return {
    headers,
    answer(question, answer, more = {}, on = home()) {
      const id = typeof question === "string" ? question : question.id;
      const given = typeof answer === "number" ? { selected_option: answer } : { answer };
      return on.call("POST", "/human/responses", { headers, body: { question_id: id, ...given, ...more } });
    },
    get: (path, on = home()) => on.call("GET", path, { headers }),
    post: (path, body, on = home()) => on.call("POST", path, { headers, ...(body !== undefined && { body }) }),
  };
}

/** A database of its own in the shared PostgreSQL, whose clock is the world's. */
async function openDatabase(
  clock: HeldClock | null,
  store?: string,
): Promise<{ url: string; advance(ms: number): Promise<void>; drop(): Promise<void> }> {
  const url = store === undefined ? await migratedDatabase() : await freshDatabase();
  const control = new pg.Client({ connectionString: url });
  await control.connect();
  if (store !== undefined) await control.query(store);
  if (clock) {
    await control.query(`
      CREATE TABLE held_clock (ms bigint NOT NULL);
      INSERT INTO held_clock VALUES (${clock.now()});
      CREATE OR REPLACE FUNCTION parley_now() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT ms FROM held_clock'`);
  }
  return {
    url,
    async advance(ms) {
      if (clock) await control.query(`UPDATE held_clock SET ms = ms + ${Math.trunc(ms)}`);
    },
    async drop() {
      await control.end();
      await dropDatabase(url);
    },
  };
}
