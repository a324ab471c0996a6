import type { Random } from "../../src/lib/random.ts";

/** Everything that is left to chance in a simulation: the same seed throws the same numbers. */
export interface Dice {
  /** A whole number from 0 to just under `below`. */
  int(below: number): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  /** True with probability `p`. */
  chance(p: number): boolean;
  pick<T>(list: readonly T[]): T;
  shuffle<T>(list: T[]): T[];
  bytes: Random;
}

/** Returns the dice of a seed: sfc32, whose period no simulation exhausts. */
export function diceOf(seed: number): Dice {
  let a = seed >>> 0;
  let b = Math.floor(seed / 2 ** 32) >>> 0;
  let c = 0x9e3779b9;
  let counter = 1;

  function next(): number {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
  // Seeds that are neighbours differ in a few bits only; these rounds spread them.
  for (let i = 0; i < 16; i += 1) next();

  const int = (below: number) => Math.floor((next() / 2 ** 32) * below);
  return {
    int,
    between: (least, most) => least + int(most - least + 1),
    chance: (p) => p > 0 && next() < p * 2 ** 32,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error("nothing to pick from");
      return list[int(list.length)] as T;
    },
    shuffle<T>(list: T[]): T[] {
      for (let i = list.length - 1; i > 0; i -= 1) {
        const j = int(i + 1);
        [list[i], list[j]] = [list[j] as T, list[i] as T];
      }
      return list;
    },
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
  };
}
