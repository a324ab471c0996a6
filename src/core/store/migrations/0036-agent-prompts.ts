import type { Migration } from "./migration.ts";

/** The agents whose hooks asked before this was stored: their call ids began with the agent's name. */
const FORMER = ["claude", "codex", "copilot", "cursor", "gemini", "openclaw", "opencode"];

/**
 * A request knows which coding agent's prompt it is; null for one that no hook made. It knows until when somebody waits
 * for it, and by how much each sign of life extends that; null for one that is open until its deadline.
 */
export const agentPrompts: Migration = {
  number: 36,
  name: "prompts of coding agents",
  statements: ({ text, integer }) => [
    `ALTER TABLE requests ADD COLUMN prompt_of ${text}`,
    `ALTER TABLE requests ADD COLUMN waited_until ${integer}`,
    `ALTER TABLE requests ADD COLUMN lease_ms ${integer}`,
    ...FORMER.map(
      (agent) => `UPDATE requests SET prompt_of = '${agent}'
        WHERE door = 'a2h' AND (ref LIKE 'call:${agent}:%' OR ref LIKE 'contact:${agent}:%')`,
    ),
    "CREATE INDEX requests_of_prompts ON requests (prompt_of, created_at, ask_id) WHERE prompt_of IS NOT NULL",
    "CREATE INDEX requests_of_askers_prompts ON requests (asker, prompt_of, created_at, ask_id) WHERE prompt_of IS NOT NULL",
    "CREATE INDEX requests_waited_for ON requests (waited_until) WHERE state = 'open' AND waited_until IS NOT NULL",
  ],
};
