import { rm } from "node:fs/promises";
import type { Server } from "node:net";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { base62 } from "../../lib/id.ts";
import type { Random } from "../../lib/random.ts";
import type { AttemptUsage } from "../../tasks/model/task.ts";
import { openAgentPipes } from "./agent-pipes.ts";
import type { Agent, AgentEnd, AgentPipes, Launch, PermissionRequest, AgentCallbacks } from "../agents/agent.ts";
import { openAttemptMcp } from "../mcp/attempt-mcp.ts";
import { listen, openDoorsOut } from "../sandbox/doors-out.ts";
import { watchFolder } from "../folder-gone.ts";
import { keptKeyOf, openKeyProxy } from "../sandbox/key-proxy.ts";
import { openPendingDecisions, type PendingDecisions } from "../pending-decisions.ts";
import { HAS_PROC, killAttempt, starttimeOf } from "../sandbox/processes.ts";
import { examinePermission } from "../examine-permission.ts";
import { recordTree } from "../recorded-tree.ts";
import { harmless, openRedaction, toShow, type Redaction } from "../redaction.ts";
import { prepareSandbox, makeSandboxFolder, spawnSandboxed, type Started } from "../sandbox/run.ts";
import { openSupervisorLog, type SupervisorLog } from "./log.ts";
import { agentOrderOf, sandboxOf } from "./sandbox.ts";
import { openControlSocket } from "./control-socket.ts";
import { openAgentNotes, type AgentNotes } from "./notes.ts";
import type { SupervisorEnd, SupervisorFact, SupervisorMark, SupervisorOrder } from "./lines.ts";
import { openWorkLimits, type WorkLimits } from "../work-limits.ts";
import { writeWhole } from "../../lib/files/durable-files.ts";

export interface SupervisorParts {
  agent: Agent;
  clock: Clock;
  random: Random;
  fetch: typeof globalThis.fetch;
}

/** How long each step of ending an agent may take (spec/assignment 9). */
const PROTOCOL_INTERRUPT_MS = 3000;
const SIGINT_MS = 5000;
/** An agent that has done its work has so long to end by itself; one that has ended, for its adapter to see it. */
const LAST_STEPS_MS = 5000;
/** How long an attached process may take to read the last lines. The log has them anyway. */
const LAST_LINES_MS = 2000;
/** The most refused addresses that are reported for one agent. */
const MOST_REFUSED = 20;
const CANCELED = "The attempt was ended.";
const FULL = "The agent asked for so much that its log is full.";
const RAW_CUT = "The agent has written more than 50 MiB: what follows is not kept in raw.log.";
const INTERRUPTED = "The agent was ended with the server.";

/**
 * Owns one agent from its start until the last of its processes is gone: writes down whatever happens, passes decisions
 * on, stops it at its limits, ends it on demand (spec/assignment 9 and 10). Resolves when `ended` is in
 * the log and nothing is left to do.
 */
export async function supervise(order: SupervisorOrder, parts: SupervisorParts): Promise<void> {
  const { clock } = parts;
  const isJailed = order.sandbox === "bubblewrap";
  const folder = await makeSandboxFolder();
  const post = openPost(order, parts);
  const { log, limits, station, append, asked } = post;
  // Nobody comes back for an attempt whose folder was deleted.
  const over = new AbortController();
  void watchFolder(order.folder, clock, over.signal, () => asked.stop({ kind: "canceled" }));

  const run: Run = { usage: {}, session: undefined, tree: undefined };
  let end: SupervisorEnd;
  try {
    end = await runAgent(order, parts, { folder, post, run });
  } catch (error) {
    limits.close();
    end = asked.why() ?? { kind: "failed", error: harmless(error instanceof Error ? error.message : String(error)) };
  }
  over.abort();
  await run.tree?.close();
  const { survivors } = await killAttempt(order.attemptId, { clock, atOnce: isJailed, session: run.session });
  append({
    type: "ended",
    end,
    usage: { ...run.usage, workMs: limits.workedMs() },
    ...(survivors.length > 0 && { survivors }),
  });
  log.close();
  await rm(folder, { recursive: true, force: true });
  const closed = new Promise<void>((resolve) => station.close(() => resolve()));
  await Promise.race([closed, clock.sleep(LAST_LINES_MS)]);
}

/** The facts about an agent's run, kept even if it fails half way. */
interface Run {
  usage: AttemptUsage;
  /** The session of its processes, outside of a jail. */
  session: number | undefined;
  /** The record of its processes, where the system keeps none. */
  tree: ReturnType<typeof recordTree> | undefined;
}

/** Why an agent is to end before it is done; the first reason stands. */
interface AskedToEnd {
  why(): SupervisorEnd | null;
  stop(end: SupervisorEnd): void;
  /** Resolves once there is a reason. */
  stopped: Promise<void>;
}

function openAskedToEnd(): AskedToEnd {
  let why: SupervisorEnd | null = null;
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  return {
    why: () => why,
    stop(end) {
      why ??= end;
      resolve();
    },
    stopped,
  };
}

