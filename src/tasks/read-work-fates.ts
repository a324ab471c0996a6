import type { Context } from "../context.ts";
import { fateOfWork, type KeptFor, type WorkFate } from "./model/keep-work.ts";
import { findBusySlugs, findEndsOfSubmissions, findLongRejected, findTasksOfSlugs } from "./store/retention.ts";

/** Unfinished work, and rejected commits, have their names for so long (spec/assignment 4 and 12). */
export const REFS_KEPT_MS = 30 * 86_400_000;
/** Of one repository, in one statement. */
const AT_ONCE = 200;

/** One submission of a task, by the names its folder has. */
export interface Submission {
  repo: string;
  slug: string;
  generation: number;
}

/** Returns those of these submissions of which something goes, with what; of tasks that nobody knows nothing does. */
export async function readWorkFates<Of extends Submission>(
  ctx: Pick<Context, "db">,
  all: readonly Of[],
  keptFor: KeptFor,
): Promise<{ of: Of; fate: Exclude<WorkFate, "keep"> }[]> {
  const going: { of: Of; fate: Exclude<WorkFate, "keep"> }[] = [];
  for (const repo of new Set(all.map((one) => one.repo))) {
    const here = all.filter((one) => one.repo === repo);
    for (let from = 0; from < here.length; from += AT_ONCE) {
      const some = here.slice(from, from + AT_ONCE);
      const tasks = await findTasksOfSlugs(ctx.db, repo, [...new Set(some.map(({ slug }) => slug))]);
      const ids = tasks.map(({ id }) => id);
      const ends = await findEndsOfSubmissions(ctx.db, repo, ids);
      for (const of of some) {
        const task = tasks.find(({ slug }) => slug === of.slug);
        if (!task) continue;
        const end = ends.find(({ id, generation }) => id === task.id && generation === of.generation);
        const fate = fateOfWork({ generation: of.generation, task, endedAgoMs: end?.agoMs ?? null }, keptFor);
        if (fate !== "keep") going.push({ of, fate });
      }
    }
  }
  return going;
}

/** Returns whose names in a repository stay, because an attempt lives, and what was rejected so long ago that its go. */
export async function readOldRefs(
  ctx: Pick<Context, "db">,
  repo: string,
  rejectedMs: number,
): Promise<{ busy: ReadonlySet<string>; rejected: { slug: string; n: number }[] }> {
  const rejected = await findLongRejected(ctx.db, repo, rejectedMs);
  return { busy: new Set(await findBusySlugs(ctx.db, repo)), rejected };
}
