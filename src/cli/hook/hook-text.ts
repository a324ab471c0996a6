import type { HookFile, WantedHook } from "../../connect/agent.ts";
import { NotJson } from "../../lib/json/json-edit.ts";

/** Returns the text of a file with exactly this hook of ours, or with none. @throws {Error} one sentence */
export function withHookIn(
  { file, text }: { file: string; text: string },
  hookFile: Pick<HookFile, "withHook">,
  hook: WantedHook | null,
): string {
  try {
    return hookFile.withHook(text, hook);
  } catch (error) {
    if (!(error instanceof NotJson || error instanceof SyntaxError)) throw error;
    throw new Error(`${file} was left as it is: ${error.message}`, { cause: error });
  }
}
