import { access } from "node:fs/promises";
import { join } from "node:path";
import type { NewTaskEvent } from "../model/assignment.ts";
import type { PermissionDecision, QuestionAnswer } from "./agents/agent.ts";
import { agentCalled, storeOf, type Bench } from "./bench.ts";
import type { Desk, Progress, Work } from "./desk.ts";
import { modelHosts, passedEnv } from "./model-hosts.ts";
import { attach, killAttempt, readLog, startSupervisor, type Link } from "./supervise.ts";
import type { SupervisorEnd, SupervisorLine, SupervisorOrder } from "./supervision.ts";

/** One run of the agent within an attempt: the first, or a resume. */
export interface AgentRun {
  message: string;
  resume: string | null;
  /** A supervisor was started for it, as far as is known: it is looked for before another is. */
  isStarted: boolean;
}

/** How a run ended, and which of its processes would not die. */
export interface RunEnd {
  end: SupervisorEnd;
  survivors: readonly number[];
}

/**
 * Has the agent work under a supervisor, or goes on with the one there is, until it ends; tells the desk what happens,
 * and the agent what people decide. An attempt that is to end is cancelled, and has ended once this returns.
 *
 * @throws whatever the desk throws; also when it leaves, and the agent goes on
 */
export async function superviseAgent(
  bench: Bench,
  work: Work,
  desk: Desk,
  run: AgentRun,
  onSession: (session: string) => void,
): Promise<RunEnd> {
  const found = run.isStarted ? await findSupervisor(bench, work.folder) : null;
  if (found && "dead" in found) {
    const lines = await readLog(work.folder, 0);
    const teller = openTeller(desk, work.logSeq, onSession);
    for (const line of lines) await teller.tell(line);
    const last = lines.at(-1);
    if (last?.type === "ended") return { end: last.end, survivors: last.survivors ?? [] };
    const { survivors } = await killAttempt(work.attemptId, bench);
    const error = `its supervisor was gone: ${found.reason}`;
    return { end: { is: "died", error, canResume: lines.some(({ type }) => type === "session") }, survivors };
  }
  const link = found ?? (await startSupervisor(await orderOf(bench, work, desk, run)));
  try {
    return await follow(link, work, desk, onSession);
  } finally {
    link.close();
  }
}

const COMES_UP_WITHIN_MS = 5000;
const LOOK_EVERY_MS = 100;

/** One that was just started may not listen yet; another one beside it would be one too many. */
async function findSupervisor({ clock }: Bench, folder: string): ReturnType<typeof attach> {
  const until = clock.monotonic() + COMES_UP_WITHIN_MS;
  for (;;) {
    const found = await attach(folder);
    if (!("dead" in found) || clock.monotonic() >= until || (await isSettled(folder))) return found;
    await clock.sleep(LOOK_EVERY_MS);
  }
}

/** Whether it has come up once: a mark says so. */
async function isSettled(folder: string): Promise<boolean> {
  return access(join(folder, "supervisor.json")).then(
    () => true,
    () => false,
  );
}

async function orderOf(bench: Bench, work: Work, desk: Desk, run: AgentRun): Promise<SupervisorOrder> {
  const { rules } = bench;
  const settings = agentCalled(bench, work.agent);
  const ready = bench.readiness(work.agent);
  if ("why" in ready) throw new Error(ready.why);
  const env = passedEnv(bench, work.agent);
  return {
    ...{ attemptId: work.attemptId, taskId: work.task.id, repo: work.repo.name, jobId: work.jobId },
    ...{ stepId: `task:${work.task.slug}`, folder: work.folder, sandbox: ready.sandbox, env },
    store: storeOf(rules.workDir, work.repo.name),
    agent: settings,
    ...{ message: run.message, resume: run.resume, sessionId: bench.newSessionId() },
    ...{ serverUrl: bench.serverUrl(), key: await desk.newKey() },
    egress: [...modelHosts(settings, env), ...rules.egress],
    limits: {
      workMs: rules.workMinutes * 60_000,
      silentMs: rules.silentMinutes * 60_000,
      turns: rules.turns,
      maxBudgetUsd: rules.maxBudgetUsd ?? null,
    },
  };
}

