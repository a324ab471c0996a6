/**
 * Measures the ends of one server and one database: ten thousand waits and streams, a million questions and a hundred
 * thousand requests, and the wake-ups of several servers. On SQLite and on PostgreSQL. Writes SCALE.md beside this file.
 *
 *     npm run bench:scale                          the whole of it
 *     npm run bench:scale -- --quick               a tenth of everything, no file
 *     npm run bench:scale -- --only waits,notify   parts: waits, stores, servers, notify; no file
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { format } from "prettier";
import { lookAtMachine } from "./machine.ts";
import { measureNotify, type NotifyFigures } from "./scale/notify.ts";
import { measureServers, type ServersFigures } from "./scale/servers.ts";
import { measureStores, type StoreRatio } from "./scale/stores.ts";
import { measureWaits, type WaitFigures } from "./scale/waits.ts";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
});
const { quick } = flags;
const PARTS = ["waits", "stores", "servers", "notify"] as const;
const parts = new Set(flags.only?.split(",") ?? PARTS);
const PLAN = quick
  ? {
      waits: 1000,
      many: { questions: 100_000, requests: 10_000 },
      rounds: 5,
      ms: 300,
      servers: { rounds: 3, ms: 1000 },
      notifies: { rounds: 3, transactions: 100 },
    }
  : {
      waits: 10_000,
      many: { questions: 1_000_000, requests: 100_000 },
      rounds: 15,
      ms: 500,
      servers: { rounds: 11, ms: 2000 },
      notifies: { rounds: 9, transactions: 400 },
    };
const FEW = { questions: 1000, requests: 1000 };
const MOST_MIB = 400;
const MOST_MS = 500;
const MOST_RATIO = 1.2;

const began = performance.now();
const say = (line: string) =>
  console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`);
const folder = mkdtempSync(join(tmpdir(), "parley-scale-"));
try {
  const machine = lookAtMachine(folder);
  const tables: string[] = [];
  if (parts.has("waits")) tables.push(waitTable(await runWaits()));
  if (parts.has("stores")) tables.push(storeTable(await runStores()));
  if (parts.has("servers")) tables.push(serversTable(await measureServers({ folder, ...PLAN.servers }, say)));
  if (parts.has("notify")) tables.push(notifyTable(await measureNotify(PLAN.notifies, say)));
  const head = `${machine.date}, \`npm run bench:scale\`. ${machine.describes} The load shares the machine with the servers.`;
  const text = ["# Where one server and one database end", head, ...tables, `The machine was ${machine.load()}.`];
  const page = await format(text.join("\n\n"), { parser: "markdown", printWidth: 120 });
  console.log(page);
  if (!quick && parts.size === PARTS.length) writeFileSync(new URL("./SCALE.md", import.meta.url), page);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function runWaits(): Promise<WaitFigures[]> {
  const program = await makePackage();
  const figures: WaitFigures[] = [];
  for (const onPostgres of [false, true]) {
    for (const kind of ["polls", "streams"] as const) {
      const one = await measureWaits({ folder, program, onPostgres }, kind, PLAN.waits);
      say(`${one.engine}, ${kind}: ${one.parkedMib.toFixed(0)} MiB, the last after ${one.lastMs.toFixed(0)} ms`);
      figures.push(one);
    }
  }
  return figures;
}

/** Makes the package as it is published, and returns its program. */
async function makePackage(): Promise<string> {
  const maker = new URL("../scripts/server-package.mjs", import.meta.url).href;
  const { makeServerPackage } = (await import(maker)) as { makeServerPackage: (folder: string) => Promise<void> };
  const home = join(folder, "package");
  await makeServerPackage(home);
  return join(home, "bin", "parley.cjs");
}

async function runStores(): Promise<StoreRatio[]> {
  const plan = { folder, few: FEW, many: PLAN.many, rounds: PLAN.rounds, times: { warmMs: 100, ms: PLAN.ms }, say };
  const ratios: StoreRatio[] = [];
  for (const onPostgres of [false, true]) {
    const measured = await measureStores(plan, onPostgres);
    for (const { engine, work, cpu } of measured) say(`${engine}, ${work}: ${cpu.toFixed(2)} times`);
    ratios.push(...measured);
  }
  return ratios;
}

