import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { killPid } from "./kill-pid.ts";
import { findProcesses, killAttempt } from "../../src/workshop/sandbox/processes.ts";
import { attach, startSupervisor, type Link } from "../../src/workshop/supervisor/start.ts";
import type { SupervisorLine, SupervisorMark, SupervisorOrder } from "../../src/workshop/supervisor/lines.ts";
import { itWith } from "./parts.ts";
import type { Step } from "./workshop-agent.ts";

const SUPERVISOR = resolve(import.meta.dirname, "workshop-supervisor-program.ts");

/** The sandboxes in which agents run, each with the `it` for its tests. */
export const SANDBOXES = [
  { sandbox: "bubblewrap", it: await itWith("bubblewrap") },
  { sandbox: "none", it },
] as const;

/** An attempt of an agent that follows its prompt (workshop-agent.ts). */
export interface TestAttempt extends AsyncDisposable {
  order: SupervisorOrder;
  folder: string;
  start(steps: readonly Step[], more?: Partial<SupervisorOrder>): Promise<Link>;
  /** The same from a process of its own, which is killed with its group as soon as it is done. */
  startAndDie(steps: readonly Step[]): Promise<void>;
  mark(): Promise<SupervisorMark>;
  text(name: string): Promise<string>;
  /** Returns the processes of the attempt that run now, without the supervisor. */
  processes(): Promise<number[]>;
}

let count = 0;

export async function openAttempt(given: Partial<SupervisorOrder> = {}): Promise<TestAttempt> {
  const folder = await mkdtemp(join(tmpdir(), "parley-attempt-"));
  for (const name of ["tree", "home", "store"]) await mkdir(join(folder, name), { mode: 0o700 });
  const attemptId = `test-${process.pid}-${++count}`;
  const order: SupervisorOrder = {
    attemptId,
    taskId: "card-1",
    repo: "shop",
    jobId: "job-1",
    stepId: "task:card-1",
    folder,
    store: join(folder, "store"),
    message: "[]",
    resume: null,
    sessionId: "s-1",
    sandbox: "none",
    agent: { name: "steps", type: "command", command: [], flavour: "other", passEnv: [] },
    serverUrl: "http://127.0.0.1:1",
    key: "parley_agent_0123456789",
    egress: [],
    env: {},
    limits: { workMs: 60_000, silentMs: 60_000, turns: 10, maxBudgetUsd: null },
    ...given,
  };
  const started: Pick<Link, "pid" | "close">[] = [];
  const text = (name: string) => readFile(join(folder, name), "utf8");
  return {
    order,
    folder,
    text,
    async start(steps, more = {}) {
      const link = await startSupervisor(
        { ...order, message: JSON.stringify(steps), ...more },
        { program: SUPERVISOR },
      );
      started.push(link);
      return link;
    },
    async startAndDie(steps) {
      const program = resolve(import.meta.dirname, "workshop-starter.ts");
      const child = spawn(process.execPath, [program], {
        env: {
          ...process.env,
          ORDER: JSON.stringify({ ...order, message: JSON.stringify(steps) }),
          PROGRAM: SUPERVISOR,
        },
        detached: true,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [chunks] = (await once(child.stdout, "data")) as [Buffer];
      started.push({ pid: Number(chunks), close: () => {} });
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await once(child, "exit");
    },
    mark: async () => JSON.parse(await text("supervisor.json")) as SupervisorMark,
    processes: () => findProcesses(attemptId),
    async [Symbol.asyncDispose]() {
      for (const { pid, close } of started) {
        close();
        await killPid(pid);
      }
      await killAttempt(attemptId, { clock: systemClock, atOnce: true });
      // A killed supervisor leaves its sockets. `attach` removes them.
      await attach(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the first line of this type, and what came before it. */
export async function until<Type extends SupervisorLine["type"]>(
  lines: AsyncGenerator<SupervisorLine>,
  type: Type,
): Promise<Extract<SupervisorLine, { type: Type }>> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done) throw new Error(`the supervisor went without a word of ${type}`);
    if (value.type === type) return value as Extract<SupervisorLine, { type: Type }>;
  }
}

export async function all(lines: AsyncGenerator<SupervisorLine>): Promise<SupervisorLine[]> {
  const found: SupervisorLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

/** Looks until it is so. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await systemClock.sleep(20);
}

/** Returns the names of what the agent asked, or of what was decided. */
export function refsOf(lines: readonly SupervisorLine[], type: "permission" | "decided"): string[] {
  return lines.flatMap((line) => (line.type === type ? [line.ref] : []));
}

/** Returns the agent's output. */
export function messagesOf(lines: readonly SupervisorLine[]): string[] {
  return lines.flatMap((line) => (line.type === "message" ? [line.text] : []));
}
