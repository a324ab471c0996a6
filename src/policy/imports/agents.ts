import type { AgentLists } from "./agent-list.ts";

/** An agent whose lists can be imported; its code is loaded when it is wanted. */
export interface ListsRow {
  title: string;
  /** The name that its hook shows to a server without a key. */
  agentId: string;
  load(): Promise<AgentLists>;
}

/** The agents whose lists can be imported, by their words in commands. */
export const LISTED_AGENTS: Readonly<Record<string, ListsRow>> = {
  claude: { title: "Claude Code", agentId: "claude-code", load: async () => (await import("./claude.ts")).claudeLists },
  codex: { title: "Codex", agentId: "codex", load: async () => (await import("./codex.ts")).codexLists },
  gemini: { title: "Gemini CLI", agentId: "gemini-cli", load: async () => (await import("./gemini.ts")).geminiLists },
  copilot: {
    title: "Copilot CLI",
    agentId: "copilot-cli",
    load: async () => (await import("./copilot.ts")).copilotLists,
  },
  opencode: { title: "opencode", agentId: "opencode", load: async () => (await import("./opencode.ts")).opencodeLists },
  cursor: { title: "Cursor", agentId: "cursor", load: async () => (await import("./cursor.ts")).cursorLists },
};
