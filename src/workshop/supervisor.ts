import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import { base62 } from "../lib/id.ts";
import type { Random } from "../lib/random.ts";
import type { AttemptUsage } from "../model/assignment.ts";
import { openAgentPipes } from "./agent-pipes.ts";
import type { Agent, AgentEnd, AgentOrder, AgentPipes, Launch, PermissionWish, Told } from "./agents/agent.ts";
import { openAttemptMcp } from "./attempt-mcp.ts";
import { listen, openDoorsOut, type DoorsOut } from "./doors-out.ts";
import { watchFolder } from "./folder-gone.ts";
import { keptKeyOf, openKeyProxy } from "./key-proxy.ts";
import { openPendingDecisions, type PendingDecisions } from "./pending-decisions.ts";
import { ATTEMPT_VARIABLE, HAS_PROC, killAttempt, starttimeOf } from "./processes.ts";
import { findProgram, SYSTEM_PATH } from "./program-needs.ts";
import { examineWish } from "./examine-wish.ts";
import { recordTree } from "./recorded-tree.ts";
import { harmless, openRedaction, toShow } from "./redaction.ts";
import { furnish, makeRoomFolder, pathInside, startInside, type Room, type Started } from "./room.ts";
import { JAIL } from "./bwrap.ts";
import { openSupervisorLog } from "./supervisor-log.ts";
import { openStation } from "./supervisor-station.ts";
import type { SupervisorEnd, SupervisorFact, SupervisorMark, SupervisorOrder } from "./supervision.ts";
import { openWorkLimits } from "./work-limits.ts";
import { writeWhole } from "./write-whole.ts";

export interface SupervisorParts {
  agent: Agent;
  clock: Clock;
  random: Random;
  fetch: typeof globalThis.fetch;
}

/** How long each step of ending an agent may take (contract-assignment.md, section 9). */
const PROTOCOL_INTERRUPT_MS = 3000;
const SIGINT_MS = 5000;
/** An agent that has done its work has so long to end by itself; one that has ended, for its adapter to see it. */
const LAST_STEPS_MS = 5000;
/** Whoever is attached has so long to read the last lines; they are in the log anyway. */
const LAST_LINES_MS = 2000;
const CANCELED = "The attempt was ended.";
const FULL = "The agent asked for so much that its log is full.";
const RAW_CUT = "The agent has written more than 50 MiB: what follows is not kept in raw.log.";
const INTERRUPTED = "The agent was ended with the server.";

/**
 * Owns one agent from its start until the last of its processes is gone: writes down whatever happens, passes decisions
 * on, stops it at its limits, ends it on demand (contract-assignment.md, sections 9 and 10). Resolves when `ended` is in
 * the log and nothing is left to do.
 */
export async function supervise(order: SupervisorOrder, parts: SupervisorParts): Promise<void> {
  const { clock, random } = parts;
  const isJailed = order.sandbox === "bubblewrap";
  const folder = await makeRoomFolder();
  const tokens = { station: base62(random, 43), mcp: base62(random, 43), model: base62(random, 43) };
  const passed = order.agent.passEnv.flatMap((name) => (order.env[name] ? [[name, order.env[name]] as const] : []));
  const redaction = openRedaction({
    key: order.key,
    token: tokens.station,
    mcp: tokens.mcp,
    model: tokens.model,
    ...Object.fromEntries(passed),
  });
  let why: SupervisorEnd | null = null;
  const stopped = Promise.withResolvers<void>();
  const stop = (end: SupervisorEnd) => {
    why ??= end;
    stopped.resolve();
  };
  const full = () => stop({ is: "failed", error: FULL });
  const log = openSupervisorLog(order.folder, () => clock.now(), full);
  const append = (fact: SupervisorFact) => log.append(redaction.value(fact));

  const over = new AbortController();
  // Nobody comes back for an attempt whose folder was deleted.
  void watchFolder(order.folder, clock, over.signal, () => stop({ is: "canceled" }));
  const limits = openWorkLimits(clock, order.limits, (error) => stop({ is: "failed", error }));
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
  const station = openStation({
    ...{ token: tokens.station, log },
    onDecide: (ref, decision) => decisions.decide(ref, decision),
    onCancel: () => stop({ is: "canceled" }),
    onInterrupt: () => stop({ is: "died", error: INTERRUPTED, canResume: true }),
  });
  const mcp = openAttemptMcp({
    ...{ token: tokens.mcp, serverUrl: order.serverUrl, key: order.key, clock, fetch: parts.fetch, isJailed },
    onWaiting: (calls) => {
      wait({ calls });
      append({ type: "waiting", calls });
    },
  });

  const usage: AttemptUsage = {};
  let session: number | undefined;
  let tree: ReturnType<typeof recordTree> | undefined;
  let end: SupervisorEnd;
  try {
    furnish(folder);
    const socket = join(folder, "supervisor.sock");
    await listen(station, { path: socket });
    const mark: SupervisorMark = {
      ...{ pid: process.pid, starttime: starttimeOf(process.pid), socket, token: tokens.station },
    };
    await writeWhole(join(order.folder, "supervisor.json"), `${JSON.stringify(mark)}\n`);
    const refused = new Set<string>();
    const kept = keptKeyOf(order.agent, order.env);
    await using doors = await openDoorsOut({
      ...{ isJailed, folder, egress: order.egress, mcp },
      model: kept && openKeyProxy(kept, tokens.model),
      onRefused: (place) => {
        if (refused.size >= 20 || refused.has(place)) return;
        refused.add(place);
        append({ type: "error", text: `The sandbox let nothing through to ${harmless(place)}.` });
      },
    });
    const room = roomOf(order, folder, doors);
    const agentOrder = agentOrderOf(order, room, doors, tokens.mcp, {
      // Its own token is all that the agent knows of a key.
      ...(kept && { [kept.keyName]: tokens.model, [kept.urlName]: doors.modelUrl }),
    });
    const launch = await parts.agent.launch(agentOrder);
    const started = await startInside(room, launch);
    if (!isJailed) session = started.pid;
    if (!HAS_PROC) tree = recordTree(order.attemptId, started.pid, clock);
    append(startedFact(started, launch));
    using pipes = openAgentPipes(started, {
      ...{ folder: order.folder, clock, redaction, heard: () => limits.heard() },
      onCut: () => append({ type: "error", text: RAW_CUT }),
    });
    const looked = { tree: agentOrder.treeOutside, isJailed, redaction };
    const told = toldOf(append, decisions, {
      examine: (wish) => examineWish(wish, looked),
      onUsage(more) {
        Object.assign(usage, more);
        limits.used(usage);
      },
    });
    const interrupt = new AbortController();
    const talk = converse(parts.agent, agentOrder, pipes, told, interrupt.signal);
    const ran = await untilOver(talk, pipes, stopped.promise, clock);
    limits.close();
    decisions.close(CANCELED);
    await endAgent({ started, pipes, interrupt, hasEnd: ran !== null, clock, talk });
    if (isJailed) started.kill();
    end = ran ? endOf(ran, why, usage) : (why ?? { is: "canceled" });
  } catch (error) {
    limits.close();
    end = why ?? { is: "failed", error: harmless(error instanceof Error ? error.message : String(error)) };
  }
  over.abort();
  await tree?.close();
  const { survivors } = await killAttempt(order.attemptId, { clock, atOnce: isJailed, session });
  append({
    ...{ type: "ended", end, usage: { ...usage, workMs: limits.workedMs() } },
    ...(survivors.length > 0 && { survivors }),
  });
  log.close();
  await rm(folder, { recursive: true, force: true });
  const closed = new Promise<void>((resolve) => station.close(() => resolve()));
  await Promise.race([closed, clock.sleep(LAST_LINES_MS)]);
}

