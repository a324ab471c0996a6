import { access, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NewTaskEvent } from "../tasks/model/task.ts";
import { agentNamed, storeOf, type WorkshopContext } from "./workshop-context.ts";
import { listFolders } from "./attempt-assignment.ts";
import { AllowedUses } from "./allowed-uses.ts";
import { Asking } from "./asking.ts";
import { AttemptLost, type AttemptClient, type Progress, type TaskRun } from "./attempt-client.ts";
import { modelHosts, passedEnv } from "./sandbox/model-hosts.ts";
import { signalProcess } from "./sandbox/processes.ts";
import type { Clock } from "../lib/clock.ts";
import { claimOf } from "./supervisor/claim.ts";
import { attach, killAttempt, readLog, startSupervisor, type Link } from "./supervisor/start.ts";
import type { SupervisorEnd, SupervisorLine, SupervisorOrder } from "./supervisor/lines.ts";
import { writeWhole } from "../lib/files/durable-files.ts";

/** One run of the agent within an attempt: the first, or a resume. */
export interface AgentRun {
  /** How often it was resumed before. */
  resumes: number;
  /** Called only if no supervisor was started for it yet. Prepares the tree, and returns the first message. */
  begin(): Promise<{ message: string; resume: string | null }>;
  onSession(session: string): void;
}

/** How a run ended, and which of its processes would not die. */
export interface RunEnd {
  end: SupervisorEnd;
  survivors: readonly number[];
}

/**
 * Runs the agent under a supervisor, or goes on with a running one, until it ends. Reports events to the server, and
 * decisions of people to the agent.
 *
 * @throws {AttemptLost} when the attempt is to end, and when the workshop is left; then the agent goes on. Also every
 *   error of `client`.
 */
export async function superviseAgent(
  workshop: WorkshopContext,
  work: TaskRun,
  client: AttemptClient,
  run: AgentRun,
): Promise<RunEnd> {
  const { folder, attemptId } = work;
  const begun = await readBegun(folder);
  if (begun?.attemptId === attemptId && begun.resumes === run.resumes) {
    const found = await findSupervisor(workshop, folder);
    if (!("dead" in found)) return followWhole(found, { workshop, work, client, run }, begun);
    const lines = await readLog(folder, begun.after);
    const reporter = openLineReporter(client, Math.max(begun.after, work.logSeq), run);
    const uses = new AllowedUses(client);
    for (const line of lines) {
      await reporter.report(line);
      await uses.accept(line);
    }
    const last = lines.at(-1);
    if (last?.type === "ended") return { end: last.end, survivors: last.survivors ?? [] };
    if (lines.length > 0) return diedWithSupervisor(workshop, work, `its supervisor was gone: ${found.reason}`);
    // It never came to the point of doing anything.
  }
  await untilGone(workshop, folder);
  const { message, resume } = await run.begin();
  const mark: Begun = { attemptId, resumes: run.resumes, after: (await readLog(folder, 0)).at(-1)?.seq ?? 0 };
  const order = await orderOf(workshop, work, client, { message, resume });
  await client.step("running", { sandbox: order.sandbox });
  await rm(join(folder, "supervisor.json"), { force: true });
  await writeWhole(join(folder, BEGUN), JSON.stringify(mark));
  return followWhole(await startSupervisor(order), { workshop, work, client, run }, mark);
}

/** Which run the supervisor of a folder was started for, and after which line of the log its own begin. */
interface Begun {
  attemptId: string;
  resumes: number;
  after: number;
}

const BEGUN = "run.json";

async function readBegun(folder: string): Promise<Begun | null> {
  const text = await readFile(join(folder, BEGUN), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as Begun);
}

/** Returns what is supervised on this machine: every folder whose supervisor lives, and the attempt it was started for. */
export async function findSupervised(workDir: string): Promise<{ attemptId: string; folder: string }[]> {
  const found: { attemptId: string; folder: string }[] = [];
  for (const { folder } of await listFolders(workDir)) {
    const begun = claimOf(folder) === null ? null : await readBegun(folder);
    if (begun) found.push({ attemptId: begun.attemptId, folder });
  }
  return found;
}

