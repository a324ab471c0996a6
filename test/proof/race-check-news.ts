import { describe, isSettled, type Story } from "./race-checks.ts";
import { groupBy, ofKind, type Answer, type Log, type Operation, type Stream } from "./race-log.ts";

/** T4: no wait says "nothing" of an answer that was acknowledged before its time was over. */
export function checkWaits({ facts, accepted, seen }: Story): string[] {
  return seen.flatMap(({ by, reading }) => {
    if (by.kind !== "read" || !by.wait || isSettled({ by, reading }) || reading.n > by.wait.after) return [];
    const until = by.start + by.wait.ms;
    const missed = accepted[by.wait.after];
    if (missed && missed.end < until) {
      return [`${facts.id}: ${describe(by)} ended with nothing new after ${describe(missed)}`];
    }
    return by.end < until - 1 ? [`${facts.id}: ${describe(by)} ended early with nothing new`] : [];
  });
}

/** How waits ended, in ms: how long after the answer they waited for, and how long after their own time. */
export function waitLateness(stories: readonly Story[]): { afterAnswer: number[]; afterTime: number } {
  const afterAnswer: number[] = [];
  let afterTime = 0;
  for (const { accepted, seen } of stories) {
    for (const { by, reading } of seen) {
      if (by.kind !== "read" || !by.wait) continue;
      afterTime = Math.max(afterTime, by.end - by.start - by.wait.ms);
      const answer = reading.n > by.wait.after ? accepted[by.wait.after] : undefined;
      // Only where the answer came while somebody was waiting already.
      if (answer && answer.start > by.start) afterAnswer.push(Math.max(0, by.end - answer.end));
    }
  }
  return { afterAnswer, afterTime };
}

/** A feed that starts after somebody's answer, or after an end was seen, no longer offers that question. */
export function checkFeeds(log: Log, stories: readonly Story[]): string[] {
  const problems: string[] = [];
  const byAsk = new Map(stories.map((story) => [story.facts.id, story]));
  const endSeen = new Map(stories.map((story) => [story.facts.id, endSeenAt(story)]));
  for (const feed of ofKind(log, "feed")) {
    for (const id of feed.asks) {
      const own = byAsk.get(id)?.accepted.find(({ person }) => person === feed.person);
      if (own && own.end < feed.start) problems.push(`${describe(feed)} offers ${id} after ${describe(own)}`);
      if ((endSeen.get(id) ?? Infinity) < feed.start) problems.push(`${describe(feed)} offers ${id} after its end`);
    }
  }
  return problems;
}

function endSeenAt({ answers, seen }: Story): number {
  const ends = [
    ...seen.filter(isSettled).map(({ by }) => by.end),
    ...answers.filter(({ status }) => status === 410).map(({ end }) => end),
  ];
  return Math.min(Infinity, ...ends);
}

/** How many events an agent's stream has once everything is at rest. */
export function eventsOf(stories: readonly Story[]): number {
  return stories.reduce((sum, { last }) => sum + 1 + last.n + (last.status === "EXPIRED" ? 1 : 0), 0);
}

/**
 * S1, S2: however often it was cut and wherever it was resumed, a reader got every event once, in order; the order is
 * one in which the operations can have committed; each ask changes by one step at a time.
 */
export function checkStreams(log: Log, stories: readonly Story[]): string[] {
  const owned = groupBy(stories, ({ facts }) => facts.agent);
  return log.streams.flatMap((stream) => {
    const own = owned.get(stream.agent) ?? [];
    return [...stream.problems, ...numberProblems(stream, eventsOf(own)), ...stepProblems(stream, own)].map(
      (problem) => `stream of ${stream.agent}: ${problem}`,
    );
  });
}

function numberProblems({ events }: Stream, total: number): string[] {
  const wrong = events.findIndex(({ seq, reading }, i) => reading === null || seq !== i + 1);
  const one = events[wrong];
  if (one) {
    const what = one.reading === null ? "a reset" : `number ${one.seq}`;
    return [`after number ${events[wrong - 1]?.seq ?? 0} came ${what} from node ${one.node}`];
  }
  return events.length === total ? [] : [`${events.length} of ${total} events came`];
}

function stepProblems({ events }: Stream, own: readonly Story[]): string[] {
  const problems: string[] = [];
  const byAsk = new Map(own.map((story) => [story.facts.id, story]));
  const counts = new Map<string, number>();
  let latest: Operation | undefined;
  for (const { seq, reading } of events) {
    const story = reading && byAsk.get(reading.ask);
    if (!reading || !story) continue;
    const before = counts.get(reading.ask);
    const isEnd = reading.status === "EXPIRED";
    const right = before === undefined ? 0 : isEnd ? before : before + 1;
    if (reading.n !== right || reading.shown !== right) problems.push(`number ${seq} shows ${reading.n}, not ${right}`);
    if (reading.votes !== undefined && reading.votes !== right) problems.push(`number ${seq} tallies ${reading.votes}`);
    counts.set(reading.ask, reading.n);

    const cause: Operation | Answer | undefined =
      before === undefined ? story.facts.createdBy : isEnd ? undefined : story.accepted[reading.n - 1];
    if (!cause) continue;
    if (latest && cause.end < latest.start) {
      problems.push(`number ${seq}, ${describe(cause)}, stands after ${describe(latest)}`);
    }
    if (!latest || cause.start > latest.start) latest = cause;
  }
  return problems;
}
