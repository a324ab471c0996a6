/**
 * Measures a start, from the process's beginning until it listens, of the package as it is published and of this checkout,
 * as a ratio to a Fastify with one route that is started in between. Each start is on an empty data folder, and finds
 * compiled what the start before it compiled. Prints a table, and fails where the package takes longer than it may.
 *
 *     npm run bench:start             eleven starts of each, about two minutes
 *     npm run bench:start -- 31       so many
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { lookAtMachine } from "./machine.ts";

/** Seconds of processor time that a start of the package may take, as the median. */
const MOST_CPU_S = 0.7;
/** The unit of the times in `/proc`, on every Linux. */
const TICKS_PER_S = 100;

interface Started {
  wallS: number;
  /** Processor time of all threads of the process; null where the system does not tell. */
  cpuS: number | null;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const rounds = Number(process.argv[2] ?? 11);
const folder = mkdtempSync(join(tmpdir(), "parley-start-"));
try {
  const machine = lookAtMachine(folder);
  console.log("Packing and installing ...");
  const programs: Readonly<Record<string, readonly string[]>> = {
    "bare Fastify": [join(ROOT, "bench/bare-fastify.ts")],
    package: [installPackage(), "serve"],
    checkout: [join(ROOT, "src/main.ts"), "serve"],
  };
  const starts = new Map(Object.keys(programs).map((name) => [name, [] as Started[]]));
  // The first of each compiles.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, words] of Object.entries(programs)) {
      const started = await start(words);
      if (round > 0) starts.get(name)?.push(started);
    }
  }
  await report(starts);
  console.log(`${machine.describes} The machine was ${machine.load()}.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the command of the installed package. */
function installPackage(): string {
  const quiet = { stdio: "pipe" } as const;
  const dist = join(folder, "dist");
  execFileSync(process.execPath, [join(ROOT, "scripts/pack.mjs"), dist], quiet);
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), "{}");
  const tarballs = globSync("parley-parley-*.tgz", { cwd: dist }).map((name) => join(dist, name));
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], { ...quiet, cwd: project });
  return join(project, "node_modules/@parley/parley/bin/parley.cjs");
}

async function start(words: readonly string[]): Promise<Started> {
  const data = mkdtempSync(join(folder, "data-"));
  const flags = words.includes("serve") ? ["--port", "0", "--data-dir", data] : [];
  const began = performance.now();
  const child = spawn(process.execPath, [...words, ...flags], { stdio: ["ignore", "pipe", "ignore"] });
  const exited = once(child, "exit");
  let said = "";
  child.stdout.setEncoding("utf8");
  for await (const text of child.stdout.iterator({ destroyOnReturn: false })) {
    if ((said += String(text)).includes("http://127.0.0.1:")) break;
  }
  const wallS = (performance.now() - began) / 1000;
  const cpuS = cpuOf(child.pid);
  child.stdout.resume();
  child.kill("SIGTERM");
  await exited;
  return { wallS, cpuS };
}

/** Fields 14 and 15 of proc_pid_stat(5); the name before them is in brackets. */
function cpuOf(pid = 0): number | null {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return null;
  const fields = readFileSync(path, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function report(starts: ReadonlyMap<string, readonly Started[]>): Promise<void> {
  const medians = [...starts].map(([name, all]) => ({
    name,
    wallS: medianOf(all.map(({ wallS }) => wallS)),
    cpuS: medianOf(all.map(({ wallS, cpuS }) => cpuS ?? wallS)),
  }));
  const bare = medians[0]?.cpuS ?? Number.NaN;
  const rows = medians.map(({ name, wallS, cpuS }) => {
    return `| ${name} | ${cpuS.toFixed(2)} | ${wallS.toFixed(2)} | ${(cpuS / bare).toFixed(1)} |`;
  });
  const head = ["| start of | processor, s | until it listens, s | times bare Fastify |", "| --- | --: | --: | --: |"];
  console.log(await format([...head, ...rows].join("\n"), { parser: "markdown" }));
  const packed = medians.find(({ name }) => name === "package")?.cpuS ?? Number.NaN;
  if (packed <= MOST_CPU_S) return;
  console.log(`A start of the package takes ${packed.toFixed(2)} s of processor time, and may take ${MOST_CPU_S} s.`);
  process.exitCode = 1;
}
