import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { placeOf } from "../asks/jobs/keep-artifact.ts";
import type { Artifact } from "../asks/store/artifacts.ts";
import type { Clock } from "../lib/clock.ts";
import { type ContainedFiles, NoSuchPlace } from "../lib/files/contained-files.ts";
import { printLine } from "./model/export-lines.ts";
import { ARTIFACTS_FOLDER } from "./model/members.ts";
import type { Moment } from "./store/moment.ts";

/** The context for taking files into an archive: the clock, progress reports, and the signal to stop. */
export interface Taking {
  clock: Clock;
  onProgress(line: string): void;
  signal: AbortSignal;
}

/**
 * Yields the files of these rows as lines. Returns the rows whose files are gone, or not what their rows say. A file that
 * is taken again under the same name stands further behind, and counts.
 */
type Take = (rows: readonly Artifact[]) => AsyncGenerator<Buffer, Artifact[]>;

export function openTaking(files: ContainedFiles, { onProgress, signal }: Pick<Taking, "onProgress" | "signal">): Take {
  const taken = new Map<string, string>();
  return async function* (rows) {
    const left: Artifact[] = [];
    const wanted = rows.filter((row) => taken.get(memberOf(row)) !== row.sha256);
    for (const [i, row] of wanted.entries()) {
      signal.throwIfAborted();
      onProgress(`reading files of jobs: ${i + 1} of ${wanted.length}`);
      const bytes = await readAsKept(files, row);
      if (!bytes) left.push(row);
      else {
        yield* partLines(memberOf(row), bytes);
        taken.set(memberOf(row), row.sha256);
      }
    }
    return left;
  };
}

const PART_BYTES = 196_608;

/** Yields a file in parts; an empty one has one. */
export function* partLines(name: string, bytes: Uint8Array): Generator<Buffer> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at === 0 || at < all.length; at += PART_BYTES) {
    const base64 = all.toString("base64", at, Math.min(at + PART_BYTES, all.length));
    yield Buffer.from(printLine({ kind: "part", name, at, base64 }));
  }
}

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A file that is missing in this many moments in a row is not being replaced: it is gone. */
const LOOKS = 20;
const BETWEEN_LOOKS_MS = 50;

interface Looking {
  open(): Promise<Moment>;
  rowsOf(on: Moment): Promise<Artifact[]>;
  /** The folder of the files; null where none are taken. */
  files: string | null;
}

/** A moment whose files were all taken, and their digests by name. */
interface Fitting {
  moment: Moment;
  kept: Map<string, string>;
  /** Files that were not as they were kept before. */
  damaged: string[];
}

/**
 * Opens a moment whose files are all in the archive, and in which no file is being replaced. Yields what was missing.
 *
 * While one is replaced it has no row: that goes before, and another comes afterwards (`keepArtifact`). So where a file
 * differs from its row, a later moment has another row or none, and where a file has no row, a later moment has one.
 */
export async function* openFitting(
  { open, rowsOf, files }: Looking,
  take: Take,
  { clock, signal }: Pick<Taking, "clock" | "signal">,
): AsyncGenerator<Buffer, Fitting> {
  const known = files === null ? [] : await listFiles(files);
  let seen = new Map<string, number>();
  for (;;) {
    const moment = await open();
    let isOver = false;
    try {
      const rows = await rowsOf(moment);
      const left = yield* take(rows);
      const there = new Set(rows.map(memberOf));
      const missing = [...left.map(idOf), ...known.filter((name) => !there.has(name))];
      seen = new Map(missing.map((id) => [id, (seen.get(id) ?? 0) + 1]));
      isOver = [...seen.values()].every((looks) => looks >= LOOKS);
      if (isOver) {
        const kept = rows.filter((row) => !seen.has(idOf(row))).map((row) => [memberOf(row), row.sha256] as const);
        return { moment, kept: new Map(kept), damaged: left.map(nameOf) };
      }
    } finally {
      if (!isOver) await moment.close();
    }
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
const nameOf = ({ jobId, path }: Artifact): string => `${path} of the job ${jobId}`;

const idOf = (artifact: Artifact): string => `${memberOf(artifact)} ${artifact.sha256}`;

const memberOf = (artifact: Artifact): string => [ARTIFACTS_FOLDER, ...placeOf(artifact)].join("/");

/** Returns null where the file is gone, or is not what its row says. */
async function readAsKept(files: ContainedFiles, artifact: Artifact): Promise<Buffer | null> {
  try {
    const { file, size } = await files.open(placeOf(artifact));
    try {
      if (size !== artifact.size) return null;
      const bytes = await file.readFile();
      return sha256Of(bytes) === artifact.sha256 ? bytes : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof NoSuchPlace || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