function roomOf(order: SupervisorOrder, folder: string, { bridges }: DoorsOut): Room {
  const path = order.env["PATH"] ?? process.env["PATH"] ?? SYSTEM_PATH;
  const bwrap = order.sandbox === "bubblewrap" ? findProgram("bwrap", `${path}:${SYSTEM_PATH}`) : null;
  // What was to run in a jail never runs without one.
  if (order.sandbox === "bubblewrap" && bwrap === null) throw new Error("bubblewrap is not on this machine any more");
  return {
    ...{ attemptId: order.attemptId, bwrap, store: order.store, folder, path, bridges },
    ...{ tree: join(order.folder, "tree"), home: join(order.folder, "home") },
    hidden: [order.folder, order.store],
  };
}

function agentOrderOf(
  order: SupervisorOrder,
  room: Room,
  doors: DoorsOut,
  token: string,
  instead: Readonly<Record<string, string>>,
): AgentOrder {
  const jailed = room.bwrap !== null;
  const home = jailed ? JAIL.home : room.home;
  return {
    ...{ settings: order.agent, message: order.message, resume: order.resume, sessionId: order.sessionId, jailed },
    ...{ tree: jailed ? JAIL.tree : room.tree, treeOutside: room.tree, home, homeOutside: room.home },
    mcp: { url: doors.mcpUrl, token },
    env: {
      ...order.env,
      ...{ PATH: pathInside(room), HOME: home, LANG: order.env["LANG"] ?? "C.UTF-8", TERM: "dumb" },
      ...{ [ATTEMPT_VARIABLE]: order.attemptId, PARLEY_TASK: order.taskId, PARLEY_URL: order.serverUrl },
      ...{ TASK_RELAY_JOB_ID: order.jobId, TASK_RELAY_STEP_ID: order.stepId },
      ...doors.env,
      ...instead,
    },
    ...{ maxTurns: order.limits.turns, maxBudgetUsd: order.limits.maxBudgetUsd },
  };
}

function startedFact({ pid, starttime }: Started, { argv }: Launch): SupervisorFact {
  return { type: "started", pid, starttime, argv: toShow([...argv]) };
}

function toldOf(
  append: (fact: SupervisorFact) => void,
  { permission, question }: PendingDecisions,
  {
    examine,
    onUsage,
  }: {
    examine: (wish: PermissionWish) => ReturnType<typeof examineWish>;
    onUsage: (usage: AttemptUsage) => void;
  },
): Told {
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
    async permission(wish) {
      const examined = await examine(wish);
      return "allow" in examined ? examined : permission(examined);
    },
    question,
  };
}

async function converse(
  agent: Agent,
  order: AgentOrder,
  pipes: AgentPipes,
  told: Told,
  interrupt: AbortSignal,
): Promise<AgentEnd> {
  try {
    return await agent.converse(order, pipes, told, interrupt);
  } catch (error) {
    return { is: "failed", error: error instanceof Error ? error.message : String(error) };
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
    return { is: "died", error: `The agent ended without a word.\n${stderr}`.trim(), canResume: true };
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
  if (ran.is !== "died") Object.assign(usage, "usage" in ran ? ran.usage : {});
  switch (ran.is) {
    case "done":
      return { is: "done", ...(ran.summary !== undefined && { summary: toShow(ran.summary) }) };
    case "failed":
      return why ?? { is: "failed", error: toShow(ran.error) };
    case "died":
      return why ?? { is: "died", error: toShow(ran.error), canResume: ran.canResume };
    case "interrupted":
      return why ?? { is: "died", error: "The agent was interrupted.", canResume: true };
  }
}
