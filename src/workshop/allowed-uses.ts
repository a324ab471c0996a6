import type { UseReport } from "../tasks/model/attempt-asks.ts";
import type { ToolUseEnd } from "./agents/agent.ts";
import type { AttemptClient } from "./attempt-client.ts";
import type { SupervisorLine } from "./supervisor/lines.ts";

/** Reports the ends of the agent's uses of tools that were allowed, by the names of their permissions. */
export class AllowedUses {
  readonly #client: Pick<AttemptClient, "used">;
  /** The uses for which a permission is open, by its name. */
  readonly #asked = new Map<string, string>();
  /** The permissions under which a use was allowed; a use of several parts has several. */
  readonly #allowed = new Map<string, string[]>();

  constructor(client: Pick<AttemptClient, "used">) {
    this.#client = client;
  }

  /** Takes note of a line that was reported before. */
  remember(line: SupervisorLine): void {
    this.#take(line);
  }

  async accept(line: SupervisorLine): Promise<void> {
    const refs = this.#take(line);
    if (line.type !== "tool" || line.ended === undefined) return;
    const report = reportOf(line.ended, line.isError);
    for (const ref of refs) await this.#client.used(ref, report);
  }

  /** Returns the permissions of the use that ends with this line. */
  #take(line: SupervisorLine): readonly string[] {
    if (line.type === "started") {
      this.#asked.clear();
      this.#allowed.clear();
    } else if (line.type === "permission" && line.use !== undefined) this.#asked.set(line.ref, line.use);
    else if (line.type === "decided") {
      const use = this.#asked.get(line.ref);
      this.#asked.delete(line.ref);
      if (use !== undefined && line.allow) this.#allowed.set(use, [...(this.#allowed.get(use) ?? []), line.ref]);
    } else if (line.type === "tool" && line.ended) {
      const refs = this.#allowed.get(line.ended.use) ?? [];
      this.#allowed.delete(line.ended.use);
      return refs;
    }
    return [];
  }
}

function reportOf({ digest: resultDigest, words, isDeclined }: ToolUseEnd, isError: boolean | undefined): UseReport {
  if (isDeclined) return { state: "not_run" };
  return { state: isError ? "failed" : "done", resultDigest, ...(words && { words }) };
}
