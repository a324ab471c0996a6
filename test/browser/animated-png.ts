import { crc32 } from "node:zlib";

/** One picture of the animation, and for how long it stays. */
export interface Frame {
  png: Buffer;
  milliseconds: number;
}

interface Chunk {
  type: string;
  data: Buffer;
}

const SIGNATURE_BYTES = 8;

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function encode({ type, data }: Chunk): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, check]);
}

function numbers(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => buffer.writeUInt32BE(value, index * 4));
  return buffer;
}

/**
 * Joins pictures of one size to an animated PNG (https://www.w3.org/TR/png-3/#apng-frame-based-animation) that repeats
 * for ever. A program that knows no animation shows the first.
 */
export function animatedPng(frames: readonly Frame[]): Buffer {
  const [first] = frames;
  const header = first && chunksOf(first.png).find(({ type }) => type === "IHDR")?.data;
  if (!header) throw new Error("an animation needs a picture");
  const size = header.subarray(0, 8);
  let sequence = 0;
  const chunks: Chunk[] = [
    { type: "IHDR", data: header },
    { type: "acTL", data: numbers(frames.length, 0) },
  ];
  for (const [index, { png, milliseconds }] of frames.entries()) {
    const own = chunksOf(png);
    if (!own[0]?.data.equals(header)) throw new Error(`picture ${index} has another size or colours than the first`);
    const delay = Buffer.alloc(6);
    delay.writeUInt16BE(milliseconds, 0);
    delay.writeUInt16BE(1000, 2);
    chunks.push({ type: "fcTL", data: Buffer.concat([numbers(sequence++), size, numbers(0, 0), delay]) });
    for (const { type, data } of own) {
      if (type !== "IDAT") continue;
      chunks.push(index === 0 ? { type, data } : { type: "fdAT", data: Buffer.concat([numbers(sequence++), data]) });
    }
  }
  chunks.push({ type: "IEND", data: Buffer.alloc(0) });
  return Buffer.concat([first.png.subarray(0, SIGNATURE_BYTES), ...chunks.map(encode)]);
}
