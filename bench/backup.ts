/**
 * Takes a backup while clients write, ends the server with SIGKILL, restores the backup, and looks for every write that
 * was acknowledged before the backup began, on both databases. Both commands end with the doctor's verdict. Prints a
 * table, and fails where a write is missing or differs, or where fewer than 500 a second are acknowledged.
 *
 *     npm run bench:backup            about two minutes, with 15 s of writes before each backup
 *     npm run bench:backup -- 60      so many seconds
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { format } from "prettier";
import { freshDatabase } from "../test/support/fresh-database.ts";
import { Connection } from "./connection.ts";
import { lookAtMachine } from "./machine.ts";
import { QUESTION } from "./parley-load.ts";
import { startParley } from "./servers.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const CLIENTS = 16;
const LEAST_PER_SECOND = 500;
/** The first seconds, in which the server compiles what it runs most, do not count. */
const WARM_MS = 3_000;
const AFTER_MS = 1_000;

interface Written {
  id: string;
  prompt: string;
  acknowledgedAt: number;
}

interface Writers {
  /** Every acknowledged write, in the order of the replies. */
  readonly written: readonly Written[];
  /** How many were acknowledged a second between two moments. */
  rate(from: number, until: number): number;
  /** From now on a lost connection is no failure, because the server is about to be killed. */
  expectEnd(): void;
  /** Resolves once every client has lost its connection. @throws where one lost it too early, or was refused */
  over(): Promise<void>;
}

interface Place {
  dataDir: string;
  databaseUrl?: string;
}

interface Figures {
  engine: string;
  before: number;
  during: number;
  seconds: number;
  mebibytes: number;
  acknowledgedBefore: number;
  missing: number;
  /** Rows of the restored store that are not, word for word, what a client sent. */
  torn: number;
  /** Acknowledged writes that the killed server's own store lacks. */
  lostByKill: number;
}

