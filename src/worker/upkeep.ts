import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type ReviewedWork, Tasks } from "@parley/sdk/tasks";
import { systemClock } from "../lib/clock.ts";
import { systemFetch } from "../lib/network/fetch.ts";
import type { SubmissionFolder } from "../workshop/attempt-assignment.ts";
import type { openWorkshop } from "../workshop/open-workshop.ts";
import type { ServerAddress } from "./http-attempt-client.ts";

const SETTLE_EVERY_MS = 5000;
const TIDY_EVERY_MS = 3_600_000;
const HOUR_MS = 3_600_000;
const LOGS_MS = 30 * 24 * HOUR_MS;

export interface UpkeepOptions {
  place: ServerAddress;
  /** Repositories that are here, by name. */
  names: readonly string[];
  workshop: ReturnType<typeof openWorkshop>;
  keepTreesH: number;
  /** Whether an attempt of a task is under way here, or may be. */
  isBusy: (repo: string, slug: string) => boolean;
  tell: (text: string) => void;
}

/** The work that a worker does beside its jobs. */
export interface Upkeep {
  /** Carries reviews out, and takes old work away, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when no folder is being taken away: an attempt may begin in any. */
  quiet(): Promise<void>;
}

/**
 * Opens the upkeep of a worker: in its repositories approved work comes into the target, and rejected branches go
 * (spec/assignment 12 and 13); trees, logs and names go as they do beside a server.
 */
export function openUpkeep({ place, names, workshop, keepTreesH, isBusy, tell }: UpkeepOptions): Upkeep {
  let removing: Promise<void> = Promise.resolve();
  let tidiedAt = -Infinity;
  const reported = new Set<string>();

  async function settle(repo: string, signal: AbortSignal): Promise<ReviewedWork> {
    const tasks = new Tasks({ ...place, repo, retries: 0, fetch: systemFetch });
    const left = await tasks.reviewedWork({ signal });
    // A server before 0.3.0 knows the former name alone.
    const found = { ...left, reviewed: left.reviewed.map((work) => ({ ...work, kind: work.is })) };
    for (const work of found.reviewed) {
      // Another worker with the same key may have done it, in a repository of its own.
      if (signal.aborted || !(await workshop.hasPublished({ ...work, repo }))) continue;
      const done = await workshop.settleReview({ ...work, repo }, found.onApprove);
      await tasks.noteSettled({ id: work.id, n: work.n, commit: work.commit, ...done }, { signal });
      await workshop.clear({ ...work, repo });
      if (done.message !== "") tell(`${repo} ${work.id}: ${done.message}`);
    }
    return found;
  }

  async function tidy(old: ReadonlyMap<string, ReviewedWork["rejected"]>, signal: AbortSignal): Promise<void> {
    const all = await workshop.listFolders();
    const busy = all.filter(({ repo, slug }) => isBusy(repo, slug)).map(({ slug }) => slug);
    for (const of of all) {
      const agoMs = systemClock.now() - (await lastTouched(of));
      removing = take(of, agoMs);
      await removing;
    }
    for (const [repo, rejected] of old) {
      await workshop.tidyRepository(repo, { busy: new Set(busy), rejected, wipMs: LOGS_MS }, signal);
    }
  }

  async function take(of: SubmissionFolder, agoMs: number): Promise<void> {
    if (isBusy(of.repo, of.slug)) return;
    if (agoMs >= LOGS_MS) await workshop.remove(of);
    else if (agoMs >= keepTreesH * HOUR_MS) await workshop.clear(of);
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        const old = new Map<string, ReviewedWork["rejected"]>();
        for (const repo of names) {
          try {
            old.set(repo, (await settle(repo, signal)).rejected);
            reported.delete(repo);
          } catch (error) {
            if (!signal.aborted && !reported.has(repo)) tell(`${repo}: reviews wait: ${sentenceOf(error)}`);
            reported.add(repo);
          }
        }
        if (systemClock.monotonic() - tidiedAt >= TIDY_EVERY_MS && !signal.aborted) {
          tidiedAt = systemClock.monotonic();
          await tidy(old, signal).catch((error: unknown) => {
            if (!signal.aborted) tell(`old work was not taken away: ${sentenceOf(error)}`);
          });
        }
        await systemClock.sleep(SETTLE_EVERY_MS, signal);
      }
    },
    quiet: () => removing.catch(() => undefined),
  };
}

/** Returns when anything of a submission changed last, except within its tree. */
async function lastTouched({ folder }: SubmissionFolder): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const times = await Promise.all(
    (names.length === 0 ? [""] : names).map((name) =>
      stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...times);
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
