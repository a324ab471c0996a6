import { randomFillSync } from "node:crypto";

/** A source of random bytes; the simulator puts a seeded one in its place. */
export type Random = (length: number) => Uint8Array;

/** Cryptographically strong bytes of this machine. */
export const systemRandom: Random = (length) => randomFillSync(new Uint8Array(length));
