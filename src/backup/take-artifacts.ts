import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { placeOf } from "../asks/keep-artifact.ts";
import { listArtifacts, type Artifact } from "../asks/store/artifacts.ts";
import type { Queryable } from "../core/store/db.ts";
import type { Clock } from "../lib/clock.ts";
import { type ContainedFiles, NoSuchPlace } from "../lib/files/contained-files.ts";
import type { TarWriter } from "../lib/files/tar.ts";
import { ARTIFACTS_FOLDER } from "./model/members.ts";

/** The context for taking files into an archive: the clock, progress reports, and the signal to stop. */
export interface Taking {
  clock: Clock;
  onProgress(line: string): void;
  signal: AbortSignal;
}

/** The files of jobs that are in an archive so far. */
export interface TakenArtifacts {
  rowsOf(on: Queryable): Promise<Artifact[]>;
  /**
   * The files of these rows are in the archive, except those that are returned: they are gone, or not what their rows say.
   * One that is taken again under the same name stands further behind, and counts.
   */
  take(rows: readonly Artifact[]): Promise<Artifact[]>;
}

export function openTakenArtifacts(
  files: ContainedFiles,
  archive: Pick<TarWriter, "add">,
  { onProgress, signal }: Pick<Taking, "onProgress" | "signal">,
): TakenArtifacts {
  const taken = new Map<string, string>();
  return {
    rowsOf: listArtifacts,
    async take(rows) {
      const left: Artifact[] = [];
      const wanted = rows.filter((row) => taken.get(memberOf(row)) !== row.sha256);
      for (const [i, row] of wanted.entries()) {
        signal.throwIfAborted();
        onProgress(`copying files of jobs: ${i + 1} of ${wanted.length}`);
        const bytes = await readAsKept(files, row);
        if (!bytes) left.push(row);
        else taken.set(memberOf(row), await archive.add(memberOf(row), bytes.length, [bytes]));
      }
      return left;
    },
  };
}

/** A file that is missing in this many moments in a row is not being replaced: it is gone. */
const LOOKS = 20;
const BETWEEN_LOOKS_MS = 50;

interface Closable extends Queryable {
  close(): void | Promise<void>;
}

/**
 * Opens a moment whose files are all in the archive, and in which no file is being replaced.
 *
 * While one is replaced it has no row: that goes before, and another comes afterwards (`keepArtifact`). So where a file
 * differs from its row, a later moment has another row or none, and where a file has no row, a later moment has one.
 * `damaged` are those whose files were not as they were kept before.
 */
export async function openFitting<S extends Closable>(
  { open, files }: { open: () => S | Promise<S>; files: string },
  taken: TakenArtifacts,
  { clock, signal }: Pick<Taking, "clock" | "signal">,
): Promise<{ snapshot: S; wanted: Map<string, string>; damaged: string[] }> {
  const known = await listFiles(files);
  let seen = new Map<string, number>();
  for (;;) {
    const snapshot = await open();
    try {
      const rows = await taken.rowsOf(snapshot);
      const left = await taken.take(rows);
      const there = new Set(rows.map(memberOf));
      const missing = [...left.map(idOf), ...known.filter((name) => !there.has(name))];
      seen = new Map(missing.map((id) => [id, (seen.get(id) ?? 0) + 1]));
      if ([...seen.values()].every((looks) => looks >= LOOKS)) {
        const kept = rows.filter((row) => !seen.has(idOf(row)));
        const wanted = new Map(kept.map((row) => [memberOf(row), row.sha256]));
        return { snapshot, wanted, damaged: left.map(nameOf) };
      }
    } catch (error) {
      await snapshot.close();
      throw error;
    }
    await snapshot.close();
    if ([...seen.values()].some((looks) => looks > 1)) await clock.sleep(BETWEEN_LOOKS_MS, signal);
  }
}

/** Returns the files that jobs may have left, by their names in an archive. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // Either nothing was ever left, or the files of a job went while they were listed.
    return existsSync(folder) ? null : [];
  });
  if (entries === null) return listFiles(folder);
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const steps = paths.map((path) => relative(folder, path).split(sep));
  // A name that begins with a dot is not a job's folder: it holds files that have no place yet.
  return steps.filter(([job = "."]) => !job.startsWith(".")).map((own) => [ARTIFACTS_FOLDER, ...own].join("/"));
}

/** Says which file of which job it is. */
export const nameOf = ({ jobId, path }: Artifact): string => `${path} of the job ${jobId}`;

const idOf = (artifact: Artifact): string => `${memberOf(artifact)} ${artifact.sha256}`;

const memberOf = (artifact: Artifact): string => [ARTIFACTS_FOLDER, ...placeOf(artifact)].join("/");

/** Returns null where the file is gone, or is not what its row says. */
export async function readAsKept(files: ContainedFiles, artifact: Artifact): Promise<Buffer | null> {
  try {
    const { file, size } = await files.open(placeOf(artifact));
    try {
      if (size !== artifact.size) return null;
      const bytes = await file.readFile();
      return createHash("sha256").update(bytes).digest("hex") === artifact.sha256 ? bytes : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof NoSuchPlace || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
