import { coversCall, unreadPatterns } from "./alike.ts";
import type { GrantPattern } from "./pattern.ts";
import type { PolicyInput } from "./policy.ts";
import { SeenValues } from "./seen-values.ts";

/** Tools of coding agents for one deed: whichever of them an agent takes, a command or a file says what it does. */
const TOOLS = {
  command: "Bash bash shell Shell exec exec_command run_shell_command".split(" "),
  path: "Edit MultiEdit Write edit write create replace write_file apply_patch".split(" "),
};
type Deed = keyof typeof TOOLS;

/** Returns what a tool of coding agents does by its command or its file; null for every other function. */
export function deedOf(fn: unknown): Deed | null {
  if (typeof fn !== "string") return null;
  return TOOLS.command.includes(fn) ? "command" : TOOLS.path.includes(fn) ? "path" : null;
}

/** The approved calls of all agents that run commands or write files, and those that no rule may cover. */
export class Agreement<T extends { readonly input: PolicyInput }> {
  readonly #approved = new Map<string, T[]>();
  readonly #apart: readonly T[];
  readonly #found = new Map<string, readonly T[]>();
  readonly #looked: () => Promise<void> | undefined;

  private constructor(apart: readonly T[], looked: () => Promise<void> | undefined) {
    this.#apart = apart.filter(({ input }) => deedOf(input.fn) !== null);
    this.#looked = looked;
  }

  /** Reads the calls; `looked` is awaited after each look at one, so that others are served. */
  static async of<T extends { readonly input: PolicyInput }>(
    approved: readonly T[],
    apart: readonly T[],
    looked: () => Promise<void> | undefined,
  ): Promise<Agreement<T>> {
    const agreement = new Agreement(apart, looked);
    const seen = new SeenValues([]);
    for (const call of approved) {
      if (deedOf(call.input.fn) === null) continue;
      const keys = unreadPatterns(call.input, seen, "alike").flatMap((when) => keyOf(wide(when)) ?? []);
      for (const key of new Set(keys)) {
        const calls = agreement.#approved.get(key);
        if (calls) calls.push(call);
        else agreement.#approved.set(key, [call]);
      }
      await looked();
    }
    return agreement;
  }

  /**
   * Returns the approved calls of any agent, in any folder, that have the commands or the file of a pattern among their
   * own patterns, and that it covers but for agent and folder; none where such a pattern covers a call `apart`.
   */
  async on(when: GrantPattern["when"]): Promise<readonly T[]> {
    const widened = wide(when);
    const key = keyOf(widened);
    if (widened === null || key === null) return [];
    let calls = this.#found.get(key);
    if (calls === undefined) {
      const isApart = (await this.#covered(widened, this.#apart, 1)).length > 0;
      calls = isApart ? [] : await this.#covered(widened, this.#approved.get(key) ?? [], Infinity);
      this.#found.set(key, calls);
    }
    return calls;
  }

  async #covered(when: GrantPattern["when"], calls: readonly T[], most: number): Promise<T[]> {
    const covered: T[] = [];
    for (const call of calls) {
      if (coversCall(when, call.input)) covered.push(call);
      if (covered.length === most) break;
      await this.#looked();
    }
    return covered;
  }
}

/**
 * Returns a pattern for every agent, every tool of its deed and every folder; null for one of another function, and for
 * one without a folder, which a prompt of a coding agent has.
 */
function wide({ fn, command, path, args = {} }: GrantPattern["when"]): GrantPattern["when"] | null {
  const deed = deedOf(Array.isArray(fn) ? fn[0] : fn);
  if (!Object.hasOwn(args as object, "/cwd")) return null;
  if (deed === "command") return command === undefined ? null : { fn: TOOLS.command, command };
  // All files of one folder say nothing of all files of another one, which may be somebody's home.
  return deed === null || path === undefined || path === "**" ? null : { fn: TOOLS.path, path };
}

const keyOf = (when: GrantPattern["when"] | null): string | null => (when === null ? null : JSON.stringify(when));
