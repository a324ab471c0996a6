import type { ReadableNote } from "../../src/requests/model/agent-note.ts";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { systemClock } from "../../src/lib/clock.ts";
import { linesOf } from "../../src/lib/lines.ts";
import {
  type AgentEnd,
  type AgentOrder,
  type AgentSettings,
  type ToolUseEnd,
  type PermissionDecision,
  type PermissionRequest,
  type QuestionAnswer,
  type AgentQuestion,
} from "../../src/workshop/agents/agent.ts";
import { agentOf } from "../../src/workshop/agents/agents.ts";

/** The events while an agent worked, in the adapter's words. */
export interface Conversation {
  end: AgentEnd;
  sessions: string[];
  versions: string[];
  messages: string[];
  tools: { name: string; input?: unknown; result?: string; isError?: boolean; ended?: ToolUseEnd }[];
  turns: number;
  errors: string[];
  wishes: PermissionRequest[];
  /** The uses of tools that the wishes were about, by the agent's own ids, in the same order. */
  uses: (string | undefined)[];
  questions: AgentQuestion[];
  /** The ids of the notes that it got. */
  noted: string[];
  /** Lines of both directions, for inspection. */
  lines: string[];
  stderr: string;
  exit: { code: number | null; signal: string | null };
}

export interface Talk {
  folder: string;
  settings: Pick<AgentSettings, "type" | "command"> & Partial<AgentSettings>;
  message: string;
  resume?: string | null;
  sessionId?: string;
  jailed?: boolean;
  mcp?: { url: string; token: string };
  env?: Readonly<Record<string, string>>;
  /** More arguments, for what a model of a test needs. */
  args?: readonly string[];
  decide?: (permission: PermissionRequest, stop: () => void) => PermissionDecision | Promise<PermissionDecision>;
  answer?: (question: AgentQuestion) => QuestionAnswer | Promise<QuestionAnswer>;
  /** Called once the agent takes notes of people, which \`note\` sends. */
  onNotes?: (note: (note: ReadableNote) => void) => void;
  /** Called for each line the agent says; may interrupt it, or end it. */
  onLine?: (line: string, hands: { interrupt: () => void; kill: (signal: NodeJS.Signals) => void }) => void;
  endsWithinMs?: number;
}

const nothing = { url: "http://127.0.0.1:9/mcp", token: "none" };
const GOES_WITHIN_MS = 60_000;

/** Starts an agent through its adapter in `folder/tree` with the home `folder/home`, and returns its events. */
export async function converse(talk: Talk): Promise<Conversation> {
  const { folder, settings, resume = null } = talk;
  const [tree, home] = [join(folder, "tree"), join(folder, "home")];
  for (const path of [tree, home]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const agent = agentOf(settings.type);
  const order: AgentOrder = {
    settings: { name: settings.type, flavour: "other", passEnv: [], ...settings },
    tree,
    home,
    homeOutside: home,
    treeOutside: tree,
    message: talk.message,
    resume,
    sessionId: talk.sessionId ?? randomUUID(),
    jailed: talk.jailed ?? false,
    mcp: talk.mcp ?? nothing,
    env: {
      PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: home,
      LANG: "C.UTF-8",
      TERM: "dumb",
      ...talk.env,
    },
    maxTurns: 200,
    maxBudgetUsd: null,
  };
  const { argv, env } = await agent.launch(order);
  const child = spawn(argv[0], [...argv.slice(1), ...(talk.args ?? [])], { cwd: tree, env, stdio: "pipe" });
  const late = setTimeout(() => child.kill("SIGKILL"), talk.endsWithinMs ?? 90_000);
  const interruption = new AbortController();
  const seen: Conversation = {
    end: { kind: "interrupted" },
    sessions: [],
    versions: [],
    messages: [],
    tools: [],
    turns: 0,
    errors: [],
    wishes: [],
    uses: [],
    questions: [],
    noted: [],
    lines: [],
    stderr: "",
    exit: { code: null, signal: null },
  };
  child.stderr.setEncoding("utf8").on("data", (text: string) => (seen.stderr += text));
  child.stdin.on("error", () => {});
  const gone = new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stderr: seen.stderr.slice(-4096) }));
  });
  gone.catch(() => {});
  const hands = { interrupt: () => interruption.abort(), kill: (signal: NodeJS.Signals) => void child.kill(signal) };
  async function* lines() {
    for await (const line of linesOf(child.stdout)) {
      seen.lines.push(`< ${line}`);
      talk.onLine?.(line, hands);
      yield line;
    }
  }
  /** A request that is undecided when the attempt ends is denied, as by the supervisor. */
  const ended = new Promise<PermissionDecision & { allow: false }>((resolve) => {
    interruption.signal.addEventListener("abort", () => resolve({ allow: false, why: "canceled", canceled: true }));
  });
  const said = {
    write(line: string) {
      seen.lines.push(`> ${line}`);
      if (child.stdin.writable) child.stdin.write(`${line}\n`);
    },
    closeInput: () => void child.stdin.end(),
    lines: lines(),
    exited: gone,
    clock: systemClock,
  };
  try {
    seen.end = await agent.converse(
      order,
      said,
      {
        session(id, version) {
          seen.sessions.push(id);
          if (version !== undefined) seen.versions.push(version);
        },
        message: (text) => void seen.messages.push(text),
        tool: (use) => void seen.tools.push(use),
        usage: ({ turns }) => void (seen.turns = turns ?? seen.turns),
        error: (text) => void seen.errors.push(text),
        onNote: (take) => talk.onNotes?.(take),
        noted: (id) => void seen.noted.push(id),
        async permission(permissionRequest, _withdrawn, use) {
          seen.uses.push(use);
          seen.wishes.push(permissionRequest);
          const decide = talk.decide ?? (() => ({ allow: true }) as const);
          return Promise.race([decide(permissionRequest, hands.interrupt), ended]);
        },
        async question(agentQuestion) {
          seen.questions.push(agentQuestion);
          const answer = talk.answer ?? (() => ({ none: true, why: "no one answered" }) as const);
          return Promise.race([answer(agentQuestion), ended.then(({ why }) => ({ none: true, why }) as const)]);
        },
      },
      interruption.signal,
    );
    const slow = setTimeout(() => child.kill("SIGKILL"), GOES_WITHIN_MS);
    seen.exit = await gone;
    clearTimeout(slow);
  } finally {
    child.kill("SIGKILL");
    clearTimeout(late);
  }
  return seen;
}

/** Returns how each use of a tool that the agent wished for ended, as its adapter tells it. */
export function endsOf({ uses, tools }: Conversation): (string | null)[] {
  const ends = tools.flatMap(({ ended, isError }) =>
    ended ? [[ended.use, isError ? "failed" : "done"] as const] : [],
  );
  const byUse = new Map(ends);
  return uses.map((use) => (use === undefined ? null : (byUse.get(use) ?? null)));
}
