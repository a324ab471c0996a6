/**
 * Measures how much the rules of a policy cost a prompt by HTTP that one of them allows: three servers, one with a single
 * rule by `fn`, one with 500 rules on arguments of which the last holds, one with 500 on commands, take turns. Prints a
 * table.
 *
 *     npm run bench:rules          20 turns of 40 prompts to each server
 *     npm run bench:rules -- 60    60 turns
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "prettier";
import { createKey, type Started, startParley } from "./servers.ts";

const PROMPTS = 40;
const WARM_UP = 400;
const MOST = 500;

const list = (ruleOf: (i: number) => string): string =>
  `version: 1\nrules:\n${Array.from({ length: MOST }, (_, i) => `  - ${ruleOf(i)}\n`).join("")}`;

/** The last rule allows `npm test` in the folder; the others are about other folders and tasks. */
const POLICIES: Readonly<Record<string, string>> = {
  "1 rule by fn": "version: 1\nrules: [{ id: all, when: { fn: Bash }, decision: ALLOW }]\n",
  "500 rules on arguments": list((i) => {
    const folder = i === MOST - 1 ? "/home/kim/shop" : `/home/kim/shop-${i}`;
    return `{ id: r${i}, when: { fn: Bash, args: { /cwd: ${folder}, /command: npm test } }, decision: ALLOW }`;
  }),
  "500 rules on commands": list((i) => {
    const task = i === MOST - 1 ? "test" : `run task-${i}`;
    return `{ id: r${i}, when: { fn: Bash, command: "npm ${task} *" }, decision: ALLOW }`;
  }),
};

interface Measured {
  name: string;
  server: Started;
  key: string;
  ms: number[];
  cpuMs: number;
}

let prompts = 0;
async function prompt({ server, key }: Measured): Promise<number> {
  prompts += 1;
  const kwargs = { command: "npm test", description: `the ${prompts}th time`, cwd: "/home/kim/shop" };
  const spec = { fn: "Bash", kwargs, timeout_seconds: 60 };
  const body = JSON.stringify({ run_id: "bench", call_id: `b-${prompts}`, agent_prompt: { agent: "claude" }, spec });
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const start = performance.now();
  const reply = await fetch(`${server.url}/a2h/v1alpha1/function_calls`, { method: "POST", headers, body });
  const text = await reply.text();
  const ms = performance.now() - start;
  if (!/"approved":true/.test(text)) throw new Error(`${reply.status} ${text}`);
  return ms;
}

const turns = Number(process.argv[2] ?? 20);
const folder = mkdtempSync(join(tmpdir(), "parley-rules-"));
const all: Measured[] = [];
try {
  for (const [name, policy] of Object.entries(POLICIES)) {
    const dataDir = join(folder, String(all.length));
    const key = createKey({ dataDir }, "bench", "--scope", "agent");
    writeFileSync(join(dataDir, "policy.yaml"), policy);
    all.push({ name, server: await startParley({ dataDir }), key, ms: [], cpuMs: 0 });
  }
  for (const one of all) for (let i = 0; i < WARM_UP; i += 1) await prompt(one);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const one of all) {
      const before = one.server.cpuMs();
      for (let i = 0; i < PROMPTS; i += 1) one.ms.push(await prompt(one));
      one.cpuMs += one.server.cpuMs() - before;
    }
  }
} finally {
  for (const { server } of all) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

const median = (ms: readonly number[]): number => ms.toSorted((a, b) => a - b)[Math.floor(ms.length / 2)] ?? NaN;
const [base] = all;
const rows = all.map(({ name, ms, cpuMs }) => {
  const [took, used] = [median(ms), cpuMs / ms.length];
  const ratios = [took / median(base?.ms ?? []), cpuMs / (base?.cpuMs ?? NaN)];
  return `| ${[name, ...[took, used, ...ratios].map((n) => n.toFixed(2))].join(" | ")} |`;
});
const head =
  "| policy | median, ms | processor time, ms | of 1 rule, median | of 1 rule, processor |\n| - | -: | -: | -: | -: |";
process.stdout.write(await format(`${head}\n${rows.join("\n")}\n`, { parser: "markdown" }));
