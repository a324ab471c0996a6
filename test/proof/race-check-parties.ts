import { describe, type Story } from "./race-checks.ts";
import { groupBy, ofKind, type Answer, type Create, type Log } from "./race-log.ts";
import { ANSWERS_PER_HOUR, CLOCK_GRAIN_MS, OPEN_QUESTIONS, QUESTIONS_PER_HOUR, wallTime } from "./race-nodes.ts";

const BASE_POINTS = { text: 10, choice: 5 } as const;
/** Badges by how many answers they take. */
const BADGES: ReadonlyMap<string, number> = new Map([
  ["first_answer", 1],
  ["answers_10", 10],
]);

/** I1, I2, I5: one key makes one object for every client that sends it; another body is refused. */
export function checkKeys(log: Log): string[] {
  const problems: string[] = [];
  const keyed = ofKind(log, "create").filter(({ key }) => key !== undefined);
  for (const [name, uses] of groupBy(keyed, ({ agent, key }) => `${agent} ${key}`)) {
    const made = uses.filter(({ status }) => status === 201);
    const [first, ...others] = made;
    if (others.length > 0) problems.push(`key "${name}" made ${made.map(({ ask }) => ask).join(" and ")}`);
    for (const use of uses) {
      if (!first || use === first || use.status === 201) continue;
      const isSame = use.variant === first.variant;
      if (use.status !== (isSame ? 200 : 409)) problems.push(`${describe(use)} was answered ${use.status}`);
      if (use.status === 200 && (use.ask !== first.ask || !use.replayed)) {
        problems.push(`${describe(use)} was given ${use.ask}, the key stands for ${first.ask}`);
      }
      if (first.start > use.end) problems.push(`${describe(use)} was replayed before anything was made`);
    }
    if (!first) problems.push(`key "${name}" made nothing in ${uses.length} tries`);
  }
  return problems;
}

/** I5: how long a replay took beyond the making of what it shows, in ms. */
export function longestReplayMs(log: Log): number {
  const first = new Map(ofKind(log, "create").map((one) => [one.status === 201 ? one.ask : "", one]));
  const waits = ofKind(log, "create").flatMap((use) => {
    const made = use.status === 200 ? first.get(use.ask) : undefined;
    return made ? [use.end - Math.max(use.start, made.end)] : [];
  });
  return Math.max(0, ...waits);
}

/** A4, A13: one credential a person; points that add up, answer by answer; each badge in exactly one reply. */
export function checkPeople(log: Log, stories: readonly Story[]): string[] {
  const problems: string[] = [];
  const textAsks = new Set(stories.filter(({ facts }) => facts.options === 0).map(({ facts }) => facts.id));
  const answers = groupBy(ofKind(log, "answer"), (one) => one.person);
  for (const [person, told] of answers) {
    const tokens = new Set(told.map(({ token }) => token).filter((token) => token !== ""));
    if (tokens.size > 1) problems.push(`${person} became ${tokens.size} participants`);

    const accepted = told.filter(({ status }) => status === 201).sort((one, other) => one.total - other.total);
    let total = 0;
    for (const one of accepted) {
      const base = textAsks.has(one.ask) ? BASE_POINTS.text : BASE_POINTS.choice;
      total += one.points;
      if (one.points !== base || one.total !== total) {
        problems.push(`${describe(one)} earned ${one.points}, to make ${one.total}; the ledger makes it ${total}`);
        break;
      }
    }
    for (const [badge, needed] of BADGES) {
      const gave = accepted.flatMap((one, i) => (one.badges.includes(badge) ? [i + 1] : []));
      const right = accepted.length >= needed ? [needed] : [];
      if (gave.join() !== right.join()) {
        problems.push(`${person} got ${badge} with answers ${gave.join(", ") || "none"} of ${accepted.length}`);
      }
    }
  }
  for (const one of ofKind(log, "stats")) {
    const own = (answers.get(one.person) ?? []).filter(({ status }) => status === 201);
    const least = own.filter(({ end }) => end < one.start).length;
    const most = own.filter(({ start }) => start < one.end).length;
    if (one.answers < least || one.answers > most) {
      problems.push(`${describe(one)} counted ${one.answers} answers; ${least} to ${most} had been given`);
    }
  }
  return problems;
}

