import { sql } from "../../src/core/store/sql.ts";
import { one } from "../../src/core/store/db.ts";
import { Refusal } from "../../src/refusals.ts";
import { streamOfAsker } from "../../src/core/store/streams.ts";
import { type AskerEvent, followAsker } from "../../src/questions/follow-asker.ts";
import type { FeedChange } from "../../src/questions/follow-feed.ts";
import { type QuestionReading, followQuestion } from "../../src/questions/read.ts";
import { type AskEntry, judgeMissing, judgeWake } from "./sim-ledger.ts";
import type { SimNode } from "./sim-node.ts";
import { readyNodes, type SimWorld } from "./sim-world.ts";

const RETRY_MOST_MS = 1500;
/** Without any word of a change the feed is read again after five seconds. */
const FEED_QUIET_MS = 5500;

interface Stream<T> {
  open: (node: SimNode, signal: AbortSignal) => AsyncGenerator<T>;
  take: (item: T, node: SimNode) => Promise<void>;
  until: Promise<unknown>;
}

/**
 * Reads a stream from some node until it ends, the node dies, or the connection is cut; what was in the pipe by then is
 * lost. Returns true when the stream ended by itself.
 */
async function readStream<T>(world: SimWorld, what: string, { open, take, until }: Stream<T>): Promise<boolean> {
  const { time, dice, weather } = world;
  const ready = readyNodes(world);
  if (ready.length === 0) return false;
  const node = dice.pick(ready);
  world.trace(`${node.name} < ${what}`);
  const gone = new AbortController();
  let hangUp = (): void => {};
  const hungUp = new Promise<void>((resolve) => (hangUp = resolve));
  // On a fine day connections last; in foul weather they are cut at any moment.
  const cutAfterMs = weather.clientCut > 0 ? dice.between(1, 4000) : dice.between(4000, 20_000);
  const forget = time.at(time.now() + cutAfterMs, hangUp);
  const cut = Promise.race([node.died, hungUp, until]).then(() => "cut" as const);
  const items = open(node, gone.signal);
  try {
    for (;;) {
      const next = await Promise.race([items.next(), cut]);
      if (next === "cut") return false;
      if (next.done) return true;
      world.figures.streamed += 1;
      await take(next.value, node);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    world.trace(`${node.name} > ${what}: ${error.code}`);
    if (error.kind !== "unavailable") throw error;
    return false;
  } finally {
    forget();
    gone.abort();
  }
}

/** Follows one ask to its end over any number of connections: every version comes once, in order (S1). */
export async function followOne(world: SimWorld, entry: AskEntry): Promise<void> {
  const { time, dice, ledger } = world;
  const { asker } = entry.intent;
  let last: number | undefined;
  let isOpen = true;
  while (isOpen && world.phase !== "rest") {
    const from = last;
    const connectedAt = time.now();
    const take = async ({ question, responses }: QuestionReading, node: SimNode): Promise<void> => {
      ledger.judgeVersion(entry, { question, responses });
      if (last !== undefined && question.version !== last + 1) {
        world.broken("S1", `the stream of ${entry.id} went from version ${last} to ${question.version}`);
      }
      if (last !== undefined) judgeWake(world, entry, { version: question.version, node, since: connectedAt });
      last = question.version;
      entry.seen = Math.max(entry.seen, question.version);
      if (question.state !== "open") isOpen = false;
    };
    try {
      const open = (node: SimNode, signal: AbortSignal) =>
        followQuestion(node.ctx, entry.id, asker, { signal, ...(from !== undefined && { since: from }) });
      await readStream(world, `${asker} follows ${entry.id} from ${from ?? "-"}`, {
        open,
        take,
        until: new Promise(() => {}),
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return judgeMissing(world, entry, error.code);
    }
    if (isOpen) await time.sleep(dice.between(1, RETRY_MOST_MS));
  }
  if (isOpen) world.broken("S1", `the stream of ${entry.id} never told its end`);
}

/** Follows everything of one agent over any number of connections, until the world rests and no event is missing (S1, S4). */
export async function followAll(world: SimWorld, asker: string): Promise<void> {
  const { time, dice, store, ledger } = world;
  const stream = streamOfAsker(asker);
  const row = () =>
    one<{ seq: number; kept_from: number }>(
      store.truth,
      sql`SELECT coalesce(max(seq), 0) AS seq, coalesce(max(kept_from), 1) AS kept_from FROM streams WHERE id = ${stream}`,
    );
  let last = 0;

  const take = async (event: AskerEvent): Promise<void> => {
    if (event.kind === "reset") {
      const { kept_from } = await row();
      if (last >= kept_from - 1) world.broken("S4", `${asker} was reset at ${last}, and ${kept_from} is kept`);
      last = event.seq;
      return;
    }
    const { seq, reading } = event;
    if (seq !== last + 1) await judgeGap(world, asker, last, seq);
    last = seq;
    const entry = ledger.asks.get(reading.question.id);
    if (entry) ledger.judgeVersion(entry, reading);
    if (entry) entry.seen = Math.max(entry.seen, reading.question.version);
  };
  let caughtUp = (): void => {};
  const enough = new Promise<void>((resolve) => (caughtUp = resolve));
  let done = false;
  void enough.then(() => (done = true));
  void watch();
  while (!done) {
    const from = last;
    await readStream(world, `${asker} follows all from ${from}`, {
      open: (node, signal) => followAsker(node.ctx, asker, { since: from, signal }),
      take,
      until: enough,
    });
    if (!done) await time.sleep(dice.between(1, RETRY_MOST_MS));
  }

  async function watch(): Promise<void> {
    while (world.phase !== "rest") await time.sleep(200);
    const restedAt = time.now();
    while ((await row()).seq !== last && time.now() - restedAt < 5000) await time.sleep(50);
    const { seq } = await row();
    if (last !== seq) world.broken("S1", `the stream of ${asker} told ${last} of ${seq} events`);
    caughtUp();
  }
}

/** Numbers may be left out only where the ask itself is gone. */
async function judgeGap(world: SimWorld, asker: string, last: number, seq: number): Promise<void> {
  const stream = streamOfAsker(asker);
  const { kept } = await one<{ kept: number }>(
    world.store.truth,
    sql`SELECT count(*) AS kept FROM events e JOIN questions a ON a.ask_id = e.ask_id
      WHERE e.stream = ${stream} AND e.seq > ${last} AND e.seq < ${seq}`,
  );
  if (seq <= last || kept > 0) world.broken("S1", `the stream of ${asker} went from ${last} to ${seq}`);
}

/** Keeps what the feed says has opened; once the world rests, the feed has reported all of it as gone. */
export async function followFeedPicture(world: SimWorld): Promise<void> {
  const { time, dice } = world;
  const opened = new Set<string>();
  let done = false;
  let restful = (): void => {};
  const enough = new Promise<void>((resolve) => (restful = resolve));
  void watch();
  while (!done) {
    opened.clear();
    const take = async ({ kind, questionId }: FeedChange): Promise<void> => {
      if (kind === "gone") opened.delete(questionId);
      else opened.add(questionId);
    };
    await readStream(world, "somebody follows the feed", {
      open: (node, signal) => node.feed.changes(signal),
      take,
      until: enough,
    });
    if (!done) await time.sleep(dice.between(1, RETRY_MOST_MS));
  }

  async function watch(): Promise<void> {
    while (world.phase !== "rest") await time.sleep(200);
    await time.sleep(FEED_QUIET_MS);
    if (opened.size > 0) world.broken("S6", `a follower of the feed still shows ${[...opened].join(", ")}`);
    done = true;
    restful();
  }
}
