/**
 * Sends prompts of Claude Code by HTTP and by the command while their server is killed and restarted and connections are
 * cut, and looks for an `allow` without an approval in the store of exactly that input. The test
 * `test/connect/hooked.large.test.ts` runs a few hundred.
 *
 *     node test/proof/hooked.ts                  10,000 prompts
 *     node test/proof/hooked.ts --count 500 --seed 7
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { environment, MAIN, newFolder, parley, type Run, serve } from "../support/program.ts";
import { reservePort } from "../support/ports.ts";

const CLIENTS = 8;
const PEOPLE_EVERY_MS = 20;
/** A rule allows one of these tools and denies one; people decide about the third. */
const TOOLS = ["Read", "Write", "Bash"] as const;
const RULES = `version: 1
rules:
  - id: reads
    when: { fn: Read }
    decision: ALLOW
  - id: writes
    when: { fn: Write }
    decision: DENY
`;

export interface HookedReport {
  prompts: number;
  allowed: number;
  denied: number;
  /** The client saw no decision, or no reply. */
  undecided: number;
  kills: number;
  /** Each allowed prompt without a stored approval of its input. */
  unfounded: string[];
}

interface Plan {
  count: number;
  seed: number;
  /** One prompt in so many goes by the command. */
  commandEvery: number;
  /** The server is killed after so many prompts. */
  killEvery: number;
}

/** Runs the whole story. @throws {Error} where the server does not come back */
export async function runHooked(plan: Plan): Promise<HookedReport> {
  const dice = diceOf(plan.seed);
  const [dataDir, port] = [newFolder(), String(await reservePort())];
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, "policy.yaml"), RULES);
  const raised = {
    PARLEY_LIMITS_EDGE_PER_SECOND: "100000",
    PARLEY_LIMITS_EDGE_BURST: "100000",
    PARLEY_A2H_CREATES_PER_MINUTE: "1000000",
    PARLEY_A2H_PENDING_PER_AGENT: "100000",
  };
  let server: Run & { url: string } = await serve(dataDir, raised, "--port", port);
  const { url } = server;
  const mine = ["keys", "create", "phone", "--scope", "answer", "--person", "1"];
  const key = (await parley(mine, { PARLEY_DATA_DIR: dataDir })).out.trim();
  const over = new AbortController();
  const people = decideAll({ url, key, dice, signal: over.signal });
  const report: HookedReport = { prompts: 0, allowed: 0, denied: 0, undecided: 0, kills: 0, unfounded: [] };
  const seen: { text: string; digest: string }[] = [];
  let next = 0;
  let back: Promise<unknown> = Promise.resolve();
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (let n = next++; n < plan.count; n = next++) {
      const tool = TOOLS[dice(TOOLS.length)] ?? "Bash";
      const input = { n, text: `${plan.seed}/${n}` };
      const body = JSON.stringify({
        hook_event_name: "PermissionRequest",
        session_id: "s",
        tool_name: tool,
        tool_input: input,
      });
      const cutMs = dice(10) === 0 ? dice(60) : undefined;
      const said = n % plan.commandEvery === 0 ? await byCommand(url, body, cutMs) : await byHttp(url, body, cutMs);
      report.prompts += 1;
      if (said.includes('"behavior":"allow"')) {
        report.allowed += 1;
        seen.push({ text: `${tool} ${input.text}`, digest: digestOf(tool, input) });
      } else if (said.includes('"behavior":"deny"')) report.denied += 1;
      else report.undecided += 1;
      // A server that is away would refuse all the others at once.
      if (said === "") await back;
    }
  });
  const killing = (async () => {
    while (report.prompts + plan.killEvery < plan.count) {
      const goal = report.prompts + plan.killEvery;
      while (report.prompts < goal) await pause(5);
      back = server.ended.then(() => serve(dataDir, raised, "--port", port)).then((again) => (server = again));
      server.child.kill("SIGKILL");
      await back;
      report.kills += 1;
    }
  })();
  await Promise.all([...clients, killing]);
  over.abort();
  await people;
  server.child.kill("SIGTERM");
  await server.ended;
  const approved = approvedIn(join(dataDir, "parley.db"));
  report.unfounded = seen.filter(({ digest }) => !approved.has(digest)).map(({ text }) => text);
  return report;
}

async function byHttp(url: string, body: string, cutMs?: number): Promise<string> {
  try {
    const reply = await fetch(`${url}/hooks/claude`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      ...(cutMs !== undefined && { signal: AbortSignal.timeout(cutMs) }),
    });
    // Claude Code takes no decision from another status.
    const text = await reply.text();
    return reply.ok ? text : "{}";
  } catch {
    return "";
  }
}

async function byCommand(url: string, body: string, cutMs?: number): Promise<string> {
  const child = spawn(process.execPath, [MAIN, "hook", "claude"], { env: environment({ PARLEY_URL: url }) });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stdin.on("error", () => undefined).end(body);
  const ended = once(child, "close");
  if (cutMs !== undefined) void pause(cutMs * 10).then(() => child.kill("SIGKILL"));
  await ended;
  return out;
}

/** Decides whatever waits, as a person with a phone would, until aborted. */
async function decideAll(of: {
  url: string;
  key: string;
  dice: (sides: number) => number;
  signal: AbortSignal;
}): Promise<void> {
  const { url, key, dice, signal } = of;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const read = async (path: string) => (await fetch(`${url}/people/me/asks${path}`, { headers })).json();
  while (!signal.aborted) {
    try {
      const { asks } = (await read("")) as { asks: { id: string }[] };
      for (const { id } of asks) {
        const { digest } = (await read(`/${id}`)) as { digest: string };
        const body = JSON.stringify({ digest, approved: dice(2) === 0 });
        await (await fetch(`${url}/people/me/asks/${id}/decision`, { method: "POST", headers, body })).text();
      }
    } catch {
      // The server is away.
    }
    await pause(PEOPLE_EVERY_MS);
  }
}

/** The digest of a call (spec/a2h 10), computed here by itself; both names of the input are in their order. */
function digestOf(fn: string, kwargs: object): string {
  return `sha256:${createHash("sha256").update(JSON.stringify({ fn, kwargs })).digest("hex")}`;
}

/** The digests of the calls that the store holds as approved. */
function approvedIn(file: string): Set<string> {
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare("SELECT outcome FROM requests WHERE state = 'answered' AND outcome IS NOT NULL").all();
  const outcomes = rows.map(({ outcome }) => JSON.parse(String(outcome)) as { approved?: boolean; digest?: string });
  return new Set(
    outcomes.flatMap(({ approved, digest }) => (approved === true && digest !== undefined ? [digest] : [])),
  );
}

/** Returns a throw of dice that a seed repeats (mulberry32). */
function diceOf(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

if (import.meta.main) {
  const options = { count: { type: "string", default: "10000" }, seed: { type: "string", default: "1" } } as const;
  const { values } = parseArgs({ options });
  const plan = { count: Number(values.count), seed: Number(values.seed), commandEvery: 100, killEvery: 500 };
  const report = await runHooked(plan);
  console.log(JSON.stringify(report));
  process.exit(report.unfounded.length > 0 || report.allowed === 0 ? 1 : 0);
}
