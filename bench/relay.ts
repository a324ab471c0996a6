/**
 * Measures the Ask/Answer relay against the targets of its specification, with a scripted model and a server of tools on
 * this computer. Writes RELAY.md beside this file.
 *
 *     npm run bench:relay                 the whole of it, about five minutes
 *     npm run bench:relay -- --quick      about a minute, no file
 *     npm run bench:relay -- --minutes 10 so long at 50 asks a second
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { format } from "prettier";
import { type LlmRequest, scriptedLlm } from "../test/support/scripted-llm.ts";
import { runClosed, runPaced, median, percentile } from "./load.ts";
import { lookAtMachine } from "./machine.ts";
import { openBareLoad } from "./parley-load.ts";
import { openExecutors, openWaiters, type Executors, type Waiter, type Wish } from "./relay-load.ts";
import { recordedAsks, wholePrompt } from "./relay-recorded.ts";
import { startBaseline, startParley, type Started } from "./servers.ts";

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean", default: false }, minutes: { type: "string" } },
});
const { quick } = flags;
const MODEL_MS = 1200;
const PLAN = {
  runs: quick ? 12 : 60,
  pacedMs: flags.minutes ? Number(flags.minutes) * 60_000 : quick ? 5000 : 60_000,
  rounds: quick ? 1 : 3,
  closedMs: quick ? 1000 : 3000,
  waiters: quick ? 1000 : 10_000,
};
const began = performance.now();
const say = (line: string) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`);

interface Line {
  target: string;
  wanted: string;
  measured: string;
  met: boolean | null;
}
const lines: Line[] = [];
function tell(target: string, wanted: string, measured: string, met: boolean | null): void {
  lines.push({ target, wanted, measured, met });
  say(`${target}: ${measured} (wanted ${wanted})`);
}
const seconds = (ms: number): string => (ms >= 100 ? `${(ms / 1000).toFixed(2)} s` : `${ms.toFixed(1)} ms`);

const directory = mkdtempSync(join(tmpdir(), "parley-bench-relay-"));
const machine = lookAtMachine(directory);
const cleaners: (() => unknown)[] = [() => rmSync(directory, { recursive: true, force: true })];

/** Replies as a person would write them, after as long as a quick model takes; one first reply in ten is no JSON. */
const breaksNth = { every: 10, first: 0 };
let replyMs = MODEL_MS;
let breaks = false;
const model = await scriptedLlm(async (heard: LlmRequest) => {
  await sleep(replyMs);
  const reads = heard.user.includes("MCP") ? 2 : 0;
  if (heard.results.length < reads) return { calls: [{ name: "bench_read", args: { what: "invoices" } }] };
  const isSecond = heard.user.includes("Your last reply could not be used");
  if (breaks && !isSecond && (breaksNth.first += 1) % breaksNth.every === 0) return "The answer is EUR, I think.";
  return JSON.stringify({ answer_json: { answer: "EUR for EU shops, USD otherwise.", confidence: 0.9 } });
});
cleaners.push(() => model[Symbol.asyncDispose]());

async function startRelay(name: string, withModel: boolean): Promise<Started> {
  const dataDir = join(directory, name);
  mkdirSync(dataDir, { mode: 0o700 });
  const tools = join(import.meta.dirname, "slow-tools.ts");
  writeFileSync(
    join(dataDir, "parley.yaml"),
    withModel
      ? [
          `runner: { model: anthropic/scripted, base_url: "${model.url}/v1", prices: { input: 0, output: 0 } }`,
          `mcp_servers: { bench: { command: ["${process.execPath}", "${tools}"] } }`,
          "tools: { bench.read: { server: bench, tool: read, read_only: true } }",
        ].join("\n")
      : "log: { level: warn }\n",
  );
  writeFileSync(
    join(dataDir, "policy.yaml"),
    "version: 1\ndefaults: { read: ALLOW, other: ESCALATE }\nrules:\n  - id: dev\n    when: { env: dev, action: [write, deploy] }\n    decision: ALLOW\n",
  );
  const server = await startParley({ dataDir, env: { ANTHROPIC_API_KEY: "x" } });
  cleaners.push(() => server.stop());
  return server;
}

/** Asks one after another, as many at a time as there are processes of the runner, and returns how long each took. */
async function askAll(executors: Executors, count: number, wishOf: (i: number) => Omit<Wish, "jobId">) {
  const rounds: Awaited<ReturnType<Executors["round"]>>[] = [];
  let next = 0;
  const client = async (at: number): Promise<void> => {
    for (let i = next++; i < count; i = next++)
      rounds.push(await executors.round(at, { jobId: `J-${at}`, ...wishOf(i) }));
  };
  await Promise.all([0, 1, 2, 3].map(client));
  return rounds;
}