async function follow(link: Link, work: Work, desk: Desk, onSession: (session: string) => void): Promise<RunEnd> {
  const over = new AbortController();
  const leave = AbortSignal.any([desk.leaving, over.signal]);
  const cancel = (): void => link.cancel();
  const letGo = (): void => link.close();
  desk.leaving.addEventListener("abort", letGo, { once: true });
  if (desk.ending.aborted) cancel();
  else desk.ending.addEventListener("abort", cancel, { once: true });

  const teller = openTeller(desk, work.logSeq, onSession);
  const ask = openAsking(link, desk, leave);
  try {
    // What was told before and is not decided yet is asked again: nobody is asked twice for it.
    for (const line of await readLog(work.folder, 0)) if (line.seq <= work.logSeq) ask.remember(line);
    await ask.rememberedAll();
    for await (const line of link.lines(work.logSeq)) {
      if (desk.leaving.aborted) break;
      await teller.tell(line);
      await ask.hear(line);
      if (line.type === "ended") return { end: line.end, survivors: line.survivors ?? [] };
    }
    if (desk.leaving.aborted) throw new Error("the workshop is left");
    return { end: { is: "died", error: "its supervisor fell silent", canResume: true }, survivors: [] };
  } finally {
    over.abort();
    desk.ending.removeEventListener("abort", cancel);
    desk.leaving.removeEventListener("abort", letGo);
  }
}

interface Teller {
  tell(line: SupervisorLine): Promise<void>;
}

/** Tells the desk of every line that it was not told of before. */
function openTeller(desk: Desk, told: number, onSession: (session: string) => void): Teller {
  return {
    async tell(line) {
      if (line.type === "session") onSession(line.session);
      if (line.seq <= told) return;
      await desk.note(eventsOf(line), { logSeq: line.seq, ...progressOf(line) });
    },
  };
}

function progressOf(line: SupervisorLine): Progress {
  switch (line.type) {
    case "started":
      return { pid: line.pid, starttime: line.starttime };
    case "session":
      return { session: line.session, ...(line.agentVersion !== undefined && { agentVersion: line.agentVersion }) };
    case "usage":
      return { usage: line.usage };
    case "ended":
      return line.usage ? { usage: line.usage } : {};
    case "message":
    case "tool":
    case "error":
    case "permission":
    case "question":
    case "decided":
    case "waiting":
      return {};
  }
}

function eventsOf(line: SupervisorLine): NewTaskEvent[] {
  switch (line.type) {
    case "message":
    case "error":
      return [{ type: line.type, data: { text: line.text } }];
    case "tool": {
      const { name, input, result, isError } = line;
      return [{ type: "tool", data: { name, input, result, isError } }];
    }
    case "usage":
      return [{ type: "usage", data: { ...line.usage } }];
    case "permission": {
      const { tool, input, action, resource, diff } = line.wish;
      const asked: NewTaskEvent = { type: "permission", data: { ref: line.ref, tool, input, action, resource } };
      return diff === undefined ? [asked] : [asked, { type: "diff", data: { ref: line.ref, diff } }];
    }
    case "question":
      return [{ type: "question", data: { ref: line.ref, text: line.wish.text, options: line.wish.options } }];
    case "ended":
      return "error" in line.end ? [{ type: "error", data: { text: line.end.error } }] : [];
    case "started":
    case "session":
    case "decided":
    case "waiting":
      return [];
  }
}

/** Puts to people what the agent wants, and tells it what they decide; knows whether it waits for anybody. */
function openAsking(link: Link, desk: Desk, leave: AbortSignal) {
  const open = new Map<string, Extract<SupervisorLine, { ref: string; wish: unknown }>>();
  const asked = new Set<string>();
  let calls = 0;
  let isWaiting: boolean | null = null;

  function remember(line: SupervisorLine): void {
    if (line.type === "permission" || line.type === "question") open.set(line.ref, line);
    else if (line.type === "decided") open.delete(line.ref);
    else if (line.type === "waiting") calls = line.calls;
    else if (line.type === "started") {
      // What an earlier run waited for is not waited for any more.
      open.clear();
      calls = 0;
    }
  }

  async function settle(): Promise<void> {
    const waits = open.size > 0 || calls > 0;
    if (waits === isWaiting) return;
    isWaiting = waits;
    await desk.waiting(waits);
  }

  function put(line: Extract<SupervisorLine, { ref: string; wish: unknown }>): void {
    if (asked.has(line.ref)) return;
    asked.add(line.ref);
    const { ref } = line;
    const decided: Promise<PermissionDecision | QuestionAnswer> =
      line.type === "permission" ? desk.permission(ref, line.wish, leave) : desk.question(ref, line.wish, leave);
    decided
      .then(async (decision) => {
        if (leave.aborted) return;
        link.decide(ref, decision);
        await desk.note([{ type: "answer", data: { ref, ...decision } }]);
      })
      // An attempt that was lost meanwhile is cancelled elsewhere; one that is left is taken up again.
      .catch(() => asked.delete(ref));
  }

  return {
    remember,
    async rememberedAll() {
      await settle();
      for (const line of open.values()) put(line);
    },
    async hear(line: SupervisorLine) {
      remember(line);
      if (line.type === "permission" || line.type === "question") put(line);
      await settle();
    },
  };
}
