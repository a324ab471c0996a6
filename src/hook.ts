/** The program that agents start for a prompt: `hook AGENT` of the command line, without its other commands. */
import { blockAfterCrash } from "./cli/hook/block-after-crash.ts";
import { HOOK_BLOCKS } from "./cli/command.ts";
import { hookOf } from "./cli/hook/decide.ts";
import { standardIo } from "./cli/standard-io.ts";
import { AGENTS, isAgent } from "./connect/registry.ts";

/** Returns whether a command line is a hook to decide, and no other command or a question about this one. */
export function isHook([command, name, ...flags]: readonly string[]): boolean {
  return command === "hook" && isAgent(name) && !flags.some((word) => word === "--help" || word === "-h");
}

/** Decides the hook of a command line, and ends this process with its exit code. */
export async function decideHook(argv: readonly string[]): Promise<void> {
  blockAfterCrash(argv);
  const [command, name = "", ...flags] = argv;
  const row = command === "hook" && isAgent(name) ? AGENTS[name] : undefined;
  const interrupted = new AbortController();
  const io = standardIo(interrupted);
  // A terminal that was closed ends its agent too.
  process.once("SIGHUP", () => interrupted.abort());
  if (!row) io.tell(`parley hook: no agent is named ${name}`);
  process.exit(row ? await hookOf(name, row).run(flags, io) : HOOK_BLOCKS);
}
