/**
 * Archives in the pax format of POSIX.1-2001, which every `tar` reads and writes: ordinary files alone, and as much of the
 * format as these need. A name that is too long for the header of old, and a file of 8 GiB or more, have a record before it.
 */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";

const BLOCK = 512;
const CHUNK = 1_048_576;
const MOST_SIZE_IN_HEADER = 0o77777777777;
const LONGEST_NAME_IN_HEADER = 100;
const LONGEST_RECORDS = 65_536;
const FILE_TYPE = "0";
const RECORDS_TYPE = "x";
/** Name, mode, user, group, size, time, sum, type, name of a link, format. */
const AT = { name: 0, mode: 100, uid: 108, gid: 116, size: 124, mtime: 136, sum: 148, type: 156, magic: 257 } as const;

/** A file in an archive, and where its bytes begin there. */
export interface TarEntry {
  name: string;
  size: number;
  at: number;
}

/** The file is no archive of this kind, or it is damaged. */
export class NotTar extends Error {}

/** Writes an archive from the beginning of an empty file. */
export interface TarWriter {
  /**
   * The file is in the archive. Returns its SHA-256 in hex.
   *
   * @throws {Error} when `source` has another number of bytes than was given
   */
  add(name: string, size: number, source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string>;
  /** Nothing comes after what was added. */
  end(): Promise<void>;
}

export function openTarWriter(file: FileHandle, mtimeMs: number): TarWriter {
  const mtime = Math.floor(mtimeMs / 1000);
  return {
    async add(name, size, source) {
      await file.write(headersOf(name, size, mtime));
      const hash = createHash("sha256");
      let written = 0;
      for await (const chunk of source) {
        written += chunk.length;
        hash.update(chunk);
        await writeAll(file, chunk);
      }
      if (written !== size) throw new Error(`${name} has ${written} bytes, not ${size}`);
      await file.write(Buffer.alloc(paddingOf(size)));
      return hash.digest("hex");
    },
    async end() {
      await file.write(Buffer.alloc(2 * BLOCK));
    },
  };
}

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

/** Writes all of it where the last write ended: one call of the system may write less. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done)).bytesWritten;
  }
}

const paddingOf = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

/** Returns what stands before the bytes of a file. */
export function headersOf(name: string, size: number, mtime: number): Buffer {
  const isLong = Buffer.byteLength(name) > LONGEST_NAME_IN_HEADER;
  const isLarge = size > MOST_SIZE_IN_HEADER;
  const plain = headerOf(cut(name), { size: isLarge ? 0 : size, mtime, type: FILE_TYPE });
  if (!isLong && !isLarge) return plain;
  const text = `${isLong ? recordOf("path", name) : ""}${isLarge ? recordOf("size", String(size)) : ""}`;
  const records = Buffer.from(text);
  return Buffer.concat([
    headerOf(cut(`PaxHeaders/${name}`), { size: records.length, mtime, type: RECORDS_TYPE }),
    records,
    Buffer.alloc(paddingOf(records.length)),
    plain,
  ]);
}

const cut = (name: string): string => Buffer.from(name).subarray(0, LONGEST_NAME_IN_HEADER).toString("latin1");

function headerOf(name: string, { size, mtime, type }: { size: number; mtime: number; type: string }): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    header.write(`${value.toString(8).padStart(digits, "0")}\0`, at, "latin1");
  header.write(name, AT.name, "latin1");
  octal(0o600, AT.mode, 7);
  octal(0, AT.uid, 7);
  octal(0, AT.gid, 7);
  octal(size, AT.size, 11);
  octal(mtime, AT.mtime, 11);
  header.write(type, AT.type, "latin1");
  header.write("ustar\u000000", AT.magic, "latin1");
  header.write(`${sumOf(header).toString(8).padStart(6, "0")}\0 `, AT.sum, "latin1");
  return header;
}

function readHeader(header: Buffer): { name: string; size: number; type: string } {
  const text = (at: number, length: number) => header.toString("utf8", at, at + length).replace(/\0.*$/s, "");
  const isSound = Number.parseInt(text(AT.sum, 8), 8) === sumOf(header);
  if (!isSound || text(AT.magic, 6) !== "ustar") throw new NotTar("a header is not one");
  const size = Number.parseInt(text(AT.size, 12), 8);
  if (!Number.isSafeInteger(size)) throw new NotTar("a header is not one");
  return { name: text(AT.name, LONGEST_NAME_IN_HEADER), size, type: text(AT.type, 1) };
}

/** Of all bytes of a header, the place of the sum itself taken for spaces. */
function sumOf(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= AT.sum && at < AT.sum + 8 ? 0x20 : byte), 0);
}

/** One record, which begins with its own length. */
function recordOf(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const length = Buffer.byteLength(rest);
  const digits = String(length + String(length).length).length;
  return `${length + digits}${rest}`;
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
