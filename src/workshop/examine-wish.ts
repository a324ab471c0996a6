import { lstat, realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { PermissionDecision, PermissionWish } from "./agents/agent.ts";
import type { Redaction } from "./redaction.ts";

const TOO_MUCH = "it is more than can be shown to anybody; do it in smaller parts";
const MOST_LEVELS = 32;
const MOST_CHARS = 4_194_304;
const HOLDS_KEY = "it holds a key of this attempt, which is never shown to anybody; name its variable instead";

/**
 * Returns what is put to policy and people of a wish, or why nobody is asked. What they approve has to be exactly what
 * runs, so one that could not be written down as it is is denied; and a path that a link takes out of the tree is said to
 * be outside, which no look at its letters tells. In the jail a link leads nowhere else than in the jail.
 */
export async function examineWish(
  wish: PermissionWish,
  { tree, isJailed, redaction }: { tree: string; isJailed: boolean; redaction: Redaction },
): Promise<PermissionWish | Extract<PermissionDecision, { allow: false }>> {
  if (isTooMuch(wish)) return { allow: false, why: TOO_MUCH };
  if (!isDeepStrictEqual(redaction.value(wish), wish)) return { allow: false, why: HOLDS_KEY };
  const isPath = wish.action === "read" || wish.action === "write" || wish.action === "reconfigure";
  if (isJailed || !isPath || !(await leadsOutside(tree, wish.resource))) return wish;
  return { ...wish, leadsOutside: true };
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

/** Returns whether a path leads out of a tree, by whatever links are on its way; also where that cannot be told. */
async function leadsOutside(tree: string, path: string): Promise<boolean> {
  try {
    const root = await realpath(tree);
    const real = await realOf(resolve(root, path));
    return real !== root && !real.startsWith(root + sep);
  } catch {
    return true;
  }
}

/** Returns where what is there of a path really is. @throws for a link to nothing: whoever writes there makes it */
async function realOf(path: string): Promise<string> {
  const stats = await lstat(path).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  });
  return stats === null ? realOf(dirname(path)) : realpath(path);
}
