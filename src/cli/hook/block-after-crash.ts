import { isAgent } from "../../connect/registry.ts";
import { EXIT, HOOK_BLOCKS } from "../command.ts";
import { isOver } from "./over.ts";

/** A crash of the hook must not let a tool run; other commands end as Node ends them. */
export function blockAfterCrash([command, name = "", ...flags]: readonly string[]): void {
  if (command !== "hook" || !isAgent(name)) return;
  if (isOver(flags)) return void process.on("uncaughtException", () => process.exit(EXIT.done));
  process.on("uncaughtException", (error) => {
    console.error(`parley hook ${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(HOOK_BLOCKS);
  });
}