interface Followed {
  workshop: WorkshopContext;
  work: TaskRun;
  client: AttemptClient;
  run: AgentRun;
}

async function followWhole(link: Link, followed: Followed, { after }: Begun): Promise<RunEnd> {
  try {
    const ended = await follow(link, followed, after);
    if (ended) return { end: ended.end, survivors: ended.survivors ?? [] };
  } finally {
    link.close();
  }
  return diedWithSupervisor(followed.workshop, followed.work, "its supervisor was gone");
}

/** Ends the processes of an attempt whose supervisor is gone. Those in a jail ended with the supervisor. */
async function diedWithSupervisor(workshop: WorkshopContext, { attemptId }: TaskRun, error: string): Promise<RunEnd> {
  const { survivors } = await killAttempt(attemptId, workshop);
  return { end: { kind: "died", error, canResume: true }, survivors };
}

const COMES_UP_WITHIN_MS = 5000;
const LOOK_EVERY_MS = 100;
const GONE_WITHIN_MS = 30_000;

/** One that was just started may not listen yet; another one beside it would be one too many. */
async function findSupervisor({ clock }: WorkshopContext, folder: string): ReturnType<typeof attach> {
  const until = clock.monotonic() + COMES_UP_WITHIN_MS;
  for (;;) {
    const found = await attach(folder);
    const isComing = (await isThere(folder, "order.json")) && !(await isThere(folder, "supervisor.json"));
    if (!("dead" in found) || !isComing || clock.monotonic() >= until) return found;
    await clock.sleep(LOOK_EVERY_MS);
  }
}

function isThere(folder: string, name: string): Promise<boolean> {
  return access(join(folder, name)).then(
    () => true,
    () => false,
  );
}

/** The supervisor of the run before has written its last line, and may need a moment to go. */
async function untilGone({ clock }: WorkshopContext, folder: string): Promise<void> {
  const until = clock.monotonic() + GONE_WITHIN_MS;
  while (claimOf(folder) !== null && clock.monotonic() < until) await clock.sleep(LOOK_EVERY_MS);
}

/**
 * Ends the supervisor of an attempt, which ends its agent first. A supervisor that has not started yet does nothing.
 * The caller ends the processes that still run.
 */
export async function endSupervisor({ clock }: WorkshopContext, folder: string): Promise<void> {
  await rm(join(folder, "order.json"), { force: true });
  const link = await attach(folder);
  if ("dead" in link) return;
  const untilIsOver = async () => {
    for await (const line of link.lines(Number.MAX_SAFE_INTEGER)) throw new Error(`there is no line ${line.seq}`);
  };
  const late = new AbortController();
  try {
    link.cancel();
    await Promise.race([untilIsOver(), clock.sleep(GONE_WITHIN_MS, late.signal)]);
    const claim = claimOf(folder);
    const until = clock.monotonic() + LAST_STEPS_MS;
    while (claimOf(folder) !== null && clock.monotonic() < until) await clock.sleep(LOOK_EVERY_MS);
    // One that does not answer any more is no supervisor.
    if (claim !== null && claimOf(folder)?.pid === claim.pid) signalProcess(claim.pid, "SIGKILL");
  } finally {
    late.abort();
    link.close();
  }
}

const LAST_STEPS_MS = 5000;

async function orderOf(
  workshop: WorkshopContext,
  work: TaskRun,
  client: AttemptClient,
  run: { message: string; resume: string | null },
): Promise<SupervisorOrder> {
  const { rules } = workshop;
  const settings = agentNamed(workshop, work.agent);
  const ready = workshop.readiness(work.agent);
  if ("why" in ready) throw new Error(ready.why);
  const env = passedEnv(workshop, work.agent);
  return {
    attemptId: work.attemptId,
    taskId: work.task.id,
    repo: work.repo.name,
    jobId: work.jobId,
    stepId: `task:${work.task.slug}`,
    folder: work.folder,
    sandbox: ready.sandbox,
    env,
    store: storeOf(rules.workDir, work.repo.name),
    agent: settings,
    message: run.message,
    resume: run.resume,
    sessionId: workshop.newSessionId(),
    serverUrl: workshop.serverUrl(),
    key: await client.newKey(),
    egress: [...modelHosts(settings, env), ...rules.egress],
    limits: {
      workMs: rules.workMinutes * 60_000,
      silentMs: rules.silentMinutes * 60_000,
      turns: rules.turns,
      maxBudgetUsd: rules.maxBudgetUsd ?? null,
    },
  };
}

