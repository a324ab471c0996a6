import { readShellLine } from "../../lib/shell/read-line.ts";
import type { SandboxKind } from "../../core/model/sandbox.ts";
import type { PermissionAction } from "./action.ts";
import { isInGitFolder, isInTree } from "./action.ts";

/** Where and how a call would run: facts that policy uses besides the request itself. Agents cannot set any of them. */
export interface ActionFacts {
  /** Set for actions on a path. */
  place?: "tree" | "outside";
  sandbox: SandboxKind;
  /** Set for a command line. */
  command?: "allowed" | "reads" | "other";
}

/** Returns the facts about what an agent wants to do. */
export function actionFacts(
  input: { action: PermissionAction; resource: string; leadsOutside?: boolean },
  { sandbox, allowCommands }: { sandbox: SandboxKind; allowCommands: readonly (readonly string[])[] },
): ActionFacts {
  const { action, resource, leadsOutside = false } = input;
  const isPlaced = action === "read" || action === "write" || action === "reconfigure";
  // A file in .git can make git run programs, so it does not count as part of the work.
  const isWork = action === "read" || !isInGitFolder(resource);
  const place = isInTree(resource) && !leadsOutside && isWork ? "tree" : "outside";
  return {
    ...(isPlaced && { place }),
    sandbox,
    ...(action === "execute" && { command: commandClass(resource, allowCommands) }),
  };
}

/**
 * Commands that look at what is around, as whole argument lists. It is short on purpose: what takes a path shows what a
 * link in the tree leads to, and what takes options often runs or writes something by one of them. git is not among
 * them, because a repository's configuration makes it run programs.
 */
const PLAINLY_READING: readonly (readonly string[])[] = [
  ["pwd"],
  ["whoami"],
  ["date"],
  ["uname"],
  ["uname", "-a"],
  ...["-a", "-l", "-la", "-al", "-A", "-1"].map((flags) => ["ls", flags]),
  ["ls"],
];

/** Returns what is known of a command line, by its whole list of arguments. */
export function commandClass(
  line: string,
  allowCommands: readonly (readonly string[])[],
): Exclude<ActionFacts["command"], undefined> {
  const given = argumentsOf(line);
  if (given === null) return "other";
  const among = (lists: readonly (readonly string[])[]) =>
    lists.some((list) => list.length === given.length && list.every((one, i) => one === given[i]));
  if (among(allowCommands)) return "allowed";
  return among(PLAINLY_READING) ? "reads" : "other";
}

/** Returns the arguments of the one command that a shell would run of a line, or null where it might do anything else. */
function argumentsOf(line: string): string[] | null {
  const read = readShellLine(line);
  const [command, another] = read.kind === "read" ? read.commands : [];
  if (command === undefined || another !== undefined) return null;
  const { program, words, redirects, sets } = command;
  const isPlain = redirects.length + sets.length === 0 && words.every(({ isExact }) => isExact);
  return isPlain ? [program, ...words.map(({ text }) => text)] : null;
}
