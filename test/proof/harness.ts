/** How a harness is run. */
export interface HarnessOptions {
  /** Repeats one run; left out, each harness chooses its own seeds and prints them. */
  seed?: number;
  /** The first of the seeds of a harness that chooses its own; left out, it is left to chance. */
  firstSeed?: number;
  /** Prints every step of the run. */
  trace: boolean;
  /** The long run instead of the CI portion, for about so many hours. */
  longHours?: number;
  /** At most about so long, however little was done by then: for planted bugs and `--quick`. No floor applies. */
  boxMs?: number;
  /** At least so many steps, where a harness counts them. */
  steps?: number;
  /** Returns with the first broken promise instead of going on to the end. */
  stopAtFirstFailure?: boolean;
}

/** One promise that did not hold. */
export interface Failure {
  /** The promise and the observed result, in a sentence or two. */
  says: string;
  /** The one line that repeats it. */
  repeat: string;
}

export interface HarnessReport {
  /** The figures of the run, for the record: counts, largest lateness. */
  figures: Readonly<Record<string, number | string>>;
  /** A floor that was not reached is a failure too: a harness that does nothing is worse than none. */
  failures: readonly Failure[];
}

/** One way of looking for broken promises (each file of this folder exports one). */
export interface Harness {
  name: string;
  run(options: HarnessOptions): Promise<HarnessReport>;
}

const SEEDS = 2 ** 31;

/** Returns the seed that a run begins with: the one that was asked for, and any other without that. */
export function firstSeedOf({ seed, firstSeed }: HarnessOptions): number {
  return seed ?? firstSeed ?? Math.floor(Math.random() * SEEDS);
}
