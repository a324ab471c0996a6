import { VERSION } from "../../lib/version.ts";
import { TOOLS } from "./tools.ts";

/** The revision in which every request speaks for itself: no opening, no session. */
export const MODERN = "2026-07-28";
const LEGACY = ["2025-11-25", "2025-06-18"] as const;
/** The revision of a client that names none. */
export const UNSAID = "2025-06-18";
/** The revisions served, newest first. */
export const SUPPORTED: readonly string[] = [MODERN, ...LEGACY];

/** The extension under which a wait may become a task. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

const SERVER_INFO = { name: "parley", version: VERSION };
/** The `_meta` of every modern result. */
export const RESULT_META = { "io.modelcontextprotocol/serverInfo": SERVER_INFO };

const INSTRUCTIONS =
  "Ask people. ask_human returns at once; use wait_for_human_responses to wait. Continue other work meanwhile if you can.";
const LIST_TTL_MS = 300_000;
const DISCOVER_TTL_MS = 3_600_000;

/** Returns the result of `initialize`: the requested revision where it is a legacy one we speak, else the newer of them. */
export function initializeResult(requested: unknown): object {
  const protocolVersion = LEGACY.find((version) => version === requested) ?? LEGACY[0];
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER_INFO, instructions: INSTRUCTIONS };
}

/** Returns the result of `server/discover`. */
export function discoverResult(): object {
  return {
    supportedVersions: SUPPORTED,
    capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
    instructions: INSTRUCTIONS,
    ttlMs: DISCOVER_TTL_MS,
    cacheScope: "public",
  };
}

/** Returns the result of `tools/list`. */
export function listResult(isModern: boolean): object {
  return isModern ? { tools: TOOLS, ttlMs: LIST_TTL_MS, cacheScope: "private" } : { tools: TOOLS };
}
