import { isAgent } from "../../connect/registry.ts";
import { HOOK_BLOCKS } from "../command.ts";

/** A crash of the hook must not let a tool run; other commands end as Node ends them. */
export function blockAfterCrash([command, name = ""]: readonly string[]): void {
  if (command !== "hook" || !isAgent(name)) return;
  process.on("uncaughtException", (error) => {
    console.error(`parley hook ${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(HOOK_BLOCKS);
  });
}
