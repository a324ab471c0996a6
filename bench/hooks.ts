/**
 * Measures what a permission prompt costs that a rule allows: by the command that `parley hook install` writes, for each
 * agent, and by `POST /hooks/claude`; beside a bare `node -e 0` and `parley --version`. All run in turns, and all prompts
 * go to one server. Writes HOOKS.md beside this file.
 *
 *     npm run bench:hooks                       40 turns, about two minutes
 *     npm run bench:hooks -- 200                so many turns
 *     npm run bench:hooks -- --against REV      also the server's processor time beside that commit's server
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { format } from "prettier";
import type { PromptingAgent } from "../src/connect/agent.ts";
import { AGENTS } from "../src/connect/registry.ts";
import { BARE, hookOf, peakMiB, promptOf, type Timed, timed, VERSION } from "./hook-runs.ts";
import { comparedText, compareWith } from "./hooks-against.ts";
import { median, percentile } from "./load.ts";
import { lookAtMachine } from "./machine.ts";
import { startParley } from "./servers.ts";

/** The most that each may be. */
const WANTED = { httpMs: 15, version: 1.5, hook: 2, memory: 1.6 };
const WARM = 5;
const PEAKS = 5;
const AGAINST_FOR_EACH = 10;
const RULE = "version: 1\nrules:\n  - id: shell\n    when: { fn: [Bash, Shell, bash] }\n    decision: ALLOW\n";
const HTTP = "by HTTP";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { against: { type: "string" } } });
const turns = Number(positionals[0] ?? 40);
const folder = mkdtempSync(join(tmpdir(), "parley-bench-hooks-"));
const machine = lookAtMachine(folder);
writeFileSync(join(folder, "policy.yaml"), RULE);
const server = await startParley({ dataDir: folder });
let prompts = 0;
try {
  const agents = await Promise.all(Object.values(AGENTS).map((row) => row.load()));
  const [claude] = agents as [PromptingAgent];
  const byHttp = async (url: string): Promise<void> => {
    const body = promptOf(claude, (prompts += 1));
    const headers = { "content-type": "application/json" };
    const said = await (await fetch(`${url}/hooks/claude`, { method: "POST", headers, body })).text();
    if (!said.includes('"behavior":"allow"')) throw new Error(`a prompt was not allowed: ${said}`);
  };
  const commands = [BARE, VERSION, ...agents.map((agent) => hookOf(agent, server.url))];
  const { times, peaks } = await measure(commands, () => byHttp(server.url));
  const against =
    values.against === undefined
      ? ""
      : comparedText(await compareWith(values.against, turns * AGAINST_FOR_EACH, { policy: RULE, ask: byHttp }));
  await report(commands, times, { peaks, against });
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

type Figures = Map<string, number[]>;

/** Runs every command and a prompt by HTTP in turns, and then each command a few times for its memory. */
async function measure(
  commands: readonly Timed[],
  byHttp: () => Promise<void>,
): Promise<{ times: Figures; peaks: Figures }> {
  const [times, peaks]: [Figures, Figures] = [new Map(), new Map()];
  const note = (figures: Figures, name: string, one: number) => figures.set(name, [...(figures.get(name) ?? []), one]);
  for (let turn = -WARM; turn < turns; turn += 1) {
    for (const one of commands) {
      const ms = await timed(one, (prompts += 1));
      if (turn >= 0) note(times, one.name, ms);
    }
    const start = performance.now();
    await byHttp();
    if (turn >= 0) note(times, HTTP, performance.now() - start);
  }
  for (let n = 0; n < PEAKS; n += 1) {
    for (const one of commands) note(peaks, one.name, await peakMiB(one, (prompts += 1), folder));
  }
  return { times, peaks };
}

async function report(
  commands: readonly Timed[],
  times: Figures,
  { peaks, against }: { peaks: Figures; against: string },
): Promise<void> {
  const ofTime = (name: string) => median(times.get(name) ?? []);
  const ofPeak = (name: string) => median(peaks.get(name) ?? []);
  const [bare, http] = [ofTime(BARE.name), ofTime(HTTP)];
  const rows = [...commands.map(({ name }) => name), HTTP].map((name) => {
    const [p50, p99] = [ofTime(name), percentile(times.get(name) ?? [], 99)];
    const ratios = name === HTTP ? ["", "", "", ""] : ratiosOf(p50, ofPeak(name));
    return [name, p50.toFixed(1), p99.toFixed(1), ...ratios];
  });
  function ratiosOf(ms: number, mib: number): string[] {
    return [mib.toFixed(0), ms / bare, ms / (bare + http), mib / ofPeak(BARE.name)].map((one) =>
      typeof one === "string" ? one : one.toFixed(2),
    );
  }
  const hooks = commands.filter((one) => one !== BARE && one !== VERSION).map(({ name }) => name);
  const misses = [
    ofTime(VERSION.name) / bare > WANTED.version && "parley --version",
    ...hooks.map((name) => ofTime(name) / (bare + http) > WANTED.hook && `the time of ${name}`),
    ...hooks.map((name) => ofPeak(name) / ofPeak(BARE.name) > WANTED.memory && `the memory of ${name}`),
    http > WANTED.httpMs && HTTP,
  ].filter((one) => one !== false);
  const text = `# The cost of a permission prompt

${machine.date}, \`npm run bench:hooks\`. ${machine.describes} SQLite.

A prompt that a rule of the policy allows, from its sending to the decision: by the command that \`parley hook install\` writes for each agent, and by a hook of type \`http\` of Claude Code. All in turns, ${turns} of them, against one server. Each prompt is a stored request with a signed receipt, which the hook checks. Memory is the peak of the process.

Wanted, as ratios of medians: \`parley --version\` at most ${WANTED.version} of a bare \`node -e 0\`; a prompt by command at most ${WANTED.hook} of bare Node and the prompt by HTTP together; its memory at most ${WANTED.memory} of bare Node's; half of the prompts by HTTP within ${WANTED.httpMs} ms. ${misses.length === 0 ? "All are kept." : `Missed: ${misses.join(", ")}.`}

| what runs | p50, ms | p99, ms | MiB | time / bare Node | time / (bare Node + HTTP) | memory / bare Node |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}
${against}
The machine was ${machine.load()}.
`;
  const page = await format(text, { parser: "markdown" });
  writeFileSync(new URL("HOOKS.md", import.meta.url), page);
  console.log(page);
  if (misses.length > 0) process.exitCode = 1;
}
