import type { ReadableNote } from "../../src/requests/model/agent-note.ts";
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import type {
  AgentEnd,
  AgentSettings,
  PermissionRequest,
  AgentQuestion,
  AgentCallbacks,
} from "../../src/workshop/agents/agent.ts";
import { agentOf } from "../../src/workshop/agents/agents.ts";
import { afterLast } from "./shared.ts";

/* eslint-disable @typescript-eslint/no-explicit-any -- messages of every shape */

/** Adapters on an agent's lines alone, without a program: the test says what the agent says. */
const root = mkdtempSync(join(tmpdir(), "parley-wire-"));
afterLast(() => rmSync(root, { recursive: true }));

/** A clock on which nobody waits in vain: each sleep is over at once. */
const IMPATIENT: Clock = { ...systemClock, sleep: () => Promise.resolve() };

/** The other end of an adapter: what the agent says is what the test has it say. */
export interface Wire {
  tree: string;
  said: any[];
  /** The lines of both directions. */
  written: string[];
  wishes: PermissionRequest[];
  questions: AgentQuestion[];
  /** The ids of the notes that the agent has got. */
  noted: string[];
  /** Whether the adapter listens for notes by now. */
  takesNotes(): boolean;
  /** Sends a note of a person to the agent. */
  note(note: ReadableNote): void;
  say(message: object): void;
  sayLine(line: string): void;
  /** Says a request and returns its answer. */
  asks(message: { id: number | string }): Promise<any>;
  /** Returns the newest message of the adapter that has this. */
  heard(what: (message: any) => boolean): Promise<any>;
  gone(code: number | null): Promise<AgentEnd>;
  ended: Promise<AgentEnd>;
  stop: AbortController;
}

export function openWire(
  type: AgentSettings["type"],
  told: Partial<AgentCallbacks> = {},
  flavour: AgentSettings["flavour"] = "other",
  { resume = null, clock = IMPATIENT }: { resume?: string | null; clock?: Clock } = {},
): Wire {
  const folder = mkdtempSync(join(root, "w-"));
  const tree = join(folder, "tree");
  mkdirSync(tree);
  const listening = new Set<() => void>();
  const queue: string[] = [];
  let wake: () => void = () => undefined;
  let isOver = false;
  const exit = Promise.withResolvers<{ code: number | null; signal: string | null; stderr: string }>();
  async function* lines() {
    for (;;) {
      const line = queue.shift();
      if (line !== undefined) yield line;
      else if (isOver) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const put = (line: string) => {
    queue.push(line);
    wake();
  };
  let takeNote: ((note: ReadableNote) => void) | undefined;
  const wire: Omit<Wire, "ended"> = {
    tree,
    said: [],
    written: [],
    wishes: [],
    questions: [],
    noted: [],
    takesNotes: () => takeNote !== undefined,
    note: (note) => (takeNote ?? assert.fail("the adapter reads no notes yet"))(note),
    stop: new AbortController(),
    say: (message) => put(JSON.stringify(message)),
    sayLine: put,
    asks(message) {
      put(JSON.stringify(message));
      return wire.heard(({ id, method }) => id === message.id && method === undefined);
    },
    async heard(what) {
      for (;;) {
        const found = wire.said.findLast(what) as unknown;
        if (found) return found;
        await new Promise<void>((resolve) => listening.add(resolve));
      }
    },
    gone(code) {
      isOver = true;
      wake();
      exit.resolve({ code, signal: code === null ? "SIGKILL" : null, stderr: "" });
      return ended;
    },
  };
  const order = {
    settings: { name: "x", type, command: ["x"], flavour, passEnv: [] },
    tree,
    treeOutside: tree,
    home: folder,
    homeOutside: folder,
    message: "Do it.",
    resume,
    sessionId: "s",
    jailed: false,
    mcp: { url: "http://m", token: "t" },
    env: {},
    maxTurns: 1,
    maxBudgetUsd: null,
  };
  const pipes = {
    lines: lines(),
    write(line: string) {
      wire.written.push(line);
      wire.said.push(JSON.parse(line));
      for (const hear of listening) hear();
      listening.clear();
    },
    closeInput: () => undefined,
    exited: exit.promise,
    clock,
  };
  const ended = agentOf(type).converse(
    order,
    pipes,
    {
      session: () => undefined,
      message: () => undefined,
      tool: () => undefined,
      usage: () => undefined,
      error: () => undefined,
      onNote: (take) => (takeNote = take),
      noted: (id) => void wire.noted.push(id),
      ...told,
      ...watching(wire, told),
    },
    wire.stop.signal,
  );
  return { ...wire, ended };
}

function watching(
  wire: Omit<Wire, "ended">,
  told: Partial<AgentCallbacks>,
): Pick<AgentCallbacks, "permission" | "question"> {
  return {
    permission(permissionRequest, withdrawn) {
      wire.wishes.push(permissionRequest);
      return told.permission?.(permissionRequest, withdrawn) ?? Promise.resolve({ allow: true });
    },
    question(agentQuestion, withdrawn) {
      wire.questions.push(agentQuestion);
      return told.question?.(agentQuestion, withdrawn) ?? Promise.resolve({ text: "Blue" });
    },
  };
}
