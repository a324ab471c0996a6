import type { EntryPoint } from "./entry-point.ts";

/** How people may begin conversations. */
export interface ConversationRules {
  entryPoints: readonly EntryPoint[];
}
