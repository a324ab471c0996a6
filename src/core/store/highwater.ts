import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import type { Clock } from "../../lib/clock.ts";
import { syncFolder } from "../../lib/files/durable-files.ts";
import { FILE_MODE } from "./data-dir.ts";

/** Keeps the number of the last commit outside the database: history cannot shrink unnoticed (spec/invariants D7). */
export interface Highwater {
  /** Notes a commit that is on disk; the file follows within a second. */
  note(commitNo: number): void;
  /** The last number noted is in the file. */
  close(): Promise<void>;
}

interface HighwaterOptions {
  path: string;
  clock: Clock;
  /** Receives a write that failed; the next commit tries again. */
  onError: (error: unknown) => void;
}

const BETWEEN_WRITES_MS = 1000;
const LINE = /^(\d{20}) ([0-9a-f]{8})\n$/;

/** Returns the number in the file, 0 when the file is missing or empty, or null when it is damaged. */
export function readHighwater(path: string): number | null {
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, "latin1");
  if (text === "") return 0;
  const [, digits = "", sum] = LINE.exec(text) ?? [];
  return sum !== undefined && sumOf(digits) === sum ? Number(digits) : null;
}

/** The file holds `commitNo`, whatever it held before. */
export function writeHighwater(path: string, commitNo: number): void {
  const isNew = !existsSync(path);
  const descriptor = openSync(path, isNew ? "wx" : "r+", FILE_MODE);
  try {
    writeSync(descriptor, highwaterLine(commitNo), 0);
    // point: highwater-at-start-before-sync
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  if (isNew) syncFolder(dirname(path));
}

/** Follows commits from here on. The file must exist. */
export async function openHighwater({ path, clock, onError }: HighwaterOptions): Promise<Highwater> {
  const file = await open(path, "r+");
  const closing = new AbortController();
  let latest = 0;
  let written = 0;
  let following: Promise<void> | null = null;

  async function write(): Promise<void> {
    const commitNo = latest;
    try {
      // One line of fixed length, written in place: no disk tears 30 bytes at the start of a sector.
      await file.write(highwaterLine(commitNo), 0);
      // point: highwater-before-sync
      await file.datasync();
      written = commitNo;
    } catch (error) {
      onError(error);
    }
  }

  async function follow(): Promise<void> {
    while (written < latest && !closing.signal.aborted) {
      await write();
      await clock.sleep(BETWEEN_WRITES_MS, closing.signal);
    }
    following = null;
  }

  return {
    note(commitNo) {
      latest = Math.max(latest, commitNo);
      if (!closing.signal.aborted) following ??= follow();
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await following;
      if (written < latest) await write();
      await file.close();
    },
  };
}

/** Returns what the file holds for this number. */
export function highwaterLine(commitNo: number): string {
  const digits = String(commitNo).padStart(20, "0");
  return `${digits} ${sumOf(digits)}\n`;
}

const sumOf = (digits: string): string => crc32(digits).toString(16).padStart(8, "0");