async function measureRunner(): Promise<void> {
  const server = await startRelay("runner", true);
  const executors = openExecutors(server.url, 8);
  cleaners.push(() => executors.close());
  // Processes that wait for work have started.
  await askAll(executors, 4, (i) => ({ prompt: `Warm ${i}?` }));

  replyMs = 1;
  breaks = true;
  const many = await askAll(executors, PLAN.runs * 4, (i) => ({ prompt: `What is the name of item ${i}?` }));
  const answered = many.filter(({ answer }) => answer.source === "runner");
  const broken = answered.filter(({ answer }) => answer["error_code"] === "E_JSON_SCHEMA");
  const share = broken.length / answered.length;
  tell(
    "answers that break their schema, of a model that breaks one first reply in ten",
    "under 2 %",
    `${(share * 100).toFixed(1)} % of ${answered.length}`,
    share < 0.02,
  );
  breaks = false;

  const templates = Array.from({ length: 40 }, (_, i) => `Which team owns service ${i}?`);
  let hits = 0;
  for (let job = 0; job < 20; job += 1) {
    for (let ask = 0; ask < 10; ask += 1) {
      const prompt = templates[(job * 7 + ask * 11 + ((job * ask) % 3)) % templates.length] ?? "";
      const { answer } = await executors.round(0, { jobId: `C-${job}`, prompt });
      if (answer.source === "cache") hits += 1;
    }
  }
  tell("cache hits, 20 jobs of 10 asks from 40 templates", "at least 25 %", `${hits / 2} %`, hits >= 50);

  model.heard.splice(0);
  const asks = recordedAsks();
  for (const [i, ask] of asks.entries()) {
    await executors.round(i % 8, {
      jobId: "T-1",
      prompt: ask.prompt,
      tools: [],
      envelope: ask.envelope,
      meta: { case: i },
    });
  }
  const ours = model.heard.map(({ system, user }) => system.length + user.length);
  const whole = asks.map((ask) => wholePrompt(ask).length);
  const saved = 1 - ours.reduce((a, b) => a + b, 0) / whole.reduce((a, b) => a + b, 0);
  tell(
    "tokens of an ask below a prompt with the whole job, all facts and all tools",
    "at least 35 %",
    `${(saved * 100).toFixed(0)} % (${asks.length} recorded asks, ${ours.length} prompts; characters, four to a token, on both sides)`,
    saved >= 0.35,
  );
  executors.close();
  await server.stop();
}

/**
 * The number of asks for the model, out of a hundred. The first of them also ask for two reads by MCP. Policy decides
 * all other asks.
 */
const FOR_MODEL = 7;
const OF = 100;

type Kind = "policy" | "model" | "reads";

async function measureFlow(): Promise<void> {
  const server = await startRelay("flow", true);
  const executors = openExecutors(server.url, 128);
  cleaners.push(() => executors.close());
  for (let i = 0; i < 10; i += 1) await executors.round(i, { jobId: `P-${i}`, ...decide(0) });

  const streams: Waiter[] = [];
  let events = 0;
  for (let i = 0; i < 10; i += 1) {
    let rest = "";
    const [stream] = await openWaiters(server.url, 1, `/jobs/P-${i}/events`, (text) => {
      const parts = (rest + text).split("event: answer\n");
      events += parts.length - 1;
      rest = (parts.at(-1) ?? "").slice(-20);
      return false;
    });
    if (stream) streams.push(stream);
  }
  let asked = 0;
  const took: Record<Kind, number[]> = { policy: [], model: [], reads: [] };
  const elsewhere: string[] = [];
  await runPaced(128, { warmMs: 1000, ms: PLAN.pacedMs, perSecond: 50 }, async (client) => {
    asked += 1;
    const number = asked;
    // Spread out, so that the model is asked at a steady pace.
    const place = (number * FOR_MODEL) % OF;
    const kind: Kind = place >= FOR_MODEL ? "policy" : place === 0 ? "reads" : "model";
    const input = { policy: decide, model: explain, reads: read }[kind](number);
    const { ms, answer } = await executors.round(client, { jobId: `P-${number % 10}`, timeoutS: 60, ...input });
    took[kind].push(ms);
    if (answer.source !== (kind === "policy" ? "policy" : "runner")) elsewhere.push(`${kind}: ${answer.source}`);
  });
  await sleep(1500);
  const p95 = (kind: Kind) => percentile(took[kind], 0.95);
  const rate = `50 asks a second, ${FOR_MODEL} of ${OF} for the model, and 10 event streams`;
  tell(`${rate}: by policy, p95`, "10 ms", seconds(p95("policy")), p95("policy") <= 10);
  const model = `${seconds(p95("model"))}, of which the model ${seconds(MODEL_MS)}; ${took.model.length} asks`;
  tell("... by the model without tools, p95", "3 s", model, p95("model") <= 3000);
  const reads = `${seconds(p95("reads"))}, of which the model 3 × ${seconds(MODEL_MS)} and the reads 2 × 1 s; ${took.reads.length} asks`;
  tell("... by the model with two reads by MCP, p95", "8 s", reads, p95("reads") <= 8000);
  tell("... answered by anybody else", "0", String(elsewhere.length), elsewhere.length === 0);
  tell("... events of answers that the streams missed", "0", String(asked - events), asked === events);
  for (const stream of streams) stream.close();
  executors.close();
  await server.stop();
}