const NOTES_AGAIN_MS = 15_000;
/** So many ids of notes go with a question for others. */
const NOTES_KNOWN = 1000;

/** Passes on the notes of people to the agent, each until a line of the supervisor says that the agent has it. */
async function passNotes(
  link: Pick<Link, "note">,
  client: Pick<AttemptClient, "notes">,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<void> {
  const passed: string[] = [];
  while (!signal.aborted) {
    const notes = await client.notes(passed.slice(-NOTES_KNOWN), signal).catch(() => null);
    for (const note of notes ?? []) {
      link.note(note);
      passed.push(note.id);
    }
    // A server of an earlier version knows no notes.
    if (notes === null) await clock.sleep(NOTES_AGAIN_MS, signal);
  }
}

/** Returns the last line; undefined when the supervisor went without one. */
async function follow(
  link: Link,
  { workshop, work, client, run }: Followed,
  after: number,
): Promise<Extract<SupervisorLine, { type: "ended" }> | undefined> {
  const { clock } = workshop;
  const over = new AbortController();
  const leave = AbortSignal.any([client.leaving, client.ending, over.signal]);
  const letGo = (): void => link.close();
  leave.addEventListener("abort", letGo, { once: true });
  const end = async (): Promise<void> => {
    link.interrupt();
    await clock.sleep(GONE_WITHIN_MS, over.signal);
    // One that does not answer any more is no supervisor; what it owned is ended as when it dies.
    if (!over.signal.aborted) signalProcess(link.pid, "SIGKILL");
  };
  const interrupt = (): void => void end();
  if (client.interrupting.aborted) interrupt();
  else client.interrupting.addEventListener("abort", interrupt, { once: true });

  const reportedSeq = Math.max(after, work.logSeq);
  const reporter = openLineReporter(client, reportedSeq, run);
  const asking = new Asking(link, client, { leave, clock });
  const whileFollowed = AbortSignal.any([leave, client.interrupting]);
  void passNotes(link, client, { signal: whileFollowed, clock });
  const uses = new AllowedUses(client);
  try {
    // Requests reported before and not decided yet are made again. Nobody is asked twice for the same `ref`.
    for (const line of await readLog(work.folder, after))
      if (line.seq <= reportedSeq) {
        asking.remember(line);
        // The report of the last one may be lost; the others repeat themselves.
        if (line.seq === reportedSeq) await uses.accept(line);
        else uses.remember(line);
      }
    await asking.rememberedAll();
    for await (const line of link.lines(reportedSeq)) {
      if (leave.aborted) break;
      await reporter.report(line);
      await uses.accept(line);
      await asking.accept(line);
      if (line.type === "ended") return line;
    }
    if (client.ending.aborted) throw new AttemptLost("it is to end");
    if (client.leaving.aborted) throw new Error("the workshop is left");
    return undefined;
  } finally {
    leave.removeEventListener("abort", letGo);
    client.interrupting.removeEventListener("abort", interrupt);
    over.abort();
  }
}

interface LineReporter {
  report(line: SupervisorLine): Promise<void>;
}

/** Reports every line to the server that was not reported before. */
function openLineReporter(
  client: AttemptClient,
  reportedSeq: number,
  { onSession }: Pick<AgentRun, "onSession">,
): LineReporter {
  return {
    async report(line) {
      if (line.type === "session") onSession(line.session);
      if (line.seq <= reportedSeq) return;
      await client.note(eventsOf(line), { logSeq: line.seq, ...progressOf(line) });
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
    case "noted":
    case "tool":
    case "error":
    case "permission":
    case "question":
    case "decided":
    case "withdrawn":
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
    case "noted":
      return [{ type: "note", data: { id: line.id } }];
    case "ended":
      return "error" in line.end ? [{ type: "error", data: { text: line.end.error } }] : [];
    case "started":
    case "session":
    case "decided":
    case "withdrawn":
    case "waiting":
      return [];
  }
}
