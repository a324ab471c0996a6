import { randomFillSync } from "node:crypto";

/** A source of random bytes; the simulator puts a seeded one in its place. */
export type Random = (length: number) => Uint8Array;

const STOCK_BYTES = 8192;
const stock = new Uint8Array(STOCK_BYTES);
let used = STOCK_BYTES;

/**
 * Cryptographically strong bytes of this machine. They are drawn by the thousand, because a draw costs the same whatever
 * its length, and wiped from the stock as they are handed out.
 */
export const systemRandom: Random = (length) => {
  if (length > STOCK_BYTES) return randomFillSync(new Uint8Array(length));
  if (used + length > STOCK_BYTES) {
    randomFillSync(stock);
    used = 0;
  }
  const bytes = stock.slice(used, used + length);
  stock.fill(0, used, used + length);
  used += length;
  return bytes;
};
