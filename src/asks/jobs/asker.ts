import { repoOfKind } from "../../core/model/attempt-kind.ts";
import type { Queryable } from "../../core/store/db.ts";
import { findFreeze } from "../../policy/store/freezes.ts";
import type { Ask, Job } from "../model/ask.ts";
import type { AskAt } from "../store/asks.ts";

/** Whether an ask is of a frozen asker, or of the frozen agent of an attempt. */
export async function mayNotAllow(on: Queryable, { ask, isFrozen }: AskAt, job: Job): Promise<boolean> {
  return isFrozen || (await findFreeze(on, askerOf(ask, job))) !== undefined;
}

/** Returns the task whose attempt a job is; null for any other job. */
export function taskOfJob({ kind, spec }: Job): { repo: string; id: string } | null {
  const repo = repoOfKind(kind);
  const { task: id } = (spec ?? {}) as { task?: string };
  return repo === null || id === undefined ? null : { repo, id };
}

/** An attempt's agent is known by its own name, and not by that of whoever runs it. */
export function askerOf({ principal, meta }: Ask, { kind }: Job): string {
  return repoOfKind(kind) !== null && typeof meta["agent"] === "string" ? `attempt:${meta["agent"]}` : principal;
}
