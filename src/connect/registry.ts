import type { PromptingAgent } from "./agent.ts";

/** A row of the registry; its code is loaded when it is wanted. */
export interface AgentRow {
  title: string;
  load(): Promise<PromptingAgent>;
}

/** The agents whose permission prompts people can answer, by their words in commands. */
export const AGENTS: Readonly<Record<string, AgentRow>> = {
  claude: { title: "Claude Code", load: async () => (await import("./agents/claude/claude.ts")).claude },
  codex: { title: "Codex", load: async () => (await import("./agents/codex/codex.ts")).codex },
  gemini: { title: "Gemini CLI", load: async () => (await import("./agents/gemini/gemini.ts")).gemini },
  copilot: { title: "Copilot CLI", load: async () => (await import("./agents/copilot/copilot.ts")).copilot },
  cursor: { title: "Cursor", load: async () => (await import("./agents/cursor/cursor.ts")).cursor },
  opencode: { title: "opencode", load: async () => (await import("./agents/opencode/opencode.ts")).opencode },
  openclaw: { title: "OpenClaw", load: async () => (await import("./agents/openclaw/openclaw.ts")).openclaw },
};

/** Returns whether a word names an agent of the registry. */
export function isAgent(word: string | undefined): boolean {
  return word !== undefined && Object.hasOwn(AGENTS, word);
}
