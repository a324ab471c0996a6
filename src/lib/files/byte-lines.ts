const NEWLINE = 0x0a;

/**
 * Yields the lines of a stream of bytes, each with its newline; bytes that no newline follows come last, as they are.
 * Node's own reader of lines also ends one at U+2028, which JSON may hold.
 */
export async function* byteLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const { buffer, byteOffset, byteLength } of chunks) {
    const chunk = Buffer.from(buffer, byteOffset, byteLength);
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