/** The parts between an agent and everything outside. */
interface Post {
  /** Each proves to one door who comes to it. */
  tokens: { station: string; mcp: string; model: string };
  redaction: Redaction;
  asked: AskedToEnd;
  log: SupervisorLog;
  append: (fact: SupervisorFact) => void;
  limits: WorkLimits;
  decisions: PendingDecisions;
  notes: AgentNotes;
  station: Server;
  mcp: ReturnType<typeof openAttemptMcp>;
}

function openPost(order: SupervisorOrder, { clock, random, fetch }: SupervisorParts): Post {
  const tokens = { station: base62(random, 43), mcp: base62(random, 43), model: base62(random, 43) };
  const redaction = redactionOf(order, tokens);
  const asked = openAskedToEnd();
  const { stop } = asked;
  const log = openSupervisorLog(
    order.folder,
    () => clock.now(),
    () => stop({ kind: "failed", error: FULL }),
  );
  const append = (fact: SupervisorFact) => log.append(redaction.value(fact));
  const limits = openWorkLimits(clock, order.limits, (error) => stop({ kind: "failed", error }));
  const waiting = { decisions: 0, calls: 0 };
  const wait = (change: Partial<typeof waiting>) => {
    Object.assign(waiting, change);
    limits.waitingFor(waiting.decisions + waiting.calls);
  };
  const decisions = openPendingDecisions({
    append,
    nextRef: () => `r${log.nextSeq()}`,
    onCount: (count) => wait({ decisions: count }),
  });
  const notes = openAgentNotes(append);
  const station = openControlSocket({
    token: tokens.station,
    log,
    onDecide: (ref, decision) => decisions.decide(ref, decision),
    onNote: (note) => notes.pass(note),
    onCancel: () => stop({ kind: "canceled" }),
    onInterrupt: () => stop({ kind: "died", error: INTERRUPTED, canResume: true }),
  });
  const mcp = openAttemptMcp({
    token: tokens.mcp,
    serverUrl: order.serverUrl,
    key: order.key,
    clock,
    fetch,
    isJailed: order.sandbox === "bubblewrap",
    onWaiting: (calls) => {
      wait({ calls });
      append({ type: "waiting", calls });
    },
  });
  return { tokens, redaction, asked, log, append, limits, decisions, notes, station, mcp };
}

function redactionOf(order: SupervisorOrder, { station, mcp, model }: Post["tokens"]): Redaction {
  const passed = order.agent.passEnv.flatMap((name) => (order.env[name] ? [[name, order.env[name]] as const] : []));
  return openRedaction({ key: order.key, token: station, mcp, model, ...Object.fromEntries(passed) });
}

/** Listens in `folder`, and writes the mark by which a client finds the supervisor. */
async function takePost({ folder: place }: SupervisorOrder, folder: string, { station, tokens }: Post): Promise<void> {
  prepareSandbox(folder);
  const socket = join(folder, "supervisor.sock");
  await listen(station, { path: socket });
  const mark: SupervisorMark = {
    pid: process.pid,
    starttime: starttimeOf(process.pid),
    socket,
    token: tokens.station,
  };
  await writeWhole(join(place, "supervisor.json"), `${JSON.stringify(mark)}\n`);
}

/** Starts the agent in its sandbox and talks with it until it has ended, or was asked to. @returns how it ended */
async function runAgent(
  order: SupervisorOrder,
  { agent, clock }: SupervisorParts,
  { folder, post, run }: { folder: string; post: Post; run: Run },
): Promise<SupervisorEnd> {
  const { tokens, redaction, asked, append, limits, decisions, notes, mcp } = post;
  const isJailed = order.sandbox === "bubblewrap";
  await takePost(order, folder, post);
  const kept = keptKeyOf(order.agent, order.env);
  await using doors = await openDoorsOut({
    isJailed,
    folder,
    egress: order.egress,
    mcp,
    model: kept && openKeyProxy(kept, tokens.model),
    onRefused: tellOfRefused(append),
  });
  const sandbox = sandboxOf(order, folder, doors);
  const agentOrder = agentOrderOf(order, sandbox, {
    mcp: { url: doors.mcpUrl, token: tokens.mcp },
    // Its own token is all that the agent knows of a key.
    env: { ...doors.env, ...(kept && { [kept.keyName]: tokens.model, [kept.urlName]: doors.modelUrl }) },
  });
  const launch = await agent.launch(agentOrder);
  const started = await spawnSandboxed(sandbox, launch);
  if (!isJailed) run.session = started.pid;
  if (!HAS_PROC) run.tree = recordTree(order.attemptId, started.pid, clock);
  append(startedFact(started, launch));
  using pipes = openAgentPipes(started, {
    folder: order.folder,
    clock,
    redaction,
    onOutput: () => limits.noteOutput(),
    onCut: () => append({ type: "error", text: RAW_CUT }),
  });
  const looked = { tree: agentOrder.treeOutside, isJailed, redaction };
  const callbacks = callbacksOf(
    append,
    { ...decisions, ...notes },
    {
      examine: (permission) => examinePermission(permission, looked),
      onUsage(more) {
        Object.assign(run.usage, more);
        limits.used(run.usage);
      },
    },
  );
  const interrupt = new AbortController();
  const talk = endOfTalk(() => agent.converse(agentOrder, pipes, callbacks, interrupt.signal));
  const ran = await untilOver(talk, pipes, asked.stopped, clock);
  limits.close();
  decisions.close(CANCELED);
  await endAgent({ started, pipes, interrupt, hasEnd: ran !== null, clock, talk });
  if (isJailed) started.kill();
  return ran ? endOf(ran, asked.why(), run.usage) : (asked.why() ?? { kind: "canceled" });
}