const decide = (i: number) => ({
  type: "POLICY_DECISION" as const,
  prompt: `May I write ${i}?`,
  meta: { action: "write", env: "dev" },
});
const explain = (i: number) => ({ prompt: `Which currency does export ${i} use?` });
const read = (i: number) => ({
  type: "RESOURCE_FETCH" as const,
  prompt: `MCP: how many rows has table ${i}?`,
  tools: ["bench.read"],
});

/** How many rounds a second one server takes, beside a bare server that only inserts. */
async function measureRounds(): Promise<void> {
  const server = await startRelay("rounds", false);
  const executors = openExecutors(server.url, 64);
  cleaners.push(() => executors.close());
  const bare = await startBaseline("group", directory);
  cleaners.push(() => bare.stop());
  const bareLoad = openBareLoad(bare.url, 64);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let i = 0; i < PLAN.rounds; i += 1) {
    const times = { warmMs: 300, ms: PLAN.closedMs };
    ours.push(
      (
        await runClosed(
          64,
          times,
          async (client) => void (await executors.round(client, { jobId: `R-${client}`, ...decide(i) })),
        )
      ).perSecond,
    );
    theirs.push((await runClosed(64, times, bareLoad.insert)).perSecond);
  }
  const perSecond = median(ours);
  const range = `${Math.min(...ours).toFixed(0)}–${Math.max(...ours).toFixed(0)}`;
  tell(
    "rounds a second (ask, wait, answer) of 64 clients, answered by policy",
    "1,500",
    `${perSecond.toFixed(0)} (${range}); ${(perSecond / median(theirs)).toFixed(3)} of the bare server's single inserts`,
    perSecond >= 1500,
  );
  bareLoad.close();
  await bare.stop();
  executors.close();
  await server.stop();
}

async function measureWaiters(): Promise<void> {
  for (const kind of ["long-polls", "event streams"] as const) {
    const server = await startRelay(kind.replace(" ", "-"), false);
    const executors = openExecutors(server.url, 1);
    const id = await executors.post(0, { jobId: "W-1", prompt: "Who waits?" });
    await sleep(1000);
    const before = server.rssBytes();
    const path = kind === "long-polls" ? `/asks/${id}/answer?wait=60s` : "/jobs/W-1/events";
    const told = kind === "long-polls" ? '"status"' : "event: answer";
    const waiters = await openWaiters(server.url, PLAN.waiters, path, (text) => text.includes(told));
    const held = server.rssBytes() - before;
    const from = performance.now();
    const { hostname, port } = new URL(server.url);
    await fetch(`http://${hostname}:${port}/asks/${id}`, { method: "DELETE" });
    const until = performance.now() + 20_000;
    while (waiters.some(({ toldAt }) => toldAt === null) && performance.now() < until) await sleep(10);
    const at = waiters.flatMap(({ toldAt }) => (toldAt === null ? [] : [toldAt - from]));
    const megabytes = held / 2 ** 20;
    const wakes = `first after ${seconds(Math.min(...at))}, p50 ${seconds(percentile(at, 0.5))}, p99 ${seconds(percentile(at, 0.99))}, last ${seconds(Math.max(...at))}; ${at.length} of ${PLAN.waiters} told`;
    tell(
      `memory of ${PLAN.waiters.toLocaleString("en")} ${kind}`,
      kind === "long-polls" ? "256 MiB" : "to be told",
      `${megabytes.toFixed(0)} MiB, ${(held / PLAN.waiters / 1024).toFixed(1)} KiB each`,
      kind === "long-polls" ? megabytes < 256 : null,
    );
    tell(
      `from the answer until ${PLAN.waiters.toLocaleString("en")} ${kind} are told`,
      "to be told",
      wakes,
      at.length === PLAN.waiters ? null : false,
    );
    for (const waiter of waiters) waiter.close();
    executors.close();
    await server.stop();
  }
}

try {
  await measureFlow();
  await measureRounds();
  await measureRunner();
  await measureWaiters();
  const met = (line: Line) => (line.met === null ? "" : line.met ? "yes" : "**no**");
  const report = [
    "# Benchmark results of the relay",
    `${machine.date}, \`npm run bench:relay\`. ${machine.describes} SQLite, WAL, synchronous=FULL. The model is a script on this computer that takes ${MODEL_MS / 1000} s for a reply; the load generator shares the machine with the server.`,
    "| target | wanted | measured | met |\n| --- | --: | --: | --: |",
    ...lines.map((line) => `| ${line.target} | ${line.wanted} | ${line.measured} | ${met(line)} |`),
    `The machine was ${machine.load()}.`,
  ];
  const text = `${report.slice(0, 2).join("\n\n")}\n\n${report.slice(2, -1).join("\n")}\n\n${report.at(-1)}\n`;
  if (!quick)
    writeFileSync(new URL("./RELAY.md", import.meta.url), await format(text, { parser: "markdown", printWidth: 120 }));
} finally {
  for (const clean of cleaners.reverse()) await clean();
}
