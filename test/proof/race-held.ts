import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { describe } from "./race-checks.ts";
import type { Answer, AskFacts, Read } from "./race-log.ts";
import { wallTime, type Nodes } from "./race-nodes.ts";
import { ask, at, SHORT_S, type Directed } from "./race-scene.ts";

const TRIES = 5;
const AFTER_MS = 100;

/**
 * Somebody holds a row until the deadline is over, and answers that were sent in time wait behind it. None may count:
 * what decides is the store's clock with the row held, also when the holder undoes what it did.
 */
export function heldPastDeadline(on: Directed): Promise<string[]> {
  const ends = ["ROLLBACK", "COMMIT"] as const;
  return holding(on, async (openHolder) => {
    const asks = await Promise.all(ends.map((end) => ask(on, `held-${end}`, 1, SHORT_S)));
    const [one, other] = [await openHolder(), await openHolder()];
    for (const [i, holder] of [one, other].entries()) {
      await holder.query("UPDATE questions SET held = held WHERE ask_id = $1", [asks[i]?.id]);
    }
    const answers = asks.flatMap((held) => [0, 1, 2].map((i) => on.door.answer(at(i), `${held.agent}-${i}`, held)));
    const reached = await untilWaiting(on.nodes, answers.length, asks);
    await sleep(AFTER_MS);
    await Promise.all([one.query(ends[0]), other.query(ends[1])]);
    const told = await Promise.all(answers);
    return reached && told.filter(({ status }) => status !== 410).map(tooLate);
  });
}

const tooLate = (one: Answer): string => `${describe(one)} got ${one.status} though held past the deadline`;

/**
 * An answer counts in time, and its COMMIT is delayed until the deadline is over. A reader in the meantime must not see
 * the question as expired, because it closes.
 */
export function committedPastDeadline(on: Directed): Promise<string[]> {
  return holding(on, async (openHolder) => {
    const hot = await ask(on, "held-up", 1, SHORT_S);
    const holder = await openHolder();
    await holder.query("UPDATE streams SET seq = seq WHERE id = $1", [`asker:open:${hot.agent}`]);
    const inTime = on.door.answer(at(0), "held-up-in-time", hot);
    const reached = await untilWaiting(on.nodes, 1, [hot]);
    await sleep(AFTER_MS);
    const late = [0, 1, 2].map((i) => on.door.answer(at(i), `held-up-${i}`, hot));
    const polls = [0, 1, 2].map((i) => on.door.poll(at(i), hot));
    await sleep(AFTER_MS);
    await holder.query("ROLLBACK");

    const [first, answers, reads] = [await inTime, await Promise.all(late), await Promise.all(polls)];
    if (!reached || first.status !== 201) return null;
    return [
      ...answers
        .filter(({ details }) => details?.["status"] !== "CLOSED")
        .map((one) => `${describe(one)} was told ${String(one.details?.["status"])} of a question that closed`),
      ...reads
        .filter((one) => statusIn(one) !== "CLOSED")
        .map((one) => `${describe(one)} showed ${statusIn(one)} of a question that closed`),
    ];
  });
}

const statusIn = ({ readings }: Read): string => readings[0]?.status ?? "nothing";

/** Runs a race in which transactions of ours hold rows, again while the machine was too slow for anything to be seen. */
async function holding(
  on: Directed,
  run: (openHolder: () => Promise<pg.Client>) => Promise<string[] | null | false>,
): Promise<string[]> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const holders: pg.Client[] = [];
    try {
      const problems = await run(async () => {
        const holder = new pg.Client({ connectionString: on.nodes.database });
        holders.push(holder);
        await holder.connect();
        await holder.query("BEGIN");
        return holder;
      });
      if (problems) return problems;
    } finally {
      await Promise.all(holders.map((holder) => holder.end()));
    }
  }
  return [`in ${TRIES} tries no answer reached a held question before its deadline`];
}

/** Waits until so many wait for rows, and then until the deadline; false when the deadline came first. */
async function untilWaiting({ control }: Nodes, count: number, asks: readonly AskFacts[]): Promise<boolean> {
  const untilDue = () => wallTime(Math.max(...asks.map(({ expiresAt }) => expiresAt))) - Date.now();
  for (;;) {
    const { rows } = await control.query<{ waiting: string }>(
      "SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    if (untilDue() < 0) return false;
    if (Number(rows[0]?.waiting) >= count) break;
    await sleep(10);
  }
  await sleep(Math.max(0, untilDue()));
  return true;
}
