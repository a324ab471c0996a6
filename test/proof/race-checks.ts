import { groupBy, ofKind, type Answer, type AskFacts, type Log, type Operation, type Reading } from "./race-log.ts";
import { CLOCK_GRAIN_MS, storeTime } from "./race-nodes.ts";

/** The statuses that each kind of operation may get. Any other status, or no reply, breaks a promise. */
const EXPECTED: Readonly<Record<Operation["kind"], readonly number[]>> = {
  create: [200, 201, 403, 409, 429],
  answer: [200, 201, 409, 410, 429],
  read: [200],
  cancel: [200],
  feed: [200],
  stats: [200],
};

/** One reading with the operation that brought it. */
export interface Seen {
  by: Operation;
  reading: Reading;
}

/** Every reply about one ask. */
export interface Story {
  facts: AskFacts;
  answers: readonly Answer[];
  /** Acknowledged answers, each once, in the order of the last reading. */
  accepted: readonly Answer[];
  seen: readonly Seen[];
  /** The reading taken when everything had come to rest. */
  last: Reading;
}

/** Every operation got a reply of an expected kind. */
export function checkReplies(log: Log): string[] {
  return log.operations
    .filter((one) => !EXPECTED[one.kind].includes(one.status))
    .map((one) => `${describe(one)} was answered ${one.status || "nothing"} ${one.code ?? ""}`);
}

/** Returns the stories of all asks, and what makes no story at all. Call it once everything is at rest and read again. */
export function tellStories(log: Log): { stories: Story[]; problems: string[] } {
  const problems: string[] = [];
  const answers = groupBy(ofKind(log, "answer"), (one) => one.ask);
  const seen = groupBy(
    log.operations.flatMap((by): Seen[] =>
      by.kind === "read" || by.kind === "cancel" ? by.readings.map((reading) => ({ by, reading })) : [],
    ),
    ({ reading }) => reading.ask,
  );
  const stories: Story[] = [];
  for (const facts of log.asks.values()) {
    const told = answers.get(facts.id) ?? [];
    const views = seen.get(facts.id) ?? [];
    const last = views.reduce<Seen | undefined>(
      (late, one) => (!late || one.by.start > late.by.start ? one : late),
      undefined,
    );
    if (!last?.reading.responses) {
      problems.push(`${facts.id} was never read at rest`);
      continue;
    }
    const byResponse = new Map(told.filter(({ status }) => status === 201).map((one) => [one.response, one]));
    const accepted = last.reading.responses.flatMap(({ id }) => byResponse.get(id) ?? []);
    if (accepted.length !== last.reading.responses.length || accepted.length !== byResponse.size) {
      problems.push(
        `${facts.id} has ${last.reading.responses.length} answers, of ${byResponse.size} acknowledged ${accepted.length} among them`,
      );
      continue;
    }
    stories.push({ facts, answers: told, accepted, seen: views, last: last.reading });
  }
  return { stories, problems };
}

/** A1-A5: exact counts, one end, in time, one answer a person, and every refusal was right. */
export function checkStory({ facts, answers, accepted, seen, last }: Story): string[] {
  const problems: string[] = [];
  const say = (text: string) => problems.push(`${facts.id}: ${text}`);
  const { n, status } = last;

  if (n !== accepted.length || last.shown !== n) say(`counts ${n}, shows ${last.shown}, has ${accepted.length}`);
  if (n > facts.need) say(`has ${n} answers and needs ${facts.need}`);
  if (status === "OPEN" || status === "PARTIAL") say(`is ${status} long after its deadline`);
  if ((status === "CLOSED") !== (n === facts.need)) say(`is ${status} with ${n} of ${facts.need} answers`);
  if (last.votes !== undefined && last.votes !== n) say(`has ${last.votes} votes and ${n} answers`);
  for (const one of last.responses ?? []) {
    if (one.at >= facts.expiresAt) say(`response ${one.id} was given after the deadline`);
  }
  const people = new Set(accepted.map(({ person }) => person));
  if (people.size !== n) say(`took ${n} answers of ${people.size} people`);

  const ends = new Set(
    seen.filter(isSettled).map(({ reading }) => `${reading.status} ${reading.settledAt} ${reading.cancelled}`),
  );
  if (ends.size > 1) say(`ended more than once: ${[...ends].join(" and ")}`);

  const first = new Map(accepted.map((one) => [one.person, one]));
  const starts = accepted.map((one) => one.start).sort((one, other) => one - other);
  const filledAt = n === facts.need ? (starts.at(-1) ?? 0) : Infinity;
  for (const one of answers) {
    const own = first.get(one.person);
    if (one.status === 201 && storeTime(one.wallStart - CLOCK_GRAIN_MS) >= facts.expiresAt) {
      say(`${describe(one)} was accepted though sent after the deadline`);
    }
    if ((one.status === 409 && one.code === "ALREADY_ANSWERED") || one.status === 200) {
      const named = one.status === 200 ? one.response : one.details?.["response_id"];
      if (!own || own.start > one.end || own.response !== named) {
        say(`${describe(one)} was told of ${String(named)}, that person's answer is ${own?.response ?? "none"}`);
      }
    }
    if (one.status === 200 && (one.total !== own?.total || one.badges.join() !== own.badges.join())) {
      say(`${describe(one)} was replayed with another reply`);
    }
    if (one.status !== 410) continue;
    if (one.details?.["status"] !== status) say(`${describe(one)} was told ${String(one.details?.["status"])}`);
    if (status === "CLOSED" && one.end < filledAt) say(`${describe(one)} was told CLOSED before it was full`);
    const isDue = storeTime(one.wallEnd + CLOCK_GRAIN_MS) >= facts.expiresAt;
    if (status === "EXPIRED" && !last.cancelled && !isDue) say(`${describe(one)} was told EXPIRED before the deadline`);
  }
  return problems;
}

