/** Counts of keys, of which each belongs to a call; every count can be read without those of one call. */
export class KeyCounts {
  readonly #all = new Map<string, number>();
  readonly #own = new Map<number, Map<string, number>>();
  readonly #totals = new Map<number, number>();
  #total = 0;
  #ranked: [key: string, count: number][] | null = null;

  /** Adds one key of a call. */
  add(call: number, key: string): void {
    const own = this.#own.get(call) ?? new Map<string, number>();
    this.#own.set(call, own);
    own.set(key, (own.get(key) ?? 0) + 1);
    this.#all.set(key, (this.#all.get(key) ?? 0) + 1);
    this.#totals.set(call, (this.#totals.get(call) ?? 0) + 1);
    this.#total += 1;
    this.#ranked = null;
  }

  /** Returns how many keys the other calls have in all. */
  total(call: number): number {
    return this.#total - (this.#totals.get(call) ?? 0);
  }

  /** Returns how often the other calls have a key. */
  count(call: number, key: string): number {
    return (this.#all.get(key) ?? 0) - (this.#own.get(call)?.get(key) ?? 0);
  }

  /** Returns how many different keys the other calls have. */
  size(call: number): number {
    const own = this.#own.get(call)?.keys() ?? [];
    return this.#all.size - [...own].filter((key) => this.count(call, key) === 0).length;
  }

  /** Yields the keys of the other calls, those of most first, with their counts. */
  *ranked(call: number): Generator<[key: string, count: number]> {
    for (const [key] of this.#inRank()) {
      const count = this.count(call, key);
      if (count > 0) yield [key, count];
    }
  }

  /** Returns the key that the other calls have at least `least` times, the most frequent first; null where there is no such key. */
  ofMost(call: number, least: number): string | null {
    for (const [key, count] of this.#inRank()) {
      if (count < least) return null;
      if (this.count(call, key) >= least) return key;
    }
    return null;
  }

  #inRank(): [key: string, count: number][] {
    if (this.#ranked) return this.#ranked;
    // Hundreds of thousands of keys may stand once each, and have an order already.
    const all = [...this.#all];
    const several = all.filter(([, count]) => count > 1).sort(([, one], [, other]) => other - one);
    this.#ranked = [...several, ...all.filter(([, count]) => count === 1)];
    return this.#ranked;
  }
}
