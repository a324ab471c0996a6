import type { Clock } from "../../../lib/clock.ts";
import { yieldToEventLoop } from "../../../lib/event-loop.ts";
import { Refusal } from "../../../refusals.ts";
import type { CommitResult, Tx } from "../db.ts";
import { MOST_WAITING } from "../row-queues.ts";
import type { Sql } from "../sql.ts";
import { isAway, sqlStateOf, translate } from "./errors.ts";
import { type Session, SkippedStatement } from "./session.ts";
import type { StatementResult } from "./statement-batch.ts";
import { BEGIN, beginOn, commit, type Lent, openTx, rolledBack } from "./transaction.ts";

/** One commit carries at most this many transactions. */
const GROUP_SIZE = 128;
/** So many of a group may name the same row: they run one after another. */
const TURNS_AT_A_ROW = 8;
/** For so long, in ms, no commit is shared after the database was away. */
const PAUSE_MS = 1000;
const LOCK_NOT_HAD = "55P03";

/** Transactions that share commits. */
export interface GroupCommits {
  /**
   * Runs `work` in a transaction that others may share. `rows` names every row that it reads and then writes by what it
   * has read: those of a group that name the same row run one after another.
   *
   * A group is a bet that all goes well. A member that fails after it has written takes the group back: it runs again
   * alone, and the others run again in another group. A refusal of a member that has written nothing stands.
   *
   * @throws {Refusal} `store_unavailable` also when `MOST_WAITING` wait for the first of the rows
   */
  run<T>(work: (tx: Tx) => Promise<T>, rows: readonly string[]): Promise<CommitResult<T>>;
}

export interface GroupOptions {
  clock: Clock;
  /** Lends a connection for a group, whose statements wait for nobody's lock for long; its time counts from `sinceMs`. */
  lend<T>(use: (lent: Lent) => Promise<T>, sinceMs: number): Promise<T>;
  /** Runs a transaction that shares its commit with no other; its time counts from `sinceMs` (`monotonic` of the clock). */
  alone<T>(work: (tx: Tx) => Promise<T>, rows: readonly string[], sinceMs: number): Promise<CommitResult<T>>;
}

interface Member {
  work: (tx: Tx) => Promise<unknown>;
  rows: readonly string[];
  cameMs: number;
  /** It was in a group that another took back. */
  wasInGroup: boolean;
  resolve: (result: CommitResult<unknown>) => void;
  reject: (error: unknown) => void;
}

/** The end of a member in its group: it is told, or it runs again, by itself or in another group. */
type Outcome = (() => void) | "alone" | "again";

/** Opens the group commits of one server. One group is under way at a time, and those who come meanwhile are the next. */
export function openGroupCommits({ clock, lend, alone }: GroupOptions): GroupCommits {
  const waiting: Member[] = [];
  /** The rows of the group that is under way, and of members that run alone. */
  const takenRows = new Set<string>();
  let isUnderWay = false;
  let pausedUntilMs = -Infinity;
  /** When the last group got done: the time that members wait for others counts only while none does. */
  let progressMs = -Infinity;

  async function runGroups(): Promise<void> {
    isUnderWay = true;
    await yieldToEventLoop();
    for (let group = takeGroup(waiting, takenRows); group.length > 0; group = takeGroup(waiting, takenRows)) {
      await runTogether(group);
    }
    isUnderWay = false;
  }

  async function runTogether(group: readonly Member[]): Promise<void> {
    const sinceMs = Math.max(progressMs, Math.min(...group.map(({ cameMs }) => cameMs)));
    try {
      const outcomes = await lend((lent) => runGroup(lent, group), sinceMs);
      progressMs = clock.monotonic();
      group.forEach((member, i) => settle(member, outcomes[i] ?? "alone"));
    } catch (error) {
      const isUnknown = error instanceof CommitUnknown;
      for (const member of group) settle(member, isUnknown ? () => member.reject(error.cause) : "alone");
      if (isUnknown) return;
      pausedUntilMs = clock.monotonic() + PAUSE_MS;
      for (const member of waiting.splice(0)) void runAlone(member);
    }
  }

  function settle(member: Member, outcome: Outcome): void {
    if (outcome === "alone" || (outcome === "again" && member.wasInGroup)) return void runAlone(member);
    if (outcome === "again") waiting.unshift({ ...member, wasInGroup: true });
    else outcome();
    release(member);
  }

  async function runAlone(member: Member): Promise<void> {
    try {
      member.resolve(await alone(member.work, member.rows, Math.max(progressMs, member.cameMs)));
    } catch (error) {
      member.reject(error);
    } finally {
      release(member);
    }
  }

  function release({ rows }: Member): void {
    for (const row of rows) takenRows.delete(row);
    if (waiting.length > 0 && !isUnderWay) void runGroups();
  }

  return {
    run: <T>(work: (tx: Tx) => Promise<T>, rows: readonly string[]) => {
      const cameMs = clock.monotonic();
      if (cameMs < pausedUntilMs) return alone(work, rows, cameMs);
      if (isFull(waiting, rows)) return Promise.reject(new Refusal("store_unavailable"));
      return new Promise<CommitResult<T>>((resolve, reject) => {
        waiting.push({ work, rows, cameMs, wasInGroup: false, resolve: resolve as Member["resolve"], reject });
        if (!isUnderWay) void runGroups();
      });
    },
  };
}

