const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const OPENS = new Set([0x7b, 0x5b]);
const CLOSES = new Set([0x7d, 0x5d]);
const NULL = Buffer.from("null");

/** Takes JSON in pieces, and returns each without the part that is left out. */
export interface MemberSkip {
  push(piece: Uint8Array): Uint8Array;
}

/**
 * Leaves out the value of one member at the top of an object: it becomes null. The rest keeps its bytes, also where it is
 * no JSON. It costs time in proportion to the bytes, and holds none of them. `name` must need no escape in JSON.
 */
export function openMemberSkip(name: string): MemberSkip {
  const nameBytes = Buffer.from(name);
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let isSkipping = false;
  /** The bytes of the newest text at the top, as far as it may be the name; null for another text. */
  let text: number[] | null = null;

  function readText(byte: number): void {
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) isInText = false;
    if (!isInText || text === null) return;
    if (byte === BACKSLASH || text.length >= nameBytes.length) text = null;
    else text.push(byte);
  }

  /** Returns true where the value of the member begins behind this byte. */
  function readOutside(byte: number): boolean {
    if (byte === QUOTE) [isInText, text] = [true, depth === 1 ? [] : null];
    else if (OPENS.has(byte)) depth += 1;
    else if (CLOSES.has(byte)) depth -= 1;
    return byte === COLON && depth === 1 && text !== null && nameBytes.equals(Uint8Array.from(text));
  }

  return {
    push(piece) {
      const kept: Uint8Array[] = [];
      let from = isSkipping ? piece.length : 0;
      for (const [at, byte] of piece.entries()) {
        if (isInText) {
          readText(byte);
          continue;
        }
        // The value ends before the comma, or the bracket, that follows it at the top.
        if (isSkipping && depth === 1 && (byte === COMMA || CLOSES.has(byte))) {
          isSkipping = false;
          kept.push(NULL);
          from = at;
        }
        const begins = readOutside(byte);
        if (begins && !isSkipping) {
          isSkipping = true;
          kept.push(piece.subarray(from, at + 1));
          from = piece.length;
        }
      }
      if (!isSkipping) kept.push(piece.subarray(from));
      return Buffer.concat(kept);
    },
  };
}
