import type { ArgumentValue } from "./call-arguments.ts";

/** The tool of Codex, and of agents that took it over, whose one argument is a patch of files. */
const TOOL = "apply_patch";
const PATCHES = ["command", "input", "patch"];
const NAMES_FILE = /^\*\*\* (?:Add File|Update File|Move to): (.+)$/;
/** A line of a file, or the place of a change. */
const LINE = /^(?:[-+ ]|@@|$)/;
/** A line that begins so behind its sign might be read as a name of a file. */
const MAY_NAME = /^[-+ ]?\s*\*\*\*/;

/**
 * Returns the files that a patch adds, changes or moves; undefined for another tool, for a patch that deletes a file, and
 * for one that tools may read in more than one way.
 */
export function pathsOfPatch(fn: unknown, members: ReadonlyMap<string, ArgumentValue>): string[] | undefined {
  const [name, another] = [...members.keys()].filter((one) => one !== "cwd");
  const patch = name === undefined ? undefined : members.get(name);
  if (fn !== TOOL || !PATCHES.includes(name ?? "") || another !== undefined || typeof patch !== "string")
    return undefined;
  const [begin, ...lines] = patch.replace(/\n$/, "").split("\n");
  if (begin !== "*** Begin Patch" || lines.pop() !== "*** End Patch") return undefined;
  const paths = lines.map((line) => NAMES_FILE.exec(line)?.[1] ?? null);
  const isRead = lines.every((line, at) => paths[at] !== null || (LINE.test(line) && !MAY_NAME.test(line)));
  const isPlain = paths[0] !== null && !/\r|\p{Zl}|\p{Zp}|\u0085/u.test(patch);
  return isRead && isPlain && lines.length > 0 ? paths.filter((path) => path !== null) : undefined;
}
