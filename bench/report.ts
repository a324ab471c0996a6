import { type Figures, type Measurements, type Ratio, ratioOf, tailOf } from "./cells.ts";
import { median, type Sample } from "./load.ts";
import type { Machine } from "./machine.ts";

/** The results of a run. A part that was not run is left out. */
export interface Results {
  machine: Machine;
  quick: boolean;
  durability: string;
  /** Requests a second that the load generator gets out of a server that only says hello. */
  ceiling: Figures;
  clients: readonly number[];
  small?: Measurements;
  paced?: readonly Paced[];
  stores?: StoresResult;
  postgres?: { durability: string; figures: Measurements; stores: StoresResult };
}

export interface Paced {
  what: string;
  store: string;
  sample: Sample;
  /** The target for the 95th percentile, in ms. */
  targetMs: number;
}

export interface StoresResult {
  figures: Measurements;
  less: string;
  more: string;
  cells: readonly string[];
  clients: number;
}

const OPERATIONS = ["create", "create with a key", "poll", "answer", "wake"] as const;
const MOST = 64;
const TARGET_THROUGHPUT = 0.5;
const TARGET_GROWTH = 1.2;

/** Returns the results as a page, ratios first. */
export function reportOf(results: Results): string {
  const { machine, quick, small, paced, stores, postgres } = results;
  return [
    "# Benchmark results",
    "",
    `${machine.date}, \`npm run bench${quick ? " -- --quick" : ""}\`. ${machine.describes}`,
    `Durability: Parley and both bare SQLite servers ${results.durability}; PostgreSQL ${postgres?.durability ?? "was not run"}.`,
    "",
    "## Ratios, against the targets",
    "",
    ...table(["target", "wanted", "measured", "met"], targetRows(results)),
    "",
    ...noise(results),
    ...(small ? againstBaseline(small, results.clients) : []),
    ...(paced ? atFixedRate(paced) : []),
    ...(stores ? growth("A thousand and a million questions on SQLite", stores) : []),
    ...(postgres ? onPostgres(postgres, results.clients) : []),
  ].join("\n");
}

function targetRows({ small, paced, stores, postgres }: Results): string[][] {
  const rows: string[][] = [];
  if (small) {
    const group = small.of("bare, grouped commits", MOST);
    for (const name of ["create", "answer"]) {
      const ratio = ratioOf(small.of(name, MOST), group);
      const isTarget = name === "create";
      const wanted = isTarget ? `at least ${TARGET_THROUGHPUT}` : "to be told";
      const met = isTarget ? yes(ratio.value >= TARGET_THROUGHPUT) : "";
      rows.push([`${name} / bare insert with grouped commits, ${MOST} clients`, wanted, ratioText(ratio), met]);
    }
  }
  for (const { what, store, sample, targetMs } of paced ?? []) {
    const p95 = tailOf(sample)[1];
    rows.push([`${what}, ${store}: p95`, `under ${targetMs} ms`, `${ms(p95)} ms`, yes(p95 < targetMs)]);
  }
  for (const [where, result] of [
    ["SQLite", stores],
    ["PostgreSQL", postgres?.stores],
  ] as const) {
    if (!result) continue;
    for (const name of ["feed", "poll"]) {
      const ratio = costRatio(result, name);
      const what = `${name}: cost with ${result.more} questions / with ${result.less}, ${where}`;
      rows.push([what, `at most ${TARGET_GROWTH}`, ratioText(ratio), yes(ratio.value <= TARGET_GROWTH)]);
    }
  }
  return rows;
}

/** How much longer a request takes in the larger store. */
function costRatio({ figures, less, more, clients }: StoresResult, name: string): Ratio {
  return ratioOf(figures.of(`${name} of ${less}`, clients), figures.of(`${name} of ${more}`, clients));
}

function noise({ machine, ceiling, small }: Results): string[] {
  const lines = [
    "Ratios are of medians over the rounds, in brackets the least and the most of single rounds. What is compared runs in " +
      "turns, forwards and backwards, so that whatever else the machine does falls on both; absolute figures are for scale only.",
    `The machine was ${machine.load()}. The load generator, a process of its own on the same machine, gets ` +
      `${whole(median(ceiling.rates))} replies a second out of a server that only says hello (${whole(median(ceiling.cpuUs))} µs of that ` +
      "server's time each), so it is not what limits the figures below, but with two cores it shares them with the server under test.",
  ];
  if (small) {
    const { rates } = small.of("bare, grouped commits", MOST);
    const apart = Math.max(...rates) / Math.min(...rates);
    lines.push(
      `The same cell in different rounds differed by up to a factor of ${apart.toFixed(2)} (bare server with grouped commits, ${MOST} clients): ` +
        "read no difference smaller than that out of absolute figures.",
    );
  }
  lines.push(
    `A write and \`fdatasync\` of 4 KiB took ${ms(machine.syncMs[0])} ms here (p95 ${ms(machine.syncMs[1])} ms). The cheaper that is, the less ` +
      "grouped commits save, and the more the comparison is one of processor time: of one insert against a whole request.",
  );
  return [...lines.flatMap((line) => [line, ""])];
}

