/**
 * Measures decisions beside peers, in one run: Restate's awakeables, DBOS's messages, and the floor of `floor.ts`. A
 * decision is an ask, a wait, an answer, and the reply to the waiter. Each server, with everything that belongs to it, has
 * the first core to itself while it is measured, and the load has the second.
 *
 *     npm run bench:peers                 about five minutes
 *     npm run bench:peers -- --quick      about one
 *
 * The peers come from npm into a temporary folder. A peer that does not install or start is left out, with the reason, and
 * so is whatever fails under the load.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { format } from "prettier";
import { type Cell, type Figures, Measurements, ratioOf, tailOf } from "./cells.ts";
import { openApprovals, openFloor } from "./decision-load.ts";
import { median, runClosed, type Step } from "./load.ts";
import { lookAtMachine } from "./machine.ts";
import { openParleyLoad } from "./parley-load.ts";
import { divideCores } from "./peers/cores.ts";
import { openDbos } from "./peers/dbos.ts";
import { installPeers, PEERS } from "./peers/packages.ts";
import { openDatabase } from "./peers/postgres.ts";
import { openRestate } from "./peers/restate.ts";
import { createAgentKeys, startFloor, startParley, together } from "./servers.ts";

const CLIENTS = 64;
const CROWD = "crowd decisions/s";
const APPROVALS = "approvals/s";
const ON_POSTGRES = "on PostgreSQL";
const RESTATE = "Restate's awakeables";
const DBOS = "DBOS's messages";
const FLOOR = `group-committed baseline at ${CLIENTS}`;

/** Each is a ratio of the first to the second. */
const ROWS = [
  [CROWD, RESTATE],
  [APPROVALS, RESTATE],
  [CROWD, DBOS],
  [APPROVALS, DBOS],
  [`${CROWD} ${ON_POSTGRES}`, DBOS],
  [`${APPROVALS} ${ON_POSTGRES}`, DBOS],
  [CROWD, FLOOR],
  [APPROVALS, FLOOR],
] as const;

const FULL = { rounds: 8, warmMs: 800, ms: 3200, firstMs: 6000 };
const QUICK = { rounds: 3, warmMs: 500, ms: 1200, firstMs: 1000 };

const words = process.argv.slice(2);
if (words.some((word) => word !== "--quick")) throw new Error("the only option is --quick");
const times = words.includes("--quick") ? QUICK : FULL;
const say = (line: string) => console.error(line);

const directory = mkdtempSync(join(tmpdir(), "parley-peers-"));
const cleaners: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
try {
  await run();
} finally {
  await cleanUp();
}

/** Stops what this run started and removes what it made, each only once. */
async function cleanUp(): Promise<void> {
  for (let clean = cleaners.pop(); clean; clean = cleaners.pop()) {
    try {
      await clean();
    } catch (error) {
      say(`not cleaned up: ${String(error)}`);
    }
  }
}

