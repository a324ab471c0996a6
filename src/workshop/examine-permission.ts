import { lstat, realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { PermissionDecision, PermissionRequest } from "./agents/agent.ts";
import type { Redaction } from "./redaction.ts";

const TOO_MUCH = "it is more than can be shown to anybody; do it in smaller parts";
const MOST_LEVELS = 32;
const MOST_CHARS = 4_194_304;
const HOLDS_KEY = "it holds a key of this attempt, which is never shown to anybody; name its variable instead";

/**
 * Returns a request as policy and people get it, or a denial without asking anybody. They must approve exactly what
 * runs, so a request that would be stored with changes is denied. A path that a link leads out of the tree is marked as
 * outside, because its text alone does not show that. In the jail a link cannot lead out of the jail.
 */
export async function examinePermission(
  permission: PermissionRequest,
  { tree, isJailed, redaction }: { tree: string; isJailed: boolean; redaction: Redaction },
): Promise<PermissionRequest | Extract<PermissionDecision, { allow: false }>> {
  if (isTooMuch(permission)) return { allow: false, why: TOO_MUCH };
  if (!isDeepStrictEqual(redaction.value(permission), permission)) return { allow: false, why: HOLDS_KEY };
  const isPath = permission.action === "read" || permission.action === "write" || permission.action === "reconfigure";
  if (isJailed || !isPath || !(await leadsOutside(tree, permission.resource))) return permission;
  return { ...permission, leadsOutside: true };
}

/** Returns whether a value is deeper or longer than what is put to people; it may be so deep that nothing else walks it. */
function isTooMuch(value: unknown): boolean {
  const left: { value: unknown; level: number }[] = [{ value, level: 0 }];
  let chars = 0;
  for (let next = left.pop(); next; next = left.pop()) {
    if (typeof next.value === "string") chars += next.value.length;
    if (next.level > MOST_LEVELS || chars > MOST_CHARS) return true;
    if (typeof next.value !== "object" || next.value === null) continue;
    for (const [name, member] of Object.entries(next.value)) {
      chars += name.length;
      left.push({ value: member, level: next.level + 1 });
    }
  }
  return false;
}

/** Returns whether a path leads out of a tree through links on its way; true also if that cannot be determined. */
async function leadsOutside(tree: string, path: string): Promise<boolean> {
  try {
    const root = await realpath(tree);
    const real = await realOf(resolve(root, path));
    return real !== root && !real.startsWith(root + sep);
  } catch {
    return true;
  }
}

/**
 * Returns the real place of the existing part of a path. @throws for a link to nothing: a write would create its target
 */
async function realOf(path: string): Promise<string> {
  const stats = await lstat(path).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  });
  return stats === null ? realOf(dirname(path)) : realpath(path);
}
