/**
 * Measures Parley against a bare server on the same disk, at a fixed rate, and with a thousand and a million questions
 * in the store; on SQLite, and on PostgreSQL for scale. Writes RESULTS.md beside this file.
 *
 *     npm run bench                       the whole of it, about ten minutes
 *     npm run bench -- --quick            about two minutes, a tenth of the store, no file
 *     npm run bench -- --only small       parts: small, paced, stores, postgres; no file
 *     npm run bench -- --against REV      this tree beside another commit, in turns (`against.ts`); no file;
 *                                         --postgres on PostgreSQL
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { format } from "prettier";
import { startPostgres } from "../test/support/postgres.ts";
import { benchAgainst } from "./against.ts";
import { type Cell, Measurements } from "./cells.ts";
import { type Filling, fillPostgres, fillSqlite, storedQuestion } from "./fill.ts";
import { runPaced, type Step } from "./load.ts";
import { lookAtMachine } from "./machine.ts";
import { openBareLoad, openParleyLoad, type ParleyLoad } from "./parley-load.ts";
import { type Paced, reportOf, type Results, type StoresResult } from "./report.ts";
import { type Started, startBaseline, startParley } from "./servers.ts";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    against: { type: "string" },
    postgres: { type: "boolean", default: false },
  },
});
const { quick } = flags;
const PARTS = ["small", "paced", "stores", "postgres"] as const;
const parts = new Set(flags.only?.split(",") ?? PARTS);
/** Short turns, many of them: what else the machine does then falls on all alike. */
const PLAN = quick
  ? { times: { warmMs: 100, ms: 400 }, rounds: 3, postgresRounds: 2, pacedMs: 3000, many: 100_000 }
  : { times: { warmMs: 100, ms: 600 }, rounds: 11, postgresRounds: 7, pacedMs: 10_000, many: 1_000_000 };

const CLIENTS = [1, 16, 64] as const;
const MOST = 64;
const STORE_CLIENTS = 16;
const FEW = 1000;
const OPEN = 200;
const PACED = { perSecond: 500, warmMs: 1000, pollMs: 10, createMs: 20 };