const stretchMs = Number(process.argv[2] ?? 15) * 1000;
const folder = mkdtempSync(join(tmpdir(), "parley-backup-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const machine = lookAtMachine(folder);
const sqlite = await measure("SQLite", place("sqlite"), place("sqlite-restored"));
const postgres = await measure(
  "PostgreSQL",
  place("postgres", await freshDatabase()),
  place("postgres-restored", await freshDatabase()),
);
await report([sqlite, postgres]);
// A PostgreSQL of this process ends with it.
process.exit(process.exitCode);

function place(name: string, databaseUrl?: string): Place {
  return { dataDir: join(folder, name), ...(databaseUrl !== undefined && { databaseUrl }) };
}

async function measure(engine: string, from: Place, to: Place): Promise<Figures> {
  const file = join(folder, `${engine}.jsonl`);
  const server = await startParley(from);
  const writers = write(server.url);
  await sleep(WARM_MS);
  const calmFrom = performance.now();
  await sleep(stretchMs);
  const begun = performance.now();
  await run(["backup", file], from);
  const done = performance.now();
  await sleep(AFTER_MS);
  writers.expectEnd();
  await server.kill();
  await writers.over();

  await run(["restore", file], to);
  const restored = await readQuestions(to);
  const killed = await readQuestions(from);
  const owed = writers.written.filter(({ acknowledgedAt }) => acknowledgedAt <= begun);
  return {
    engine,
    before: writers.rate(calmFrom, begun),
    during: writers.rate(begun, done),
    seconds: (done - begun) / 1000,
    mebibytes: statSync(file).size / 2 ** 20,
    acknowledgedBefore: owed.length,
    missing: owed.filter(({ id }) => !restored.has(id)).length,
    torn: countTorn(restored, writers.written),
    lostByKill: writers.written.filter(({ id, prompt }) => killed.get(id) !== prompt).length,
  };
}

/** A row whose writer was never answered was sent by this run all the same: its prompt has the form of the others. */
function countTorn(restored: ReadonlyMap<string, string>, written: readonly Written[]): number {
  const sent = new Map(written.map(({ id, prompt }) => [id, prompt]));
  const isWhole = (id: string, prompt: string) =>
    sent.has(id)
      ? sent.get(id) === prompt
      : /^Question \d+ of client \d+\. /.test(prompt) && prompt.endsWith(QUESTION.prompt);
  return [...restored].filter(([id, prompt]) => !isWhole(id, prompt)).length;
}

/** Each client creates a question, waits for the reply, and creates the next, until the server is gone. */
function write(url: string): Writers {
  const written: Written[] = [];
  let mayEnd = false;
  async function client(number: number): Promise<void> {
    const connection = new Connection(url);
    for (let i = 0; ; i += 1) {
      const prompt = `Question ${i} of client ${number}. ${QUESTION.prompt}`;
      const body = JSON.stringify({ ...QUESTION, prompt, min_responses: 5 });
      const agent = `X-Agent-Id: bench-${number}-${Math.floor(i / 20)}\r\n`;
      const reply = await connection.send("POST", "/agent/questions", agent, body).catch((error: unknown) => {
        if (mayEnd) return null;
        throw error;
      });
      if (reply === null) return;
      if (reply.status !== 201) throw new Error(`a write was refused: ${reply.status} ${reply.body}`);
      const { question_id: id } = JSON.parse(reply.body) as { question_id: string };
      written.push({ id, prompt, acknowledgedAt: performance.now() });
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
  // `over` tells of it.
  clients.catch(() => undefined);
  return {
    written,
    rate: (from, until) =>
      written.filter(({ acknowledgedAt: at }) => at > from && at <= until).length / ((until - from) / 1000),
    expectEnd: () => void (mayEnd = true),
    over: () => clients.then(() => undefined),
  };
}

/** Runs a command to its end, as a process of its own. @throws where it fails, or the doctor finds something broken */
async function run(args: readonly string[], { dataDir, databaseUrl }: Place): Promise<void> {
  const child = spawn(process.execPath, [MAIN, ...args, "--data-dir", dataDir], {
    env: { PATH: process.env["PATH"], HOME: folder, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`parley ${args[0]} ended with ${code}: ${said}`);
}

/** Returns the prompt of every question that is stored, by its id. */
async function readQuestions({ dataDir, databaseUrl }: Place): Promise<Map<string, string>> {
  const sql = "SELECT ask_id, prompt FROM questions WHERE asker LIKE '%bench-%'";
  type Row = { ask_id: string; prompt: string };
  const mapOf = (rows: readonly Row[]) => new Map(rows.map(({ ask_id, prompt }) => [ask_id, prompt]));
  if (databaseUrl !== undefined) {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return mapOf((await client.query<Row>(sql)).rows);
    } finally {
      await client.end();
    }
  }
  const database = new DatabaseSync(join(dataDir, "parley.db"));
  try {
    return mapOf(database.prepare(sql).all() as unknown as Row[]);
  } finally {
    database.close();
  }
}

async function report(all: readonly Figures[]): Promise<void> {
  const head = [
    "| | writes a second before | during the backup | during / before | backup, s | MiB | acknowledged before it began | of these missing | torn | lost by the kill |",
    "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
  ];
  const rows = all.map((one) => {
    const counts = [one.acknowledgedBefore, one.missing, one.torn, one.lostByKill].map((n) => n.toLocaleString("en"));
    const rates = [one.before, one.during].map((n) => Math.round(n).toLocaleString("en"));
    const sizes = [(one.during / one.before).toFixed(2), one.seconds.toFixed(1), one.mebibytes.toFixed(1)];
    return `| ${[one.engine, ...rates, ...sizes, ...counts].join(" | ")} |`;
  });
  console.log(await format([...head, ...rows].join("\n"), { parser: "markdown" }));
  console.log(`${machine.date}. ${machine.describes} The machine was ${machine.load()}.`);
  const isGood = (one: Figures) =>
    one.missing + one.torn + one.lostByKill === 0 &&
    one.acknowledgedBefore > 0 &&
    Math.min(one.before, one.during) >= LEAST_PER_SECOND;
  if (all.every(isGood)) return;
  console.log(`Wanted: nothing missing, torn or lost, and at least ${LEAST_PER_SECOND} writes a second throughout.`);
  process.exitCode = 1;
}
