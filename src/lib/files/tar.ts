/**
 * Reads archives in the pax format of POSIX.1-2001, which every `tar` writes: ordinary files alone, and as much of the
 * format as these need. A name that is too long for the header of old, and a file of 8 GiB or more, have a record before it.
 */
import type { FileHandle } from "node:fs/promises";

const BLOCK = 512;
const CHUNK = 1_048_576;
const LONGEST_NAME_IN_HEADER = 100;
const LONGEST_RECORDS = 65_536;
const FILE_TYPE = "0";
const RECORDS_TYPE = "x";
/** Where the fields of a header begin. */
const AT = { name: 0, size: 124, sum: 148, type: 156, magic: 257 } as const;
const MAGIC = "ustar";

/** A file in an archive, and where its bytes begin there. */
export interface TarEntry {
  name: string;
  size: number;
  at: number;
}

/** The file is no archive of this kind, or it is damaged. */
export class NotTar extends Error {}

/** Returns whether a file that begins so is an archive. */
export const isTar = (begin: Buffer): boolean => begin.toString("latin1", AT.magic, AT.magic + MAGIC.length) === MAGIC;

/** Yields the files of an archive in their order. @throws {NotTar} */
export async function* readTar(file: FileHandle): AsyncGenerator<TarEntry> {
  const { size: length } = await file.stat();
  let at = 0;
  let records: ReadonlyMap<string, string> = new Map();
  for (;;) {
    const header = await readAt(file, at, BLOCK);
    at += BLOCK;
    if (header.every((byte) => byte === 0)) return;
    const { name, size: short, type } = readHeader(header);
    if (type === RECORDS_TYPE) {
      if (short > LONGEST_RECORDS) throw new NotTar("a record is too long");
      records = readRecords((await readAt(file, at, short)).toString("utf8"));
      at += short + paddingOf(short);
      continue;
    }
    if (type !== FILE_TYPE) throw new NotTar(`there is something of type ${JSON.stringify(type)} in it`);
    const size = records.has("size") ? Number(records.get("size")) : short;
    if (!Number.isSafeInteger(size) || at + size + paddingOf(size) > length) throw new NotTar("it is cut off");
    yield { name: records.get("path") ?? name, size, at };
    at += size + paddingOf(size);
    records = new Map();
  }
}

/** Yields the bytes of one file of an archive. @throws {NotTar} when the archive ends before */
export async function* bytesOf(file: FileHandle, { at, size }: Pick<TarEntry, "at" | "size">): AsyncGenerator<Buffer> {
  for (let done = 0; done < size;) {
    const chunk = await readAt(file, at + done, Math.min(CHUNK, size - done));
    yield chunk;
    done += chunk.length;
  }
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

function readHeader(header: Buffer): { name: string; size: number; type: string } {
  const text = (at: number, length: number) =>
    header
      .toString("utf8", at, at + length)
      .split("\0", 1)
      .join("");
  const isSound = Number.parseInt(text(AT.sum, 8), 8) === sumOf(header);
  if (!isSound || !isTar(header)) throw new NotTar("a header is not one");
  const size = Number.parseInt(text(AT.size, 12), 8);
  if (!Number.isSafeInteger(size)) throw new NotTar("a header is not one");
  return { name: text(AT.name, LONGEST_NAME_IN_HEADER), size, type: text(AT.type, 1) };
}

/** Of all bytes of a header, the place of the sum itself taken for spaces. */
function sumOf(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= AT.sum && at < AT.sum + 8 ? 0x20 : byte), 0);
}

function readRecords(text: string): Map<string, string> {
  const records = new Map<string, string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [, key, value] = /^\d+ ([^=]+)=(.*)$/s.exec(line) ?? [];
    if (key === undefined || value === undefined) throw new NotTar("a record is not one");
    records.set(key, value);
  }
  return records;
}

async function readAt(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  for (let done = 0; done < size;) {
    const { bytesRead } = await file.read(bytes, done, size - done, at + done);
    if (bytesRead === 0) throw new NotTar("it is cut off");
    done += bytesRead;
  }
  return bytes;
}
