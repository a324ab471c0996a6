/** The kinds of tool calls that policy distinguishes (spec/assignment 8). */
export const PERMISSION_ACTIONS = ["read", "write", "execute", "network", "tool", "reconfigure"] as const;
export type PermissionAction = (typeof PERMISSION_ACTIONS)[number];

/** The facts by which policy judges a tool call. */
export interface Deed {
  action: PermissionAction;
  /** A path relative to the tree, a whole command line, a URL's host, or the tool's name. */
  resource: string;
}

/** Folders and files with permissions or instructions for a coding agent. */
const SETTINGS = new Set([
  ".claude",
  ".codex",
  ".gemini",
  ".opencode",
  "opencode.json",
  "opencode.jsonc",
  ".mcp.json",
  "claude.md",
  "claude.local.md",
  "agents.md",
  "agents.override.md",
  "gemini.md",
]);

/**
 * Returns a path as seen from the tree: `src/a.ts` inside, `.` for the tree itself, an absolute path outside, without
 * `..` and other detours. It reads the text of the path only; the code that opens the path checks its links.
 */
export function pathFromTree(path: string, tree: string): string {
  // A home is never in the tree; a file of the tree that is called so is written otherwise below.
  if (path.startsWith("~")) return path;
  const separator = tree.startsWith("/") ? "/" : EITHER;
  const root = stepsOf(tree, separator);
  const isWhole = separator === "/" ? path.startsWith("/") : isAbsolute(path);
  const named = stepsOf(isWhole ? path : `${tree}/${path}`, separator);
  // A drive's letter may be written in either case.
  const same = (step: string, i: number) =>
    i > 0 ? step === named[i] : step.toLowerCase() === named[0]?.toLowerCase();
  if (!root.every(separator === EITHER ? same : (step, i) => step === named[i])) {
    return isDrive(named[0]) ? named.join("/") : `/${named.join("/")}`;
  }
  const inside = named.slice(root.length).join("/");
  if (inside === "") return ".";
  return isOutside(inside) ? `./${inside}` : inside;
}

/** Returns whether a path that `pathFromTree` has returned is in the tree. */
export function isInTree(resource: string): boolean {
  return !isOutside(resource);
}

/** Returns whether a path holds permissions or instructions for coding agents, at any depth and in any spelling. */
export function changesAgentSettings(path: string): boolean {
  return stepsOf(path, EITHER).some((step) => SETTINGS.has(plain(step)));
}

/** Returns whether a path is in a repository's own folder, at any depth and in any spelling. */
export function isInGitFolder(path: string): boolean {
  return stepsOf(path, EITHER).some((step) => plain(step) === ".git");
}

/** Returns what reading at a path is. */
export function reading(path: string, tree: string): Deed {
  return { action: "read", resource: pathFromTree(path, tree) };
}

/** Returns what writing at a path is: of an agent's settings it is no mere write. */
export function writing(path: string, tree: string): Deed {
  const resource = pathFromTree(path, tree);
  return { action: changesAgentSettings(resource) ? "reconfigure" : "write", resource };
}

/** Returns what a request to an address is; an address that cannot be read stands as it is. */
export function reaching(url: string): Deed {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#\\@]*@)?(\[[0-9a-f:.]+\]|[^:/?#\\@\s]+)(?::\d*)?(?:[/?#]|$)/i.exec(
    url,
  )?.[1];
  return { action: "network", resource: host?.toLowerCase() ?? url };
}

const EITHER = /[/\\]/;

/** Some file systems take these for the same: letters of either case, characters nobody sees, dots and blanks at the end. */
function plain(step: string): string {
  return step
    .normalize("NFKC")
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, "")
    .toLowerCase()
    .split(":", 1)
    .join("")
    .replace(/(?<![. ])[. ]+$/, "");
}

function stepsOf(path: string, separator: string | RegExp): string[] {
  const steps: string[] = [];
  for (const step of path.split(separator)) {
    if (step === "" || step === ".") continue;
    if (step === "..") steps.pop();
    else steps.push(step);
  }
  return steps;
}

const isDrive = (step: string | undefined): boolean => step !== undefined && /^[a-z]:$/i.test(step);
const isAbsolute = (path: string): boolean => /^([/\\]|[a-z]:[/\\])/i.test(path);
const isOutside = (path: string): boolean => path.startsWith("~") || isAbsolute(path);