/** Whether as many wait for the first of these rows as may. */
function isFull(waiting: readonly Member[], [row]: readonly string[]): boolean {
  if (waiting.length < MOST_WAITING || row === undefined) return false;
  return waiting.filter(({ rows }) => rows[0] === row).length >= MOST_WAITING;
}

/** Takes those that may run together out of `waiting`, in the order in which they came, and marks their rows as taken. */
function takeGroup(waiting: Member[], takenRows: Set<string>): Member[] {
  const group: Member[] = [];
  const turns = new Map<string, number>();
  const left = waiting.splice(0).filter((member) => {
    const isFree = member.rows.every((row) => !takenRows.has(row) && (turns.get(row) ?? 0) < TURNS_AT_A_ROW);
    if (group.length >= GROUP_SIZE || !isFree) return true;
    for (const row of member.rows) turns.set(row, (turns.get(row) ?? 0) + 1);
    group.push(member);
    return false;
  });
  waiting.push(...left);
  for (const row of turns.keys()) takenRows.add(row);
  return group;
}

/** The connection broke while the commit was under way, so that nobody knows whether it holds; `cause` is how. */
class CommitUnknown extends Error {}

/** A member of a group wants to run by itself. */
class WantsAlone extends Error {}

/** How the work of a member ended, before the commit. */
type End = { kind: "done"; tell: () => void } | { kind: "leaves" } | { kind: "failed"; isOwn: boolean };

/**
 * Runs the members of a group side by side, so that their statements leave together, and commits what they did.
 *
 * @throws {CommitUnknown}
 * @throws the database's or the wire's error that no member has caused; nothing was done
 */
async function runGroup(lent: Lent, group: readonly Member[]): Promise<readonly Outcome[]> {
  const session = await beginOn(lent, BEGIN);
  const ends = await whileConnected(lent, runMembers(session, group));
  const failure = session.failure();
  if (!failure) {
    await commitGroup(lent, session);
    return ends.map((end) => (end.kind === "done" ? end.tell : "alone"));
  }
  await rolledBack(lent, session, failure.error);
  if (isAway(failure.error) && sqlStateOf(failure.error) !== LOCK_NOT_HAD) throw failure.error;
  return ends.map((end) => (end.kind === "leaves" || (end.kind === "failed" && end.isOwn) ? "alone" : "again"));
}

/** Waits for members no longer than the connection lasts: the database ends one on which a member asks for nothing. */
async function whileConnected<T>({ client }: Lent, running: Promise<T>): Promise<T> {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  client.once("error", reject);
  try {
    return await Promise.race([running, broken]);
  } finally {
    client.off("error", reject);
  }
}

/** Runs the members at once, but for those that name the same row: they go one after another. */
function runMembers(session: Session, group: readonly Member[]): Promise<End[]> {
  const last = new Map<string, Promise<End>>();
  return Promise.all(
    group.map((member) => {
      const before = member.rows.flatMap((row) => last.get(row) ?? []);
      const run = () => runMember(session, member);
      const end = before.length === 0 ? run() : Promise.all(before).then(run);
      for (const row of member.rows) last.set(row, end);
      return end;
    }),
  );
}

async function runMember(session: Session, { work, resolve, reject }: Member): Promise<End> {
  let hasWritten = false;
  const runAlone = () => {
    throw new WantsAlone();
  };
  const { tx, topics, facts, end } = openTx(async (statement) => {
    const result = await session.run(statement);
    hasWritten ||= isChange(statement, result);
    return result.rows;
  }, runAlone);
  try {
    const value = await work(tx);
    await end();
    return { kind: "done", tell: () => resolve({ value, topics, facts }) };
  } catch (error) {
    await end();
    if (error instanceof SkippedStatement) return { kind: "failed", isOwn: false };
    if (hasWritten) session.fail(error);
    if (session.failure()?.error === error) return { kind: "failed", isOwn: true };
    // It has changed nothing, so nothing of it is committed with the others.
    return error instanceof Refusal ? { kind: "done", tell: () => reject(error) } : { kind: "leaves" };
  }
}

/** Whether a statement has changed a row. */
function isChange({ text }: Sql, { done }: StatementResult): boolean {
  return !/^\s*SELECT\b/.test(text) && !done.endsWith(" 0");
}

async function commitGroup(lent: Lent, session: Session): Promise<void> {
  try {
    await commit(session);
  } catch (error) {
    if (!isAway(error)) throw await rolledBack(lent, session, error);
    lent.drop();
    throw new CommitUnknown("the commit was not answered", { cause: translate(error) });
  }
}
