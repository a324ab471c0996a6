/** Poll, feed, answer and inbox with few and with many questions and requests in the store, in turns. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type Cell, type Figures, Measurements } from "../cells.ts";
import { Connection } from "../connection.ts";
import { fillPostgres, fillSqlite, storedQuestion } from "../fill.ts";
import { median, percentile, type Step } from "../load.ts";
import { openParleyLoad, type ParleyLoad } from "../parley-load.ts";
import { openDatabase, type Database } from "../peers/postgres.ts";
import { createKey, runCommand, startParley, together, type Started } from "../servers.ts";
import { fillPostgresRequests, fillSqliteRequests } from "./fill-requests.ts";

export interface StoreSize {
  questions: number;
  requests: number;
}

export interface StoreRatio {
  engine: string;
  work: string;
  /** The time of processor for one, of server and database, in microseconds. */
  fewUs: number;
  manyUs: number;
  /** The ratio of these medians, and of the medians of the time that a client waits. */
  cpu: number;
  wall: number;
}

export interface StoresPlan {
  folder: string;
  few: StoreSize;
  many: StoreSize;
  rounds: number;
  times: { warmMs: number; ms: number };
  say: (line: string) => void;
}

const CLIENTS = 8;
const OPEN = 200;
const WORK = ["poll", "feed", "inbox", "answer"] as const;

interface Scene {
  server: Started;
  size: StoreSize;
  load: ParleyLoad;
  inbox: Step;
  close(): Promise<void>;
}

/** Fills a small and a large store, and measures both in turns. */
export async function measureStores(plan: StoresPlan, onPostgres: boolean): Promise<StoreRatio[]> {
  const engine = onPostgres ? "PostgreSQL" : "SQLite";
  const database = onPostgres ? await openDatabase() : null;
  const scenes: Scene[] = [];
  try {
    for (const [name, size] of Object.entries({ few: plan.few, many: plan.many })) {
      scenes.push(await openScene(plan, `${engine}-${name}`.toLowerCase(), size, database));
      plan.say(`${engine}: ${size.questions.toLocaleString("en")} questions are in the store`);
    }
    const figures = new Measurements(plan.times, plan.say);
    const [few, many] = scenes;
    if (!few || !many) throw new Error("there are two stores");
    const cells = (works: readonly string[]) => works.flatMap((work) => [cellOf(few, work, 0), cellOf(many, work, 1)]);
    // Reading first: an answer needs questions that are asked, and the feed lists whatever is open.
    await figures.interleave(plan.rounds, cells(WORK.slice(0, 3)));
    await figures.interleave(plan.rounds, cells(WORK.slice(3)));
    return WORK.map((work) =>
      ratioOf(engine, work, figures.of(`${work} 0`, CLIENTS), figures.of(`${work} 1`, CLIENTS)),
    );
  } finally {
    for (const scene of scenes) await scene.close();
    await database?.stop();
  }
}

function ratioOf(engine: string, work: string, few: Figures, many: Figures): StoreRatio {
  const [fewUs, manyUs] = [median(few.cpuUs), median(many.cpuUs)];
  const wall = percentile(many.latenciesMs, 0.5) / percentile(few.latenciesMs, 0.5);
  return { engine, work, fewUs, manyUs, cpu: manyUs / fewUs, wall };
}

function cellOf({ server, size, load, inbox }: Scene, work: string, which: number): Cell {
  const any = () => storedQuestion(Math.floor(Math.random() * size.questions));
  const step = { poll: load.pollOf(any), feed: load.feed, inbox, answer: load.answer }[work] ?? load.poll;
  return {
    name: `${work} ${which}`,
    clients: CLIENTS,
    server,
    step,
    ...(work === "answer" && { prepare: (expected: number) => load.refill(Math.ceil(expected / 4)) }),
  };
}

async function openScene(
  { folder }: StoresPlan,
  name: string,
  size: StoreSize,
  database: Database | null,
): Promise<Scene> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { mode: 0o700 });
  const databaseUrl = database && (await createDatabase(database.url, name.replaceAll("-", "_")));
  const at = { dataDir, ...(databaseUrl !== null && { databaseUrl }) };
  const { person, ...copied } = await askTwice(at);
  const filling = { ...copied, requests: size.requests, open: OPEN };
  const questions = { questions: size.questions, open: OPEN };
  if (databaseUrl === null) {
    fillSqlite(dataDir, questions);
    fillSqliteRequests(dataDir, filling);
  } else {
    await fillPostgres(databaseUrl, questions);
    await fillPostgresRequests(databaseUrl, filling);
  }
  const alone = await startParley(at);
  const load = await openParleyLoad(alone.url, CLIENTS);
  const people = Array.from({ length: CLIENTS }, () => new Connection(alone.url));
  return {
    server: database ? together(alone.url, [alone, { ...database, stop: async () => undefined }]) : alone,
    size,
    load,
    inbox: async (client) => {
      const reply = await people[client]?.send("GET", "/people/me/asks", `Authorization: Bearer ${person}\r\n`);
      if (reply?.status !== 200) throw new Error(`an inbox was answered with ${reply?.status}: ${reply?.body}`);
    },
    async close() {
      for (const connection of people) connection.close();
      load.close();
      await alone.stop();
    },
  };
}

async function createDatabase(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** Asks a person twice and lets them reject the second. Returns their key and both ids; the server is stopped then. */
async function askTwice(at: Parameters<typeof startParley>[0]) {
  runCommand(at, "people", "add", "Ana Ruiz");
  const [{ id }] = JSON.parse(runCommand(at, "people", "list", "--json")) as [{ id: string }];
  const person = createKey(at, "ana", "--scope", "answer", "--person", id);
  const agent = createKey(at, "shop-bot", "--scope", "agent");
  const server = await startParley(at);
  const send = async (key: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Record<string, unknown>;
  };
  const ask = async (callId: string): Promise<string> => {
    const kwargs = { order: "A-1007", amount: 49.9, reason: "arrived broken" };
    const spec = { fn: "issue_refund", kwargs, channel: { human: { id } } };
    const { status } = await send(agent, "/a2h/v1alpha1/function_calls", { run_id: "run_1", call_id: callId, spec });
    return (status as { ask_id: string }).ask_id;
  };
  try {
    const [openId, settledId] = [await ask("call_open"), await ask("call_over")];
    await send(person, `/people/me/asks/${settledId}/decision`, { approved: false });
    return { person, openId, settledId };
  } finally {
    await server.stop();
  }
}
