/** The commands that `bench/hooks.ts` times, each as an agent starts it: by a shell. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hookFor } from "../src/cli/hook/install.ts";
import type { PromptingAgent } from "../src/connect/agent.ts";
import { fileURLToPath } from "node:url";

/** A command line that is timed, with the text of its standard input and of its output. */
export interface Timed {
  name: string;
  line: string;
  input(n: number): string;
  says: RegExp;
}

const NODE = `"${process.execPath}"`;
const PARLEY = fileURLToPath(new URL("../bin/parley.mjs", import.meta.url));

export const BARE: Timed = { name: "bare Node", line: `${NODE} -e 0`, input: () => "", says: /^$/ };
export const VERSION: Timed = {
  name: "parley --version",
  line: `${NODE} "${PARLEY}" --version`,
  input: () => "",
  says: /^\d/,
};

/** Returns the hook of an agent with the command line that `parley hook install` writes. */
export function hookOf(agent: PromptingAgent, url: string): Timed {
  const { command } = hookFor(agent, { url }, process.env);
  return { name: agent.title, line: command, input: (n) => promptOf(agent, n), says: /"allow"/ };
}

/** Returns the n-th prompt in the form of an agent: each reads the members that are its own. */
export function promptOf({ name, events }: Pick<PromptingAgent, "name" | "events">, n: number): string {
  const command = `echo ${n}`;
  return JSON.stringify({
    hook_event_name: events[0],
    session_id: "bench",
    conversation_id: "bench",
    tool_name: "Bash",
    tool_input: { command, ...(name === "opencode" && { input: { command } }) },
    command,
  });
}

/** Runs a command once, and returns how long it took in ms. @throws {Error} where it says something else */
export async function timed({ name, line, input, says }: Timed, n: number, env = process.env): Promise<number> {
  const start = performance.now();
  const child = spawn("sh", ["-c", `exec ${line}`], { env, stdio: ["pipe", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stdin.on("error", () => undefined).end(input(n));
  await once(child, "close");
  const ms = performance.now() - start;
  if (!says.test(out)) throw new Error(`${name} said ${out}`);
  return ms;
}

/** Writes the peak of a process's memory as Linux counts it, when the process ends. */
const PEAK = `process.on("exit", () => {
  const fs = require("node:fs");
  const [, kib] = /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"));
  fs.writeFileSync(process.env.PEAK_FILE, kib);
});`;

/** Runs a command once, and returns the peak of its memory in MiB; NaN where the system does not tell. */
export async function peakMiB(one: Timed, n: number, folder: string): Promise<number> {
  if (process.platform !== "linux") return Number.NaN;
  const [preload, file] = [join(folder, "peak.cjs"), join(folder, "peak")];
  writeFileSync(preload, PEAK);
  await timed(one, n, { ...process.env, NODE_OPTIONS: `--require="${preload}"`, PEAK_FILE: file });
  const mib = Number(readFileSync(file, "utf8")) / 1024;
  rmSync(file);
  return mib;
}