function againstBaseline(figures: Measurements, clients: readonly number[]): string[] {
  const bare = [
    ["bare, a commit each", "/ bare, a commit each"],
    ["bare, grouped commits", "/ bare, grouped commits"],
  ] as const;
  const ratios = ["create", "answer"].flatMap((name) =>
    bare.map(([baseline, says]) => [
      `${name} ${says}`,
      ...clients.map((count) => ratioText(ratioOf(figures.of(name, count), figures.of(baseline, count)))),
    ]),
  );
  return [
    "## SQLite, against a bare server",
    "",
    "The bare server is `node:http` with one durable insert for each request and nothing else: a row of the same size under a random id.",
    "",
    ...table(["ratio of throughput", ...clients.map((count) => `${count} clients`)], ratios),
    "",
    ...throughput(figures, clients, [...bare.map(([name]) => name), ...OPERATIONS]),
    "",
    "`wake` is asking, waiting by long-poll, answering, and the waiter's reply: three requests; its latency runs from sending the answer to the waiter's reply.",
    "",
  ];
}

function throughput(figures: Measurements, clients: readonly number[], names: readonly string[]): string[] {
  const rows = names.flatMap((name) =>
    clients.flatMap((count) => {
      if (!figures.has(name, count)) return [];
      return [[name, String(count), ...figuresRow(figures.of(name, count))]];
    }),
  );
  return table(["", "clients", "a second", "p50 ms", "p95 ms", "p99 ms", "server CPU µs"], rows);
}

function figuresRow(figures: Figures): string[] {
  return [whole(median(figures.rates)), ...tailOf(figures).map(ms), whole(median(figures.cpuUs))];
}

function atFixedRate(paced: readonly Paced[]): string[] {
  const rows = paced.map(({ what, store, sample }) => [
    what,
    store,
    whole(sample.perSecond),
    ...tailOf(sample).map(ms),
  ]);
  return [
    "## At a fixed rate",
    "",
    "Requests are sent at fixed moments, however slowly they are answered, and a latency runs from the moment its request was due.",
    "",
    ...table(["", "store", "a second", "p50 ms", "p95 ms", "p99 ms"], rows),
    "",
  ];
}

function growth(title: string, result: StoresResult): string[] {
  const { figures, less, more, cells, clients } = result;
  const rows = cells.map((name) => [
    name,
    ratioText(costRatio(result, name)),
    ...[less, more].flatMap((store) => figuresRow(figures.of(`${name} of ${store}`, clients))),
  ]);
  const columns = [less, more].flatMap((store) => [`${store}: a second`, "p50 ms", "p95 ms", "p99 ms", "CPU µs"]);
  return [
    `## ${title}`,
    "",
    `Both stores hold the same number of open questions; the rest are settled, with answers, outcomes, points, and the last day's events. ${clients} clients. ` +
      "`poll` reads any stored question, whatever its age.",
    "",
    ...table([`cost, ${more} / ${less}`, "ratio", ...columns], rows),
    "",
  ];
}

function onPostgres(part: NonNullable<Results["postgres"]>, clients: readonly number[]): string[] {
  const { figures, stores } = part;
  const bare = "bare, a commit each";
  const ratios = ["create", "answer"].map((name) => [
    `${name} / ${bare}`,
    ...clients.map((count) => ratioText(ratioOf(figures.of(name, count), figures.of(bare, count)))),
  ]);
  return [
    "## PostgreSQL, for scale",
    "",
    "The database runs on the same machine and shares its cores with the server and the load generator. The bare server makes one insert for each request on a pool of 20 connections.",
    "",
    ...table(["ratio of throughput", ...clients.map((count) => `${count} clients`)], ratios),
    "",
    ...throughput(figures, clients, [bare, ...OPERATIONS]),
    "",
    ...growth("A thousand and a million questions on PostgreSQL", stores),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)];
}

const yes = (holds: boolean): string => (holds ? "yes" : "**no**");
const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(1));
const ratioText = ({ value, least, most }: Ratio): string =>
  `${value.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
