import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { HarnessOptions, HarnessReport } from "./harness.ts";

const PROVE = fileURLToPath(new URL("prove.ts", import.meta.url));

/** How a harness in a process of its own ended: with a report, or without one. */
export type Ended = { report: HarnessReport } | { report: null; why: string };

/** The command line of one harness with these options. */
export function argumentsFor(name: string, options: HarnessOptions): string[] {
  return [
    name,
    ...(options.seed === undefined ? [] : ["--seed", String(options.seed)]),
    ...(options.firstSeed === undefined ? [] : ["--first-seed", String(options.firstSeed)]),
    ...(options.trace ? ["--trace"] : []),
    ...(options.longHours === undefined ? [] : ["--long", "--hours", String(options.longHours)]),
    ...(options.boxMs === undefined ? [] : ["--box-ms", String(options.boxMs)]),
    ...(options.steps === undefined ? [] : ["--steps", String(options.steps)]),
    ...(options.stopAtFirstFailure ? ["--first-failure"] : []),
  ];
}

/**
 * Runs one harness in a process of its own and returns its report. A process that ends without a report, or takes
 * longer
 * than `withinMs`, gives the reason. Its output goes where `output` says.
 */
export async function runInProcess(
  name: string,
  options: HarnessOptions,
  more: { env?: Record<string, string>; output: "show" | "keep"; withinMs?: number },
): Promise<Ended> {
  const stdio = more.output === "show" ? ("inherit" as const) : ("pipe" as const);
  const child = fork(PROVE, argumentsFor(name, options), {
    env: { ...process.env, ...more.env },
    stdio: ["ignore", stdio, stdio, "ipc"],
  });
  const endWithUs = () => child.kill();
  process.once("exit", endWithUs);
  let report: HarnessReport | null = null;
  let said = "";
  let isLate = false;
  child.on("message", (message) => (report = message as HarnessReport));
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
  const late = setTimeout(
    () => {
      isLate = true;
      child.kill();
    },
    more.withinMs ?? 2 ** 31 - 1,
  );

  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  clearTimeout(late);
  process.off("exit", endWithUs);
  if (report) return { report };
  const end = isLate ? `did not end within ${more.withinMs} ms` : `ended with ${signal ?? `exit code ${code}`}`;
  return { report, why: [`its process ${end}`, ...lastLines(said)].join("\n    ") };
}

function lastLines(text: string): string[] {
  return text.trimEnd().split("\n").slice(-12);
}
