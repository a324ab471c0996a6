import { setTimeout as sleep } from "node:timers/promises";
import type { Failure, Harness, HarnessOptions, HarnessReport } from "./harness.ts";
import { openFreezeLoad, type FreezeLoad } from "./freeze-load.ts";
import { openPair, type Pair } from "./freeze-pair.ts";
import { type Dice, diceOf } from "./sim-dice.ts";

/** The longest time of a write that cannot go on, and the grace for a loaded machine. */
const WAIT_MS = 2000;
const GRACE_MS = 2500;
const FREEZES = 2;
/** Longer than any act may take. */
const FROZEN_MS = 6000;
/** Once a freeze is to find the server amid a transaction it is tried again so often. */
const TRIES = 40;
const HEAD_HELD_MS = 3000;
const SEALED_WITHIN_MS = 15_000;
const LONG_FROZEN_MS = 20_000;
const MOST_TOLD = 20;

type Figures = Record<string, number | string>;

/**
 * Two servers on one PostgreSQL under load, one of which is stopped (SIGSTOP) for seconds and goes on again: the other
 * serves on (R7), nothing acknowledged is lost, and the record's chain holds each acknowledged act exactly once (X5).
 */
export const freeze: Harness = {
  name: "freeze",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const seed = options.seed ?? Math.floor(Math.random() * 1e8);
    const problems: string[] = [];
    const figures = await story(seed, options, problems);
    const repeat = `npm run prove -- freeze --seed ${seed}`;
    const failures: Failure[] = [...new Set(problems)].slice(0, MOST_TOLD).map((says) => ({ says, repeat }));
    return { figures, failures };
  },
};

async function story(seed: number, options: HarnessOptions, problems: string[]): Promise<Figures> {
  const onProblem = (says: string) => void problems.push(says);
  const isOver = () => options.stopAtFirstFailure === true && problems.length > 0;
  const dice = diceOf(seed);
  const trace = (line: string) => options.trace && console.error(`freeze ${seed}: ${line}`);
  await using pair = await openPair();
  const load = openFreezeLoad(pair, onProblem);
  try {
    load.start();
    await load.until(40);
    await holdHead(pair, load, onProblem);
    trace("the head was held");
    const longest: number[] = [];
    let refused = 0;
    let amidTransactions = 0;
    for (let i = 0; i < FREEZES && !isOver(); i += 1) {
      const one = await freezeOnce({ pair, load, dice, onProblem }, options.longHours ? LONG_FROZEN_MS : FROZEN_MS);
      trace(JSON.stringify(one));
      longest.push(one.longestMs);
      refused += one.refused;
      amidTransactions += one.transactions;
    }
    await load.stop();
    if (!isOver()) await settle(pair, load, onProblem);
    if (options.boxMs === undefined && amidTransactions === 0) onProblem("no freeze found a server amid a transaction");
    return {
      freezes: longest.length,
      "transactions frozen": amidTransactions,
      "longest wait on the other, ms": Math.round(Math.max(0, ...longest)),
      "503 on the other": refused,
      acknowledged: load.acknowledged(),
      "unknown, then settled": load.settled(),
    };
  } finally {
    await load.stop();
  }
}

/** Holds the head of the chain in a transaction that nobody ends. No act may be affected. */
async function holdHead(pair: Pair, load: FreezeLoad, onProblem: (says: string) => void): Promise<void> {
  await pair.control.query("BEGIN");
  await pair.control.query("SELECT seq FROM audit_head WHERE id = 1 FOR UPDATE");
  const from = load.mark();
  await sleep(HEAD_HELD_MS);
  const { done, refused } = load.since(from, [0, 1]);
  await pair.control.query("ROLLBACK");
  if (refused > 0 || done === 0) {
    onProblem(`X5: while somebody held the head of the chain ${done} acts were done and ${refused} refused`);
  }
}

interface Scene {
  pair: Pair;
  load: FreezeLoad;
  dice: Dice;
  onProblem: (says: string) => void;
}

/** Stops the first server at a random moment, and looks at the second meanwhile. */
async function freezeOnce(
  { pair, load, dice, onProblem }: Scene,
  forMs: number,
): Promise<{ longestMs: number; refused: number; transactions: number }> {
  let transactions = 0;
  for (let tried = 0; tried < TRIES && transactions === 0; tried += 1) {
    await sleep(dice.between(20, 140));
    pair.signal("SIGSTOP");
    await sleep(20);
    transactions = await pair.openTransactions();
    if (transactions === 0 && tried < TRIES - 1) pair.signal("SIGCONT");
  }
  const from = load.mark();
  await sleep(forMs);
  // An act that still waits counts for as long as it has waited.
  const seen = load.since(from, [1]);
  const left = await pair.openTransactions();
  const unsealedMs = await pair.oldestUnsealedMs();
  pair.signal("SIGCONT");
  if (left > 0) onProblem(`R7: ${left} transactions of the frozen server were still open after ${forMs} ms`);
  if (seen.longestMs > WAIT_MS + GRACE_MS) {
    onProblem(`R7: an act on the other server took ${Math.round(seen.longestMs)} ms while one was frozen`);
  }
  if (seen.done === 0) onProblem("R7: nothing was done on the other server while one was frozen");
  if (unsealedMs > WAIT_MS + GRACE_MS) onProblem(`X5: an entry was not in the chain after ${unsealedMs} ms`);
  await load.until(20);
  return { longestMs: seen.longestMs, refused: seen.refused, transactions };
}

/** Sends unknown requests again, and then checks that each acknowledged one stands in the chain once. */
async function settle(pair: Pair, load: FreezeLoad, onProblem: (says: string) => void): Promise<void> {
  await load.settle();
  const until = performance.now() + SEALED_WITHIN_MS;
  while ((await pair.unsealed()) > 0 && performance.now() < until) await sleep(100);
  if ((await pair.unsealed()) > 0) onProblem("X5: entries are not in the chain although nothing goes on any more");
  const entries = await pair.entries();
  for (const { id, action } of load.acts()) {
    const count = entries.get(`${action} ${id}`) ?? 0;
    if (count !== 1) onProblem(`X5: ${action} of ${id} was acknowledged and stands in the chain ${count} times`);
  }
  for (const says of await pair.examine()) onProblem(says);
}