/** Returns what writes down a place that the sandbox let nothing through to: each once, and only so many. */
function tellOfRefused(append: Post["append"]): (place: string) => void {
  const refused = new Set<string>();
  return (place) => {
    if (refused.size >= MOST_REFUSED || refused.has(place)) return;
    refused.add(place);
    append({ type: "error", text: `The sandbox let nothing through to ${harmless(place)}.` });
  };
}

function startedFact({ pid, starttime }: Started, { argv }: Launch): SupervisorFact {
  return { type: "started", pid, starttime, argv: toShow([...argv]) };
}

function callbacksOf(
  append: (fact: SupervisorFact) => void,
  { permission, question, onNote, noted }: PendingDecisions & AgentNotes,
  {
    examine,
    onUsage,
  }: {
    examine: (permission: PermissionRequest) => ReturnType<typeof examinePermission>;
    onUsage: (usage: AttemptUsage) => void;
  },
): AgentCallbacks {
  return {
    session: (session, agentVersion) => {
      append({ type: "session", session, ...(agentVersion !== undefined && { agentVersion }) });
    },
    message: (text) => append({ type: "message", text: toShow(text) }),
    tool: (use) => append({ type: "tool", ...toShow(use) }),
    usage: (usage) => {
      append({ type: "usage", usage });
      onUsage(usage);
    },
    error: (text) => append({ type: "error", text: toShow(text) }),
    async permission(permissionRequest, withdrawn, use) {
      const examined = await examine(permissionRequest);
      return "allow" in examined ? examined : permission(examined, withdrawn, use);
    },
    question,
    onNote,
    noted,
  };
}

async function endOfTalk(converse: () => Promise<AgentEnd>): Promise<AgentEnd> {
  try {
    return await converse();
  } catch (error) {
    return { kind: "failed", error: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns how the agent ended by itself, or null when it is to be ended. */
async function untilOver(
  talk: Promise<AgentEnd>,
  { exited }: AgentPipes,
  stopped: Promise<void>,
  clock: Clock,
): Promise<AgentEnd | null> {
  const silentExit = async (): Promise<AgentEnd> => {
    const { stderr } = await exited;
    await clock.sleep(LAST_STEPS_MS);
    return { kind: "died", error: `The agent ended without a word.\n${stderr}`.trim(), canResume: true };
  };
  return Promise.race([talk, silentExit(), stopped.then(() => null)]);
}

interface Ending {
  started: Started;
  pipes: AgentPipes;
  interrupt: AbortController;
  /** The agent has done its work; it only has to go. */
  hasEnd: boolean;
  clock: Clock;
  talk: Promise<AgentEnd>;
}

/** The agent was asked to end in the words of its protocol, then by SIGINT; what it does not heed is the caller's to see to. */
async function endAgent({ started, pipes, interrupt, hasEnd, clock, talk }: Ending): Promise<void> {
  let isGone = false;
  const gone = started.exited.then(() => {
    isGone = true;
  });
  const waitForIt = (ms: number, ...other: Promise<unknown>[]) => Promise.race([gone, clock.sleep(ms), ...other]);
  if (hasEnd) {
    pipes.closeInput();
    await waitForIt(LAST_STEPS_MS);
  } else {
    interrupt.abort();
    await waitForIt(PROTOCOL_INTERRUPT_MS, talk);
  }
  if (isGone) return;
  started.interrupt();
  await waitForIt(SIGINT_MS);
}

function endOf(ran: AgentEnd, why: SupervisorEnd | null, usage: AttemptUsage): SupervisorEnd {
  if (ran.kind !== "died") Object.assign(usage, "usage" in ran ? ran.usage : {});
  switch (ran.kind) {
    case "done":
      return { kind: "done", ...(ran.summary !== undefined && { summary: toShow(ran.summary) }) };
    case "failed":
      return why ?? { kind: "failed", error: toShow(ran.error) };
    case "died":
      return why ?? { kind: "died", error: toShow(ran.error), canResume: ran.canResume };
    case "interrupted":
      return why ?? { kind: "died", error: "The agent was interrupted.", canResume: true };
  }
}
