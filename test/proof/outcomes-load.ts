import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../support/world.ts";
import { type WriteResult, toldBy } from "./ledger.ts";
import { type Call, problemsOfClaims, see } from "./outcomes-ledger.ts";

/** Agents that ask, claim and report, and their calls. */
export interface Agents {
  keys: readonly string[];
  calls: Call[];
  random: () => number;
  acknowledged: number;
  problems: string[];
}

const A2H = "/humanlayer/v1";
const CLIENTS = 6;
const NEWEST = 80;
const ENDS = ["done", "failed", "withdrawn"] as const;
const PROMISES = ["start", "end", "none"] as const;
/** The states after which no run may begin. */
const OVER = new Set(["done", "failed", "withdrawn", "unknown", "not_run"]);

/** Sets the agents to work until the server is gone: each makes a call, or goes on with one of before. */
export async function workUntilGone(agents: Agents, url: string): Promise<void> {
  const { random, calls } = agents;
  const client = async (): Promise<void> => {
    for (;;) {
      const older = calls.slice(-NEWEST)[Math.floor(random() * NEWEST)];
      const isRetried = older && random() < 0.3 && !busy.has(older);
      const call = isRetried ? older : newCall(agents);
      busy.add(call);
      const isThere = await takeTurn(agents, url, call);
      busy.delete(call);
      if (!isThere) return;
    }
  };
  const busy = new Set<Call>();
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Reads the outcome of each call again, and sends what was not acknowledged again unless its agent has died. */
export async function checkCalls(agents: Agents, url: string, calls: readonly Call[]): Promise<void> {
  for (let i = 0; i < calls.length; i += CLIENTS) {
    await Promise.all(
      calls.slice(i, i + CLIENTS).map(async (call) => {
        await read(agents, url, call);
        if (call.isLeft) return;
        if (call.approved === "unknown") await approve(agents, url, call);
        for (const [run, told] of call.claims) if (told === "unknown") await claim(agents, url, call, run);
        if (call.report?.told === "unknown") await report(agents, url, call);
        agents.problems.push(...problemsOfClaims(call));
      }),
    );
  }
}

function newCall({ calls, keys, random }: Agents): Call {
  const number = calls.length;
  const call: Call = {
    id: `call-${number}`,
    key: keys[number % keys.length] ?? "",
    reports: PROMISES[Math.floor(random() * PROMISES.length)] ?? "end",
    askId: null,
    approved: null,
    claims: new Map(),
    report: null,
    seen: null,
    isLeft: false,
  };
  calls.push(call);
  return call;
}

/** Brings a call on by what is left of its life; false when the server went away. */
async function takeTurn(agents: Agents, url: string, call: Call): Promise<boolean> {
  const { random } = agents;
  if (call.askId === null && !(await create(agents, url, call))) return false;
  if (call.approved !== "acknowledged" && !(await approve(agents, url, call))) return false;
  if (random() < 0.6 && !(await claimByTwo(agents, url, call))) return false;
  // The agent dies between its claim and its report.
  if (random() < 0.15) call.isLeft = true;
  if (call.isLeft || random() < 0.15) return true;
  call.report ??= {
    outcome: ENDS[Math.floor(random() * ENDS.length)] ?? "done",
    result_digest: `sha256:${Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(64, "0")}`,
    told: "unknown",
  };
  const isDying = random() < 0.1;
  if (isDying) call.isLeft = true;
  if (!(await report(agents, url, call, isDying ? random() * 6 : undefined)) && !isDying) return false;
  return random() < 0.2 ? contradict(agents, url, call) : true;
}

async function create(agents: Agents, url: string, call: Call): Promise<boolean> {
  const { id, reports } = call;
  const body = {
    run_id: "outcomes",
    call_id: id,
    ...(reports !== "none" && { reports }),
    spec: { fn: "issue_refund", kwargs: { order: id } },
  };
  const reply = await send(agents, url, call, { path: "/function_calls", body });
  if (toldBy(reply) === "acknowledged") call.askId = reply?.body.status.ask_id;
  return reply !== null;
}

async function approve(agents: Agents, url: string, call: Call): Promise<boolean> {
  const path = `/agent/function_calls/${call.id}/respond`;
  const reply = await send(agents, url, call, { path, body: { approved: true } });
  // A refusal says that it was decided: nobody else decides.
  call.approved = reply?.status === 409 ? "acknowledged" : toldBy(reply);
  return reply !== null;
}

/** Two runs want the call at once. */
async function claimByTwo(agents: Agents, url: string, call: Call): Promise<boolean> {
  const runs = ["a", "b"].map((run) => `${run}-${Math.floor(agents.random() * 3)}`);
  const done = await Promise.all(runs.map((run) => claim(agents, url, call, run)));
  agents.problems.push(...problemsOfClaims(call));
  return !done.includes(false);
}

async function claim(agents: Agents, url: string, call: Call, run: string): Promise<boolean> {
  const { seen, claims } = call;
  const isFirst = claims.size === 0 || [...claims.values()].every((told) => told === "refused");
  const former = claims.get(run);
  if (former !== "acknowledged") claims.set(run, "unknown");
  const reply = await send(agents, url, call, { path: `/agent/function_calls/${call.id}/claim`, body: { run } });
  const told = toldBy(reply);
  if (former === "acknowledged" && told === "refused") {
    agents.problems.push(`W4: ${run} had ${call.id}, and was then told ${reply?.text}`);
  }
  claims.set(run, former === "acknowledged" ? former : told);
  if (told === "acknowledged" && isFirst && seen && OVER.has(seen.state)) {
    agents.problems.push(`W4: ${run} was given ${call.id} after that was ${seen.state}`);
  }
  return reply !== null;
}

async function report(agents: Agents, url: string, call: Call, withinMs?: number): Promise<boolean> {
  if (!call.report) return true;
  const { outcome, result_digest, told: former } = call.report;
  const body = { outcome, result_digest };
  const reply = await send(agents, url, call, { path: `/function_calls/${call.id}/outcome`, body, withinMs });
  const told: WriteResult = toldBy(reply);
  if (former !== "acknowledged") call.report.told = told;
  else if (told === "refused") agents.problems.push(`W4: ${call.id} was ${outcome}, which is refused: ${reply?.text}`);
  if (told === "acknowledged") note(agents, call, reply);
  return reply !== null;
}

/** Reports another end than the one that was acknowledged: it is refused. */
async function contradict(agents: Agents, url: string, call: Call): Promise<boolean> {
  if (call.report?.told !== "acknowledged") return true;
  const body = { outcome: call.report.outcome === "done" ? "failed" : "done" };
  const reply = await send(agents, url, call, { path: `/function_calls/${call.id}/outcome`, body });
  if (toldBy(reply) === "acknowledged") {
    agents.problems.push(`W4: ${call.id} was ${call.report.outcome}, and then ${body.outcome} was accepted`);
  }
  return reply !== null;
}

async function read(agents: Agents, url: string, call: Call): Promise<void> {
  const reply = await send(agents, url, call, { method: "GET", path: `/function_calls/${call.id}` });
  if (reply?.status === 404 && call.askId !== null) agents.problems.push(`D1: ${call.id} is gone`);
  if (reply?.status !== 200) return;
  call.askId ??= reply.body.status.ask_id;
  if (reply.body.status.outcome) note(agents, call, { ...reply, body: reply.body.status.outcome });
  else if (call.seen && call.reports !== "none") agents.problems.push(`W4: the outcome of ${call.id} is gone`);
}

function note(agents: Agents, call: Call, reply: Reply | null): void {
  const problem = reply && see(call, reply.body);
  if (problem) agents.problems.push(problem);
}

interface Request {
  method?: string;
  path: string;
  body?: object;
  /** The client dies after this time. */
  withinMs?: number | undefined;
}

/** Makes one request; nothing when no whole reply came. */
async function send(agents: Agents, url: string, { key }: Call, request: Request): Promise<Reply | null> {
  const { method = "POST", path, body, withinMs } = request;
  const dying = new AbortController();
  if (withinMs !== undefined) void sleep(withinMs).then(() => dying.abort());
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  try {
    const response = await fetch(`${url}${A2H}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
      signal: dying.signal,
    });
    const text = await response.text();
    if (method !== "GET" && response.status < 300) agents.acknowledged += 1;
    if (response.status >= 500 && response.status !== 503) {
      agents.problems.push(`${method} ${path} was answered ${response.status} ${text}`);
    }
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  } catch {
    return null;
  }
}
