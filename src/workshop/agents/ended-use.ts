import { sha256Digest } from "../../lib/json/exact-json.ts";
import type { ToolUseEnd } from "./agent.ts";

/** Returns the end of a use of a tool: its result only as a digest, beside the code with which a command ended. */
export function endedUse(use: string, result: string, exitCode?: string | number): ToolUseEnd {
  return { use, digest: sha256Digest(result), ...(exitCode !== undefined && { words: `exit ${exitCode}` }) };
}