function waitTable(figures: readonly WaitFigures[]): string {
  const rows = figures.map((one) => {
    const each = ((one.parkedMib - one.idleMib) * 1024) / one.count;
    const memory = [one.idleMib, one.parkedMib, one.afterMib].map((mib) => mib.toFixed(0)).join(" | ");
    const times = [one.firstMs, one.p50Ms, one.lastMs, one.cpuMs].map((ms) => ms.toFixed(0)).join(" | ");
    const isMet = one.told === one.count && one.parkedMib <= MOST_MIB && one.lastMs <= MOST_MS;
    const what = `${one.engine}, ${one.count.toLocaleString("en")} ${one.kind}`;
    return `| ${what} | ${memory} | ${each.toFixed(1)} | ${times} | ${one.told} | ${metWord(isMet)} |`;
  });
  return [
    "## Waits",
    `One answer ends all of them. Wanted: the whole server within ${MOST_MIB} MiB with all of them parked, and the last one told within ${MOST_MS} ms. The server is the package as it is published, started with \`--max-semi-space-size=8\` as its container and its systemd unit do. Memory is the resident set of its process, times are those from sending the request that ends the ask.`,
    "| | idle, MiB | parked, MiB | after, MiB | each, KiB | first, ms | p50, ms | last, ms | processor, ms | told | met |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- |\n" +
      rows.join("\n"),
  ].join("\n\n");
}

function storeTable(ratios: readonly StoreRatio[]): string {
  const rows = ratios.map(({ engine, work, fewUs, manyUs, cpu, wall }) => {
    const figures = `${fewUs.toFixed(0)} | ${manyUs.toFixed(0)} | ${cpu.toFixed(2)} | ${wall.toFixed(2)}`;
    return `| ${engine}, ${work} | ${figures} | ${metWord(cpu <= MOST_RATIO)} |`;
  });
  const [few, many] = [FEW, PLAN.many].map(({ questions, requests }) => {
    return `${questions.toLocaleString("en")} questions and ${requests.toLocaleString("en")} requests`;
  });
  return [
    "## Full stores",
    `A store with ${many}, beside one with ${few}; as many are open in both. Wanted: at most ${MOST_RATIO} times the processor time of server and database together.`,
    "| | few, µs | many, µs | ratio | ratio of the client's wait, p50 | met |\n| --- | --: | --: | --: | --: | --- |\n" +
      rows.join("\n"),
  ].join("\n\n");
}

function serversTable(figures: readonly ServersFigures[]): string {
  const rows = figures.map((one) => {
    const { servers, perSecond, serversUs, databaseUs, commits, logBytes, p50Ms } = one;
    const share = (us: number) => `${((us * perSecond) / 1e4).toFixed(0)} %`;
    const account = [serversUs, databaseUs].map((us) => `${us.toFixed(0)} | ${share(us)}`).join(" | ");
    return `| ${servers} | ${perSecond.toFixed(0)} | ${account} | ${commits.toFixed(2)} | ${(logBytes / 1024).toFixed(1)} | ${p50Ms.toFixed(0)} |`;
  });
  return [
    "## One server and two",
    "Approvals of 64 clients, each an agent. Servers and database are on one core, so two servers have no more of it than one. With two, every call is decided at the server that its agent does not wait at. Figures are for each decision; the shares are of the core's time.",
    `| servers | a second | servers, µs | share | PostgreSQL, µs | share | commits | KiB of log | p50, ms |\n| --: | --: | --: | --: | --: | --: | --: | --: | --: |\n${rows.join("\n")}`,
  ].join("\n\n");
}

function notifyTable(figures: readonly NotifyFigures[]): string {
  const bare = figures[0]?.cpuUs ?? Number.NaN;
  const rows = figures.map(({ servers, cpuUs }) => {
    return `| ${servers === 0 ? "no notification" : servers} | ${cpuUs.toFixed(0)} | ${(cpuUs - bare).toFixed(0)} |`;
  });
  return [
    "## Wake-ups",
    "The processor time of PostgreSQL for a transaction of one `UPDATE`, and for one notification after it, by the number of servers that listen. A busy server sends up to 60 wake-ups in one notification.",
    `| listening servers | a transaction, µs | of which the notification |\n| --: | --: | --: |\n${rows.join("\n")}`,
  ].join("\n\n");
}

function metWord(isMet: boolean): string {
  return isMet ? "yes" : "**no**";
}