/** T5: in each window every unit is given once, what is left only falls, and nobody is refused while some is. */
export function checkWindows(log: Log): string[] {
  return [
    ...windowProblems(ofKind(log, "create"), ({ agent }) => agent, QUESTIONS_PER_HOUR),
    ...windowProblems(ofKind(log, "answer"), ({ person }) => person, ANSWERS_PER_HOUR),
  ];
}

function windowProblems<One extends Create | Answer>(
  operations: readonly One[],
  subjectOf: (one: One) => string,
  limit: number,
): string[] {
  const problems: string[] = [];
  const counting = operations.filter(({ status }) => status === 201 || status === 429);
  for (const [name, uses] of groupBy(counting, (one) => `${subjectOf(one)}, window ${one.reset}`)) {
    const counted = uses.filter(({ status }) => status === 201).sort((one, other) => other.remaining - one.remaining);
    const told = counted.map(({ remaining }) => remaining);
    const right = counted.map((_, i) => limit - 1 - i);
    if (told.join() !== right.join()) problems.push(`${name}: was told of ${told.join(",")} left, of ${limit}`);
    // An operation with less left must not end before one with more left begins.
    let earliestEnd = Infinity;
    for (const one of counted.toReversed()) {
      if (one.start > earliestEnd) problems.push(`${name}: ${describe(one)} was told of more left than one before it`);
      earliestEnd = Math.min(earliestEnd, one.end);
    }
    for (const one of uses) {
      if (one.status !== 429) continue;
      const before = counted.filter(({ start }) => start < one.end).length;
      if (before < limit) problems.push(`${name}: ${describe(one)} was refused with ${before} of ${limit} used`);
    }
  }
  return problems;
}

/** The quota: never more open at once than allowed, and nobody refused while there was room. */
export function checkQuota(log: Log, stories: readonly Story[]): string[] {
  const problems: string[] = [];
  const owned = groupBy(stories, ({ facts }) => facts.agent);
  for (const [agent, tries] of groupBy(ofKind(log, "create"), (one) => one.agent)) {
    const lives = (owned.get(agent) ?? []).map(lifeOf);
    for (const one of tries) {
      if (one.status === 201 && one.ask !== undefined) {
        const surely = lives.filter((life) => life.surelyFrom <= one.start && life.surelyUntil >= one.end).length;
        if (surely + 1 > OPEN_QUESTIONS) problems.push(`${describe(one)} made question ${surely + 1} that was open`);
      }
      if (one.code === "AGENT_QUOTA_EXCEEDED") {
        const maybe = lives.filter((life) => life.maybeFrom <= one.end && life.maybeUntil >= one.start).length;
        if (maybe < OPEN_QUESTIONS) problems.push(`${describe(one)} was refused with at most ${maybe} open`);
      }
    }
  }
  return problems;
}

interface Life {
  surelyFrom: number;
  surelyUntil: number;
  maybeFrom: number;
  maybeUntil: number;
}

/** Returns when an ask was open: surely, and at the most. */
function lifeOf({ facts, accepted, answers, seen, last }: Story): Life {
  const made = facts.createdBy;
  const sawEnd = [
    ...seen.filter(({ reading }) => reading.status === "CLOSED" || reading.status === "EXPIRED").map(({ by }) => by),
    ...answers.filter(({ status }) => status === 410),
  ];
  const filled = last.status === "CLOSED" ? Math.max(...accepted.map(({ start }) => start)) : Infinity;
  const cancels = seen.filter(({ by }) => by.kind === "cancel").map(({ by }) => by.start);
  const due = made.start + wallTime(facts.expiresAt) - made.wallStart;
  return {
    surelyFrom: made.end,
    surelyUntil: Math.min(filled, due - CLOCK_GRAIN_MS, ...(last.cancelled ? cancels : [])),
    maybeFrom: made.start,
    maybeUntil: Math.min(due + CLOCK_GRAIN_MS, ...sawEnd.map(({ end }) => end)),
  };
}
