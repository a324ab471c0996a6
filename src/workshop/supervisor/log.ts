import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { readSupervisorLine, type SupervisorFact, type SupervisorLine } from "./lines.ts";

/** Facts that somebody acts on: they are on disk before anybody receives them. */
const CARRY_STATE: readonly SupervisorFact["type"][] = [
  "started",
  "session",
  "permission",
  "question",
  "decided",
  "waiting",
  "ended",
];
/** So large the log may become (spec/assignment 11); the last part is for facts that carry state. */
const MOST_BYTES = 52_428_800;
const RESERVED_BYTES = 10_485_760;
const CUT_BYTES = 1024;
const CUT = "The agent has written more than is kept: from here on its log holds only its requests.";
const PART_BYTES = 65_536;

/** The lines of a supervisor, in the order in which it wrote them. */
export interface SupervisorLog {
  /** Adds a fact; where the log is full it is left out, and the log says so once. */
  append(fact: SupervisorFact): void;
  /** Returns the number that the next line will have. */
  nextSeq(): number;
  /** Yields the lines after number `after`, and every later one, until the log is closed or `signal` is aborted. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<string>;
  close(): void;
}

const pathOf = (folder: string): string => join(folder, "log.ndjson");

/**
 * Opens an attempt's log where it ends: numbers go on, and half a line that a crash left is taken away. `onFull` is called
 * when not even what carries state has a place in it any more; its end has.
 */
export function openSupervisorLog(folder: string, now: () => number, onFull: () => void): SupervisorLog {
  const file = openSync(pathOf(folder), "a+", 0o600);
  let seq = repair(file);
  let isClosed = false;
  let isCut = false;
  let wake = Promise.withResolvers<void>();
  const wakeAll = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };

  function append(fact: SupervisorFact): void {
    const line: SupervisorLine = { seq: seq + 1, at: now(), ...fact };
    const { size } = fstatSync(file);
    const bytes = Buffer.from(`${plainJson(line)}\n`);
    const carriesState = CARRY_STATE.includes(fact.type);
    if (size + bytes.length > MOST_BYTES - (carriesState ? 0 : RESERVED_BYTES)) {
      if (!carriesState) return cut();
      if (fact.type !== "ended") return onFull();
    }
    write(bytes, size);
    if (carriesState) fsyncSync(file);
    seq = line.seq;
    wakeAll();
  }

  function write(bytes: Buffer, size: number): void {
    try {
      writeAll(file, bytes);
    } catch (error) {
      // Half a line, as of a full disk, would spoil the next one.
      ftruncateSync(file, size);
      throw error;
    }
  }

  function cut(): void {
    if (isCut) return;
    isCut = true;
    const { size } = fstatSync(file);
    if (size + CUT_BYTES > MOST_BYTES) return;
    write(Buffer.from(`${plainJson({ seq: seq + 1, at: now(), type: "error", text: CUT })}\n`), size);
    seq += 1;
    wakeAll();
  }

  return {
    append,
    nextSeq: () => seq + 1,
    follow: (after, signal) =>
      followLines(folder, { after, signal }, { next: () => wake.promise, isClosed: () => isClosed }),
    close() {
      if (isClosed) return;
      isClosed = true;
      closeSync(file);
      wakeAll();
    },
  };
}

/** How a log that is being written changes. */
interface Growth {
  /** Resolves when a line has been added since this was called, or the log is closed. */
  next(): Promise<void>;
  isClosed(): boolean;
}

async function* followLines(
  folder: string,
  { after, signal }: { after: number; signal: AbortSignal },
  growth: Growth,
): AsyncGenerator<string> {
  const reader = await open(pathOf(folder), "r");
  const stopped = Promise.withResolvers<void>();
  const stop = () => stopped.resolve();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const read = linesFrom(reader);
    while (!signal.aborted) {
      // Subscribe, then read: what is appended meanwhile wakes.
      const grown = growth.next();
      const wasClosed = growth.isClosed();
      for await (const line of read()) if (seqOf(line) > after) yield line;
      if (wasClosed) return;
      await Promise.race([grown, stopped.promise]);
    }
  } finally {
    signal.removeEventListener("abort", stop);
    await reader.close();
  }
}

/** Returns what stands in an attempt's log after number `after`; nothing where there is no log. */
export async function readLog(folder: string, after: number): Promise<SupervisorLine[]> {
  const reader = await open(pathOf(folder), "r").catch(() => null);
  if (!reader) return [];
  const lines: SupervisorLine[] = [];
  try {
    for await (const line of linesFrom(reader)()) if (seqOf(line) > after) lines.push(readSupervisorLine(line));
  } finally {
    await reader.close();
  }
  return lines;
}

/** Returns what yields the whole lines that were added since it was called last. */
function linesFrom(reader: Awaited<ReturnType<typeof open>>): () => AsyncGenerator<string> {
  const part = Buffer.alloc(PART_BYTES);
  let position = 0;
  let rest: Buffer[] = [];
  return async function* () {
    for (;;) {
      const { bytesRead } = await reader.read(part, 0, PART_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      let from = 0;
      for (let end = part.indexOf(10); end !== -1 && end < bytesRead; end = part.indexOf(10, from)) {
        yield Buffer.concat([...rest, part.subarray(from, end)]).toString("utf8");
        rest = [];
        from = end + 1;
      }
      if (from < bytesRead) rest.push(Buffer.from(part.subarray(from, bytesRead)));
    }
  };
}

/** Characters that could control a terminal and that JSON does not escape. Two of them are the halves of a tag. */
const STEERING =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udc7f]/g;

/** Returns JSON that says the same, and that a terminal may show. */
function plainJson(value: object): string {
  return JSON.stringify(value).replace(STEERING, (found) => {
    const units = Array.from({ length: found.length }, (_, i) => found.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

/** Every line begins with its number. */
function seqOf(line: string): number {
  return Number(/^\{"seq":(\d+),/.exec(line)?.[1] ?? 0);
}

/** Cuts off what follows the last line end, and returns the number of the last line. */
function repair(file: number): number {
  const part = Buffer.alloc(PART_BYTES);
  let position = 0;
  let lineStart = 0;
  let lastStart = -1;
  for (;;) {
    const bytes = readSync(file, part, 0, PART_BYTES, position);
    if (bytes === 0) break;
    for (let end = part.indexOf(10); end !== -1 && end < bytes; end = part.indexOf(10, end + 1)) {
      lastStart = lineStart;
      lineStart = position + end + 1;
    }
    position += bytes;
  }
  if (lineStart < position) ftruncateSync(file, lineStart);
  if (lastStart === -1) return 0;
  const head = Buffer.alloc(64);
  const length = readSync(file, head, 0, head.length, lastStart);
  return seqOf(head.toString("utf8", 0, length));
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
