import type { FileHandle } from "node:fs/promises";

const CHUNK = 1_048_576;
const NEWLINE = 0x0a;

/**
 * Yields the lines of a file, each with its newline; bytes that no newline follows come last, as they are. Node's own
 * reader of lines also ends one at U+2028, which JSON may hold.
 */
export async function* byteLines(file: FileHandle): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for (let at = 0; ;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      const line = chunk.subarray(begin, end + 1);
      yield rest.length === 0 ? line : Buffer.concat([...rest, line]);
      rest = [];
      begin = end + 1;
    }
    if (begin < chunk.length) rest.push(chunk.subarray(begin));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