function folder(name: string): string {
  const path = join(directory, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

async function run(): Promise<void> {
  const machine = lookAtMachine(directory);
  const cores = divideCores();
  const core = cores?.server;
  const cells = [
    await floorCell(core),
    ...(await parleyCells("", core)),
    ...(await parleyCells(` ${ON_POSTGRES}`, core)),
    ...(await peerCells(core)),
  ];
  const failures = new Map<string, string>();
  const guarded = cells.map((cell) => ({ ...cell, step: guard(cell, failures) }));
  say("running each once, not measured");
  for (const { step } of guarded) await runClosed(CLIENTS, { warmMs: 0, ms: times.firstMs }, step);
  const figures = new Measurements(times, say);
  await figures.interleave(times.rounds, guarded);
  const whole = cells.filter(({ name }) => !failures.has(name));
  const measured = new Map(whole.map(({ name }) => [name, figures.of(name, CLIENTS)]));
  for (const [name, reason] of failures) leaveOut(name, reason);
  console.log(await format(tables(measured), { parser: "markdown" }));
  const where = cores
    ? `Every server ran on core ${cores.server} alone, with all of its processes, and the load on core ${cores.load}.`
    : "Nothing was kept to a core, because there is no taskset or no second core: servers and load shared them all.";
  const peers = Object.entries(PEERS).map(([name, version]) => `${name} ${version}`);
  console.log(`${machine.date}. ${machine.describes} ${CLIENTS} clients, ${times.rounds} rounds. ${where}`);
  console.log(`Peers: ${peers.join(", ")}.`);
  console.log(`A write and sync of 4 KiB took ${machine.syncMs[0].toFixed(2)} ms. The machine was ${machine.load()}.`);
}

/** Returns the step of a cell, which after its first failure does nothing: the cell's figures are not worth having then. */
function guard({ name, step }: Cell, failures: Map<string, string>): Step {
  return async (client) => {
    if (failures.has(name)) return void (await sleep(100));
    try {
      return await step(client);
    } catch (error) {
      if (!failures.has(name)) failures.set(name, (error as Error).message);
    }
  };
}

function leaveOut(name: string, reason: string): void {
  console.log(`Left out: ${name}, because ${reason.replaceAll(/\s+/g, " ")}`);
}

async function floorCell(core?: number): Promise<Cell> {
  const server = await startFloor(folder("floor"), core);
  cleaners.push(() => server.stop());
  const load = openFloor(server.url, CLIENTS);
  cleaners.push(load.close);
  return { name: FLOOR, clients: CLIENTS, server, step: load.step };
}

/** Starts Parley on SQLite, or on a PostgreSQL of its own where the names end so, and returns its two cycles. */
async function parleyCells(ending: string, core?: number): Promise<Cell[]> {
  say(`starting Parley${ending}`);
  const dataDir = folder(`parley${ending.replaceAll(" ", "-")}`);
  const database = ending === "" ? null : await openDatabase(core);
  if (database) cleaners.push(() => database.stop());
  const at = { dataDir, ...(database && { databaseUrl: database.url }) };
  const alone = await startParley({ ...at, core });
  cleaners.push(() => alone.stop());
  const server = together(alone.url, database ? [alone, database] : [alone]);
  const approvals = openApprovals(server.url, CLIENTS, createAgentKeys(at));
  const crowd = await openParleyLoad(server.url, CLIENTS);
  cleaners.push(crowd.close, approvals.close);
  return [
    { name: CROWD + ending, clients: CLIENTS, server, step: crowd.wake },
    { name: APPROVALS + ending, clients: CLIENTS, server, step: approvals.step },
  ];
}

/** Installs and starts the peers, and returns the cycles of those that work here. */
async function peerCells(core?: number): Promise<Cell[]> {
  const cells: Cell[] = [];
  async function add(name: string, open: () => Promise<Pick<Cell, "server" | "step">>): Promise<void> {
    say(`installing and starting the peer: ${name}`);
    try {
      cells.push({ name, clients: CLIENTS, ...(await open()) });
    } catch (error) {
      leaveOut(name, (error as Error).message);
    }
  }
  await add(RESTATE, async () => {
    const packages = folder("restate-packages");
    installPeers(packages, ["@restatedev/restate-server", "@restatedev/restate-sdk"]);
    const peer = await openRestate({ packages, data: folder("restate"), core, clients: CLIENTS });
    cleaners.push(peer.close);
    return { server: peer.server, step: peer.load.step };
  });
  await add(DBOS, async () => {
    const packages = folder("dbos-packages");
    installPeers(packages, ["@dbos-inc/dbos-sdk"]);
    const peer = await openDbos({ packages, home: folder("dbos"), core, clients: CLIENTS });
    cleaners.push(peer.close);
    return { server: peer.server, step: peer.load.step };
  });
  return cells;
}

function tables(measured: ReadonlyMap<string, Figures>): string {
  const ratios = ROWS.flatMap(([one, other]) => {
    const [a, b] = [measured.get(one), measured.get(other)];
    if (!a || !b) return [];
    const { value, least, most } = ratioOf(a, b);
    return [`| ${one} / ${other} | ${digits(value)} | ${digits(least)} | ${digits(most)} |`];
  });
  const scale = [...measured].map(([name, one]) => {
    const [p50, , p99] = tailOf(one);
    const rates = [median(one.rates), Math.min(...one.rates), Math.max(...one.rates)];
    const cells = [...rates, p50, p99, median(one.cpuUs)].map(digits);
    return `| ${name.replace("decisions/s", "decisions").replace("approvals/s", "approvals")} | ${cells.join(" | ")} |`;
  });
  return [
    "| | ratio of the medians | least of a round | most |",
    "| --- | --: | --: | --: |",
    ...ratios,
    "",
    "| | decisions a second, median | least of a round | most | answer to the waiter's reply, ms: p50 | p99 | processor time of the servers for a decision, µs |",
    "| --- | --: | --: | --: | --: | --: | --: |",
    ...scale,
  ].join("\n");
}

function digits(value: number): string {
  return value.toLocaleString("en", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}
