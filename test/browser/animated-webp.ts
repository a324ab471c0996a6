/** One picture of the animation, and for how long it stays. */
export interface Frame {
  webp: Buffer;
  milliseconds: number;
}

interface Chunk {
  type: string;
  data: Buffer;
}

const HEADER_BYTES = 12;
const IS_ANIMATED = 0b10;
/** A frame replaces all of the one before. */
const REPLACES = 0b10;

function chunksOf(webp: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = HEADER_BYTES; at < webp.length;) {
    const length = webp.readUInt32LE(at + 4);
    chunks.push({ type: webp.toString("latin1", at, at + 4), data: webp.subarray(at + 8, at + 8 + length) });
    at += 8 + length + (length % 2);
  }
  return chunks;
}

function encode({ type, data }: Chunk): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(type, "latin1"), length, data, Buffer.alloc(data.length % 2)]);
}

/** Returns numbers of three bytes each. */
function numbers(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 3);
  values.forEach((value, index) => buffer.writeUIntLE(value, index * 3, 3));
  return buffer;
}

/** Returns the bits of a lossy picture, and how wide and high it is, in pixels. */
function pictureIn(webp: Buffer): { bits: Chunk; size: [width: number, height: number] } {
  const bits = chunksOf(webp).find(({ type }) => type === "VP8 ");
  if (!bits) throw new Error("a picture of an animation is lossy WebP");
  return { bits, size: [bits.data.readUInt16LE(6) & 0x3fff, bits.data.readUInt16LE(8) & 0x3fff] };
}

/**
 * Joins pictures of one size to an animated WebP (https://developers.google.com/speed/webp/docs/riff_container) that
 * repeats for ever. A program that knows no animation shows the first.
 */
export function animatedWebp(frames: readonly Frame[]): Buffer {
  const [first] = frames;
  if (!first) throw new Error("an animation needs a picture");
  const [width, height] = pictureIn(first.webp).size;
  const extent = numbers(width - 1, height - 1);
  const chunks: Chunk[] = [
    { type: "VP8X", data: Buffer.concat([Buffer.from([IS_ANIMATED, 0, 0, 0]), extent]) },
    { type: "ANIM", data: Buffer.from([255, 255, 255, 255, 0, 0]) },
  ];
  for (const [index, { webp, milliseconds }] of frames.entries()) {
    const { bits, size } = pictureIn(webp);
    if (size[0] !== width || size[1] !== height) throw new Error(`picture ${index} has another size than the first`);
    const place = [numbers(0, 0), extent, numbers(milliseconds), Buffer.from([REPLACES])];
    chunks.push({ type: "ANMF", data: Buffer.concat([...place, encode(bits)]) });
  }
  return encode({ type: "RIFF", data: Buffer.concat([Buffer.from("WEBP"), ...chunks.map(encode)]) });
}
