/**
 * Shows where the processor time of a whole decision (ask, wait, answer, wake) goes, in microseconds:
 *
 *     npm run bench:cost                        about a minute; prints a table
 *     npm run bench:cost -- --picture FILE      writes the bars of it as SVG, too
 *
 * The time of a decision is that of the server's process without a profile. A second run under Node's sampling profiler
 * gives the shares: a profile alone makes short functions look dearer than they are.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { costPicture } from "./cost-picture.ts";
import { openApprovals, openRelay } from "./decision-load.ts";
import type { Step } from "./load.ts";
import { lookAtMachine } from "./machine.ts";
import { openParleyLoad } from "./parley-load.ts";
import { createAgentKeys, createKey, startParley } from "./servers.ts";

const CLIENTS = 32;
const DECISIONS = 6000;
const WARM_UP = 2000;
const CYCLES = ["crowd", "approval", "relay"] as const;
type Cycle = (typeof CYCLES)[number];

/** The parts of the server's time, in the order in which they are shown. */
const PARTS = [
  "SQLite: statements",
  "SQLite: commits and their syncs",
  "rooms and protocols",
  "store code around SQLite",
  "JSON, hashes, secrets",
  "HTTP, framework, libraries",
  "sockets and the event loop",
  "garbage collection",
] as const;
type Part = (typeof PARTS)[number];

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

/** Returns the part of a function's own time; null for what is not part of a decision: waiting, and loading of code. */
function partOf({ functionName, url }: { functionName: string; url: string }): Part | null {
  if (functionName === "(idle)") return null;
  if (functionName === "(garbage collector)") return "garbage collection";
  const [, inSource] = /\/src\/(.*)$/.exec(url) ?? [];
  if (inSource === "core/store/sqlite/sqlite.ts") {
    if (functionName === "runGroupCommit") return "SQLite: commits and their syncs";
    return functionName === "" ? "SQLite: statements" : "store code around SQLite";
  }
  // The functions that make rows are made while the server runs, and have no file.
  if (inSource?.startsWith("core/store/") || (url === "" && functionName === "anonymous"))
    return "store code around SQLite";
  if (inSource !== undefined)
    return /^lib\/(json|secrets)\//.test(inSource) ? "JSON, hashes, secrets" : "rooms and protocols";
  if (url.includes("/node_modules/") || /^node:(_http|internal\/streams|events)/.test(url)) {
    return "HTTP, framework, libraries";
  }
  return /crypto/.test(url) || /^RegExp/.test(functionName) ? "JSON, hashes, secrets" : "sockets and the event loop";
}

/** Returns the share of each part in the profiles of a folder, without the start of the server. */
function sharesIn(folder: string): Map<Part, number> {
  const [file = ""] = readdirSync(folder).toSorted();
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Profile;
  const loads = new Set<number>();
  const partOfNode = new Map<number, Part | null>();
  for (const { id, callFrame, children = [] } of nodes) {
    const isLoad = loads.has(id) || /^node:internal\/(modules|bootstrap|deps)/.test(callFrame.url);
    if (isLoad) for (const child of [id, ...children]) loads.add(child);
    partOfNode.set(id, isLoad ? null : partOf(callFrame));
  }
  const sums = new Map<Part, number>();
  samples.forEach((node, i) => {
    const part = partOfNode.get(node);
    if (part) sums.set(part, (sums.get(part) ?? 0) + (timeDeltas[i] ?? 0));
  });
  const all = [...sums.values()].reduce((sum, us) => sum + us, 0);
  return new Map(PARTS.map((part) => [part, (sums.get(part) ?? 0) / all]));
}

/** Runs so many decisions, each client one after another. */
async function decide(step: Step, decisions: number): Promise<void> {
  let left = decisions;
  const run = async (client: number): Promise<void> => {
    while (left-- > 0) await step(client);
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => run(client)));
}

/** Starts a server on a folder of its own and returns its processor time for a decision, in microseconds. */
async function measure(cycle: Cycle, dataDir: string, profileDir?: string): Promise<number> {
  mkdirSync(dataDir, { mode: 0o700 });
  const server = await startParley({ dataDir, ...(profileDir !== undefined && { profileDir }) });
  const opened = await open(cycle, server.url, dataDir);
  try {
    await decide(opened.step, WARM_UP);
    const before = server.cpuMs();
    await decide(opened.step, DECISIONS);
    return ((server.cpuMs() - before) * 1000) / DECISIONS;
  } finally {
    opened.close();
    await server.stop();
  }
}

async function open(cycle: Cycle, url: string, dataDir: string): Promise<{ step: Step; close(): void }> {
  const key = (...words: string[]) => createKey({ dataDir }, ...words);
  if (cycle === "approval") return openApprovals(url, CLIENTS, createAgentKeys({ dataDir }));
  if (cycle === "relay") {
    const keys = { executor: key("executor", "--scope", "executor"), service: key("service", "--scope", "answer") };
    return openRelay(url, CLIENTS, keys);
  }
  const load = await openParleyLoad(url, CLIENTS);
  return { step: load.wake, close: load.close };
}

const { values: flags } = parseArgs({ options: { picture: { type: "string" } } });
const directory = mkdtempSync(join(tmpdir(), "parley-bench-cost-"));
try {
  const machine = lookAtMachine(directory);
  const costs = new Map<Cycle, Map<Part, number>>();
  for (const cycle of CYCLES) {
    const us = await measure(cycle, join(directory, cycle));
    const profiles = join(directory, `${cycle}-profile`);
    await measure(cycle, join(directory, `${cycle}-profiled`), profiles);
    costs.set(cycle, new Map([...sharesIn(profiles)].map(([part, share]) => [part, us * share])));
  }
  const of = (cycle: Cycle, part: Part) => costs.get(cycle)?.get(part) ?? 0;
  const sum = (cycle: Cycle) => PARTS.reduce((us, part) => us + of(cycle, part), 0);
  console.log(`${machine.date}, ${machine.describes} ${CLIENTS} clients, ${DECISIONS} decisions; ${machine.load()}.\n`);
  console.log(`| µs of processor time for a decision | ${CYCLES.join(" | ")} |`);
  console.log("| --- | ---: | ---: | ---: |");
  for (const part of PARTS)
    console.log(`| ${part} | ${CYCLES.map((cycle) => of(cycle, part).toFixed(0)).join(" | ")} |`);
  console.log(`| **together** | ${CYCLES.map((cycle) => sum(cycle).toFixed(0)).join(" | ")} |`);
  if (flags.picture !== undefined) {
    const bars = CYCLES.map((cycle) => ({ name: cycle, parts: PARTS.map((part) => of(cycle, part)) }));
    writeFileSync(flags.picture, costPicture(PARTS, bars));
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
