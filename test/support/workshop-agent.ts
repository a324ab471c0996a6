import { resolve } from "node:path";
import type { Agent, AgentEnd, PermissionRequest, AgentQuestion } from "../../src/workshop/agents/agent.ts";

/** The steps that the agent of these tests can take. */
export type Step =
  | { say: string }
  | { sayEnv: string }
  | { errors: string }
  | { turns: number }
  | { write: string }
  /** Asks its model at this path, with its own key or another. */
  | { post: string; key?: string }
  | { sleepMs: number }
  /** A process of its own session that stays. */
  | { start: readonly string[] }
  /** Neither the protocol's interrupt nor SIGINT changes anything from here on. */
  | { heed: "nothing" }
  | { permission: PermissionRequest }
  | { question: AgentQuestion }
  | { end: "done" | "failed"; stays?: boolean };

export const PROGRAM = resolve(import.meta.dirname, "workshop-agent-program.ts");

/** The adapter of an agent that exists for these tests only; its protocol is the least that has everything. */
export const stepAgent: Agent = {
  type: "command",
  needsSandbox: false,
  launch: ({ env }) => Promise.resolve({ argv: [process.execPath, PROGRAM], env }),
  async converse({ message, sessionId }, pipes, callbacks, interrupt) {
    callbacks.session(sessionId, "1.0");
    pipes.write(JSON.stringify({ steps: JSON.parse(message) as readonly Step[] }));
    interrupt.addEventListener("abort", () => pipes.write(JSON.stringify({ interrupt: true })));
    let end: AgentEnd | null = null;
    for await (const line of pipes.lines) {
      const said = JSON.parse(line) as Partial<Record<string, never>> & { end?: string };
      if (said["message"] !== undefined) callbacks.message(said["message"]);
      if (said["turns"] !== undefined) callbacks.usage({ turns: said["turns"] });
      const answer = (decision: unknown) => pipes.write(JSON.stringify({ decision }));
      if (said["permission"]) void callbacks.permission(said["permission"]).then(answer);
      if (said["question"]) void callbacks.question(said["question"]).then(answer);
      if (said.end === "done") end = { kind: "done", summary: "as told" };
      if (said.end === "failed") end = { kind: "failed", error: "it was told to fail" };
      if (end) return end;
    }
    await pipes.exited;
    return interrupt.aborted ? { kind: "interrupted" } : { kind: "died", error: "it is gone", canResume: true };
  },
};