/**
 * A14: whatever node is asked, a read that starts after an acknowledged answer or an earlier read had ended contains
 * it; nothing is shown that nobody has sent; the first answers stay the first; past the deadline nothing is open.
 */
export function checkReads({ facts, accepted, seen, last }: Story): string[] {
  const problems: string[] = [];
  const place = new Map(last.responses?.map(({ id }, i) => [id, i + 1]));
  // The minimum that readings must contain, and from when on: accepted answers and earlier readings.
  const known = [
    ...accepted.map((one) => ({
      from: one.end,
      n: place.get(one.response ?? "") ?? 0,
      isFinal: false,
      by: one as Operation,
    })),
    ...seen.map((one) => ({ from: one.by.end, n: one.reading.n, isFinal: isSettled(one), by: one.by })),
  ].sort((one, other) => one.from - other.from);
  let next = 0;
  let least = { n: 0, by: facts.createdBy as Operation };
  let settledBy: Operation | null = null;

  for (const { by, reading } of seen.toSorted((one, other) => one.by.start - other.by.start)) {
    for (; next < known.length && (known[next]?.from ?? Infinity) < by.start; next += 1) {
      const one = known[next];
      if (!one) break;
      if (one.n > least.n) least = { n: one.n, by: one.by };
      if (one.isFinal) settledBy ??= one.by;
    }
    const say = (text: string) => problems.push(`${facts.id}: ${describe(by)} ${text}`);
    if (reading.n < least.n)
      say(`showed ${reading.n} answers after ${describe(least.by)} had made or shown ${least.n}`);
    if (settledBy && !isSettled({ by, reading }))
      say(`showed ${reading.status} after ${describe(settledBy)} had shown its end`);
    if (reading.shown !== reading.n) say(`listed ${reading.shown} answers and counted ${reading.n}`);
    if (reading.votes !== undefined && reading.votes !== reading.n) say(`tallied ${reading.votes} of ${reading.n}`);
    if (accepted.slice(0, reading.n).some((one) => one.start > by.end)) say(`showed an answer before it was sent`);
    if (reading.responses?.some(({ id }, i) => place.get(id) !== i + 1))
      say(`listed other first answers than the last read`);
    if (storeTime(by.wallStart - CLOCK_GRAIN_MS) >= facts.expiresAt && !isSettled({ by, reading })) {
      say(`showed ${reading.status} after the deadline`);
    }
  }
  return problems;
}

/** The answers stand in an order that could have been: none before one that was acknowledged before it was sent. */
export function checkOrder({ facts, accepted }: Story): string[] {
  const problems: string[] = [];
  let latest: Answer | undefined;
  for (const one of accepted) {
    if (latest && one.end < latest.start)
      problems.push(`${facts.id}: ${describe(one)} stands after ${describe(latest)}`);
    if (!latest || one.start > latest.start) latest = one;
  }
  return problems;
}

export function isSettled({ reading: { status } }: Seen): boolean {
  return status === "CLOSED" || status === "EXPIRED";
}

/** Names an operation in a sentence. */
export function describe(one: Operation): string {
  return `${deedOf(one)} at node ${one.node} (${one.start.toFixed(1)}-${one.end.toFixed(1)} ms)`;
}

function deedOf(one: Operation): string {
  switch (one.kind) {
    case "create":
      return `the creation by ${one.agent}${one.key === undefined ? "" : " under a key"}`;
    case "answer":
      return `the answer of ${one.person} to ${one.ask}`;
    case "read":
      return one.wait ? `a wait of ${one.wait.ms} ms` : "a poll";
    case "cancel":
      return `a cancel of ${one.ask}`;
    case "feed":
      return `the feed of ${one.person}`;
    case "stats":
      return `the figures of ${one.person}`;
  }
}