const began = performance.now();
const say = (line: string) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`);
const RESULTS = new URL("./RESULTS.md", import.meta.url);
const directory = mkdtempSync(join(tmpdir(), "parley-bench-"));
const cleaners: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];

async function folder(name: string): Promise<string> {
  const path = join(directory, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** Starts a server that is stopped at the end, whatever happens. */
async function kept(starting: Promise<Started>): Promise<Started> {
  const server = await starting;
  cleaners.push(() => server.stop());
  return server;
}

async function keptLoad(server: Started): Promise<ParleyLoad> {
  const load = await openParleyLoad(server.url, MOST);
  cleaners.push(() => load.close());
  return load;
}

async function keptInsert(server: Started): Promise<Step> {
  const load = openBareLoad(server.url, MOST);
  cleaners.push(() => load.close());
  return load.insert;
}

/** Creating, polling, answering and waking, by every number of clients. */
function workOf(server: Started, load: ParleyLoad): Cell[] {
  const everywhere = CLIENTS.flatMap((clients): Cell[] => [
    { name: "create", clients, server, step: load.create },
    { name: "poll", clients, server, step: load.poll },
    { name: "answer", clients, server, step: load.answer, prepare: (expected) => load.refill(Math.ceil(expected / 4)) },
    { name: "wake", clients, server, step: load.wake },
  ]);
  return [...everywhere, { name: "create with a key", clients: MOST, server, step: load.createWithKey }];
}

async function measureCeiling(): Promise<Measurements> {
  const figures = new Measurements(PLAN.times, say);
  const server = await startBaseline("hello");
  const load = openBareLoad(server.url, MOST);
  await figures.interleave(2, [{ name: "hello", clients: MOST, server, step: load.get }]);
  load.close();
  await server.stop();
  return figures;
}

async function measureSmall(): Promise<Measurements> {
  const parley = await kept(startParley({ dataDir: await folder("small") }));
  const bare = await Promise.all(
    (["each", "group"] as const).map(async (mode) => {
      const server = await kept(startBaseline(mode, await folder(mode)));
      return {
        name: mode === "each" ? "bare, a commit each" : "bare, grouped commits",
        server,
        step: await keptInsert(server),
      };
    }),
  );
  const load = await keptLoad(parley);
  await load.refill(FEW);
  const work = workOf(parley, load);
  const cells = CLIENTS.flatMap((clients) => [
    ...bare.map((one) => ({ ...one, clients })),
    ...work.filter((cell) => cell.clients === clients),
  ]);
  const figures = new Measurements(PLAN.times, say);
  await figures.interleave(PLAN.rounds, cells);
  return figures;
}

/** Polls alone, creates alone, and both at once, at a fixed rate each. */
async function measurePaced(load: ParleyLoad, store: string): Promise<Paced[]> {
  const { perSecond, warmMs, pollMs, createMs } = PACED;
  const times = { perSecond, warmMs, ms: PLAN.pacedMs };
  const half = MOST / 2;
  const other: Step = (client) => load.poll(client + half);
  const poll = await runPaced(half, times, load.poll);
  const create = await runPaced(half, times, load.create);
  const [createBoth, pollBoth] = await Promise.all([runPaced(half, times, load.create), runPaced(half, times, other)]);
  return [
    { what: `poll, ${perSecond}/s`, store, sample: poll, targetMs: pollMs },
    { what: `create, ${perSecond}/s`, store, sample: create, targetMs: createMs },
    { what: `poll, ${perSecond}/s beside as many creates`, store, sample: pollBoth, targetMs: pollMs },
    { what: `create, ${perSecond}/s beside as many polls`, store, sample: createBoth, targetMs: createMs },
  ];
}

interface Store {
  name: string;
  filling: Filling;
  server: Started;
}

async function measureStores(
  stores: readonly [Store, Store],
  rounds: number,
): Promise<{ result: StoresResult; loads: ParleyLoad[] }> {
  const figures = new Measurements(PLAN.times, say);
  const loads: ParleyLoad[] = [];
  const reading: Cell[] = [];
  const writing: Cell[] = [];
  for (const { name, filling, server } of stores) {
    const load = await keptLoad(server);
    loads.push(load);
    const any = load.pollOf(() => storedQuestion(Math.floor(Math.random() * filling.questions)));
    const on = { clients: STORE_CLIENTS, server };
    const prepare = (expected: number) => load.refill(Math.ceil(expected / 4));
    reading.push({ name: `feed of ${name}`, ...on, step: load.feed }, { name: `poll of ${name}`, ...on, step: any });
    writing.push(
      { name: `create of ${name}`, ...on, step: load.create },
      { name: `answer of ${name}`, ...on, step: load.answer, prepare },
    );
  }
  const inPairs = (cells: readonly Cell[]) =>
    cells.toSorted((one, next) => (one.name.split(" ")[0] ?? "").localeCompare(next.name.split(" ")[0] ?? ""));
  // Reading first: what is asked while writing stays open, and the feed lists whatever is open.
  await figures.interleave(rounds, inPairs(reading));
  await figures.interleave(rounds, inPairs(writing));
  const [less, more] = stores;
  const cells = ["feed", "poll", "create", "answer"];
  return { result: { figures, less: less.name, more: more.name, cells, clients: STORE_CLIENTS }, loads };
}

const named = (questions: number): string => questions.toLocaleString("en-US");

async function openSqliteStore(questions: number): Promise<Store> {
  const filling = { questions, open: OPEN };
  const dataDir = await folder(`store-${questions}`);
  await (await startParley({ dataDir })).stop();
  fillSqlite(dataDir, filling);
  say(`  ${named(questions)} questions are in the store`);
  return { name: named(questions), filling, server: await kept(startParley({ dataDir })) };
}

async function measurePostgres(): Promise<NonNullable<Results["postgres"]>> {
  const postgres = await startPostgres();
  cleaners.push(() => postgres.stop());
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  const { rows } = await admin.query<{ version: string }>("SELECT current_setting('server_version') AS version");
  const urlOf = (name: string) => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
  const open = async (name: string, questions: number): Promise<Store> => {
    await admin.query(`CREATE DATABASE ${name}`);
    const options = { dataDir: await folder(`postgres-${name}`), databaseUrl: urlOf(name) };
    const filling = { questions, open: OPEN };
    if (questions > 0) {
      await (await startParley(options)).stop();
      await fillPostgres(options.databaseUrl, filling);
      say(`  ${named(questions)} questions are in the store`);
    }
    return { name: named(questions), filling, server: await kept(startParley(options)) };
  };

  const small = await open("small", 0);
  await admin.query("CREATE DATABASE bare");
  const bareServer = await kept(startBaseline("postgres", urlOf("bare")));
  const bare = { name: "bare, a commit each", server: bareServer, step: await keptInsert(bareServer) };
  const load = await keptLoad(small.server);
  await load.refill(FEW);
  const work = workOf(small.server, load);
  const figures = new Measurements(PLAN.times, say);
  const cells = CLIENTS.flatMap((clients) => [
    { ...bare, clients },
    ...work.filter((cell) => cell.clients === clients),
  ]);
  await figures.interleave(PLAN.postgresRounds, cells);

  say("PostgreSQL, a thousand and many");
  const stores = [await open("few", FEW), await open("many", PLAN.many)] as const;
  const { result } = await measureStores(stores, PLAN.postgresRounds);
  await admin.end();
  return {
    durability: `${rows[0]?.version}, fsync, full_page_writes and synchronous_commit on`,
    figures,
    stores: result,
  };
}

async function run(): Promise<Results> {
  const machine = lookAtMachine(directory);
  say("the load generator alone");
  const ceiling = (await measureCeiling()).of("hello", MOST);
  const results: Results = { machine, quick, durability: "WAL, synchronous=FULL", ceiling, clients: CLIENTS };
  // After each part: a run of many minutes that is cut off leaves what it has measured.
  const keep = async () => {
    if (quick || parts.size < PARTS.length) return;
    writeFileSync(RESULTS, await format(reportOf(results), { parser: "markdown" }));
  };

  if (parts.has("small")) {
    say("SQLite, against a bare server");
    results.small = await measureSmall();
    await keep();
  }
  if (parts.has("stores") || parts.has("paced")) {
    say("SQLite, a thousand and many");
    const stores = [await openSqliteStore(FEW), await openSqliteStore(PLAN.many)] as const;
    const { result, loads } = await measureStores(stores, PLAN.rounds);
    results.stores = result;
    say("at a fixed rate");
    results.paced = [];
    for (const [i, { name }] of stores.entries()) {
      const load = loads[i];
      if (!load) continue;
      await load.refill(FEW);
      results.paced = [...results.paced, ...(await measurePaced(load, `${name} questions`))];
    }
    await keep();
  }
  if (parts.has("postgres")) {
    say("PostgreSQL");
    results.postgres = await measurePostgres();
    await keep();
  }
  return results;
}

try {
  if (flags.against !== undefined) await benchAgainst(flags.against, { quick, onPostgres: flags.postgres, say });
  else console.log(`\n${reportOf(await run())}`);
} finally {
  for (const clean of cleaners.toReversed()) await clean();
}
say("done");
