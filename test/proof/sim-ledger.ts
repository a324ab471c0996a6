import type { Question, QuestionForm, Response, Tag } from "../../src/questions/model/question.ts";
import { pollBody } from "../../src/protocols/http/question.ts";
import type { QuestionReading } from "../../src/questions/read.ts";
import type { AnswerReceipt } from "../../src/questions/answer.ts";
import type { SimNode } from "./sim-node.ts";
import type { Person } from "./sim-people.ts";
import type { Read } from "./sim-reads.ts";
import { undisturbed, type SimWorld } from "./sim-world.ts";

/** A question that an agent wants to ask once, however many requests that takes. */
export interface AskIntent {
  asker: string;
  prompt: string;
  form: QuestionForm;
  audience: readonly Tag[];
  need: number;
  timeoutSeconds: number;
  key: string | null;
  bodyHash: string;
  /** The questions that acknowledged requests created. */
  entries: AskEntry[];
  /** Requests without a reply. */
  unknown: number;
  /** Requests whose reply is still to come. */
  underWay: number;
  /** Another question was sent under the same key: should a day have passed, either may have it. */
  rivalled: boolean;
}

/** An ask its agent knows to exist. */
export interface AskEntry {
  id: string;
  intent: AskIntent;
  createdAt: number;
  expiresAt: number;
  /** Some reply reports it as created, not replayed. */
  toldAsNew: boolean;
  /** Acknowledged responses, in the order of their acknowledgements. */
  acked: string[];
  /** The latest version any client has seen. */
  seen: number;
  /** The form of every version on the wire. All readers of a version get the same. */
  versions: Map<number, string>;
  final: Question | null;
  cancelTried: boolean;
}

/** An answer that a person wants to give to one question, once. */
export interface AnswerIntent {
  questionId: string;
  who: string;
  person: Person;
  /** The same person every time: not so for somebody anonymous. */
  known: boolean;
  text: string | null;
  option: number | null;
  confidence: number | null;
  key: string | null;
  response: { id: string; receipt: AnswerReceipt | null; person: string | null } | null;
  /** Every response acknowledged to its giver: more than one only for somebody anonymous. */
  ids: Set<string>;
  sent: number;
  unknown: number;
  /** True until the effect of the unknown requests has been found out. */
  open: boolean;
}

/** A change of an ask, as the store committed it. */
export interface Commit {
  at: number;
  node: SimNode;
  /** When that node woke its own waiters; null if it never got to it. */
  wokenAt: number | null;
}

/** The state when a request began. Its reply must not be older. */
export interface Snapshot {
  at: number;
  storeNow: number;
  seen: number;
  acked: number;
}

/** The replies that clients got, and their consequences. */
export interface Ledger {
  asks: Map<string, AskEntry>;
  intents: AskIntent[];
  answers: AnswerIntent[];
  /** Reads of each agent that were let through. */
  reads: Map<string, Read[]>;
  /** Changes of each ask, the one that made version 2 first. */
  commits: Map<string, Commit[]>;
  /** How often each topic was to be woken by what has committed. */
  topics: Map<string, number>;
  committed(node: SimNode, topics: ReadonlySet<string>): void;
  published(node: SimNode, topics: readonly string[]): void;
  add(intent: AskIntent, ask: Question): AskEntry;
  snapshot(entry: AskEntry): Snapshot;
  /** Judges a reading of the present; `taken` is what was true when it was asked for. */
  judge(entry: AskEntry, reading: QuestionReading, taken: Snapshot, node: SimNode): void;
  /** Judges a reading of any version, past or present. */
  judgeVersion(entry: AskEntry, reading: QuestionReading): void;
}

const DAY_MS = 86_400_000;
/** Reading takes four ways between node and store, and settling what is due as many again. */
const LEGS = 12;

export function openLedger(worldOf: () => SimWorld): Ledger {
  /** Topics of committed transactions that their node has not woken yet. */
  const wakeable = new Map<SimNode, Map<string, number>>();

  const ledger: Ledger = {
    asks: new Map(),
    intents: [],
    answers: [],
    reads: new Map(),
    commits: new Map(),
    topics: new Map(),

    committed(node, topics) {
      const world = worldOf();
      let own = wakeable.get(node);
      if (!own) wakeable.set(node, (own = new Map()));
      for (const topic of topics) {
        own.set(topic, (own.get(topic) ?? 0) + 1);
        ledger.topics.set(topic, (ledger.topics.get(topic) ?? 0) + 1);
        if (!topic.startsWith("question:")) continue;
        const id = topic.slice("question:".length);
        const commits = ledger.commits.get(id) ?? [];
        commits.push({ at: world.time.now(), node, wokenAt: null });
        ledger.commits.set(id, commits);
      }
    },

    published(node, topics) {
      const world = worldOf();
      for (const topic of topics) {
        const count = wakeable.get(node)?.get(topic) ?? 0;
        if (count === 0) world.broken("D5", `${node.name} woke ${topic} although nothing of it had committed`);
        else wakeable.get(node)?.set(topic, count - 1);
        const commit = ledger.commits
          .get(topic.slice("question:".length))
          ?.find((one) => one.node === node && one.wokenAt === null);
        if (topic.startsWith("question:") && commit) commit.wokenAt = world.time.now();
      }
    },

    add(intent, ask) {
      const { broken } = worldOf();
      for (const earlier of intent.entries) {
        // `created_at` is cut to the second; a key stands for 24 hours.
        if (intent.key !== null && Math.abs(ask.createdAt - earlier.createdAt) < DAY_MS - 1000) {
          broken("I1", `key ${intent.key} of ${intent.asker} made ${earlier.id} and ${ask.id}`);
        }
      }
      if (ledger.asks.has(ask.id)) broken("I1", `${ask.id} was created twice`);
      const entry: AskEntry = {
        id: ask.id,
        intent,
        createdAt: ask.createdAt,
        expiresAt: ask.expiresAt,
        toldAsNew: false,
        acked: [],
        seen: ask.version,
        versions: new Map(),
        final: null,
        cancelTried: false,
      };
      if (ask.expiresAt !== ask.createdAt + intent.timeoutSeconds * 1000)
        broken("A5", `${ask.id} has another deadline`);
      intent.entries.push(entry);
      ledger.asks.set(ask.id, entry);
      return entry;
    },

    snapshot: (entry) => {
      const { time, store } = worldOf();
      return { at: time.now(), storeNow: store.now(), seen: entry.seen, acked: entry.acked.length };
    },

    judge(entry, reading, taken, node) {
      const world = worldOf();
      const { question } = reading;
      ledger.judgeVersion(entry, reading);
      if (question.version < taken.seen) {
        world.broken(
          "A14",
          `${entry.id} was read at version ${question.version} after version ${taken.seen} had been seen`,
        );
      }
      const held = new Set(reading.responses.map(({ id }) => id));
      const missing = entry.acked.slice(0, taken.acked).find((id) => !held.has(id));
      if (missing !== undefined) world.broken("A14", `a later reading of ${entry.id} misses response ${missing}`);
      if (question.state === "open" && taken.storeNow >= entry.expiresAt) {
        world.broken("T2", `${entry.id} was shown open ${taken.storeNow - entry.expiresAt} ms past its deadline`);
      }
      entry.seen = Math.max(entry.seen, question.version);

      const missed = ledger.commits.get(entry.id)?.[question.version - 1];
      const late = missed ? world.time.now() - missed.at - LEGS * world.weather.legMs : 0;
      if (late > 0 && undisturbed(node, missed?.at ?? 0)) {
        world.broken(
          "A14",
          `${entry.id} was read without version ${question.version + 1}, which had committed ${late} ms before`,
        );
      }
    },

    judgeVersion(entry, { question: crowdQuestion, responses }) {
      const { broken, store } = worldOf();
      const { intent } = entry;
      const same =
        crowdQuestion.prompt === intent.prompt &&
        crowdQuestion.need === intent.need &&
        crowdQuestion.asker === intent.asker &&
        JSON.stringify([crowdQuestion.form, crowdQuestion.audience]) ===
          JSON.stringify([intent.form, intent.audience]) &&
        crowdQuestion.createdAt === entry.createdAt &&
        crowdQuestion.expiresAt === entry.expiresAt;
      if (!same) broken("A2", `${entry.id} is not what was asked: ${JSON.stringify(crowdQuestion)}`);
      if (responses.length !== crowdQuestion.n || crowdQuestion.n > crowdQuestion.need || !inOrder(responses)) {
        broken(
          "A3",
          `${entry.id} counts ${crowdQuestion.n} of ${crowdQuestion.need} and has ${responses.length} responses`,
        );
      }
      if ((crowdQuestion.state === "answered") !== (crowdQuestion.n === crowdQuestion.need))
        broken("A3", `${entry.id} is ${crowdQuestion.state} at ${crowdQuestion.n} of ${crowdQuestion.need}`);
      if (crowdQuestion.state === "expired" && store.now() < entry.expiresAt) {
        broken("A5", `${entry.id} expired ${entry.expiresAt - store.now()} ms before its deadline`);
      }
      if (crowdQuestion.state === "cancelled" && !entry.cancelTried)
        broken("A1", `${entry.id} is cancelled, and nobody did`);

      const wire = pollBody({ question: crowdQuestion, responses }, { meta: true });
      const before = entry.versions.get(crowdQuestion.version);
      if (before === undefined) entry.versions.set(crowdQuestion.version, wire);
      else if (before !== wire)
        broken("A1", `version ${crowdQuestion.version} of ${entry.id} was ${before} and is ${wire}`);
      if (crowdQuestion.state === "open") return;
      if (entry.final && entry.final.version !== crowdQuestion.version)
        broken("A1", `${entry.id} changed after its end`);
      entry.final ??= crowdQuestion;
    },
  };
  return ledger;
}

function inOrder(responses: readonly Response[]): boolean {
  return responses.every((response, i) => response.ord === i + 1);
}

/**
 * Checks the delay of a client that waited for `version` on `node`, from the moment when the version existed: at once
 * if
 * the same node woke it, within a second by the fallback otherwise.
 */
export function judgeWake(
  world: SimWorld,
  entry: AskEntry,
  { version, node, since }: { version: number; node: SimNode; since: number },
): void {
  const commit = world.ledger.commits.get(entry.id)?.[version - 2];
  if (!commit) return;
  const own = commit.node === node && commit.wokenAt !== null ? commit.wokenAt : null;
  const from = Math.max(own ?? commit.at, since);
  if (!undisturbed(node, from) || !undisturbed(commit.node, commit.at)) return;
  const lateMs = world.time.now() - from;
  const legs = LEGS * world.weather.legMs;
  // A wait that began after the commit reads it at once.
  const mostMs = own !== null || since > commit.at ? legs + 20 : 1000 + legs;
  world.figures.latestWakeMs = Math.max(world.figures.latestWakeMs, lateMs);
  if (lateMs > mostMs) {
    world.broken(
      "T4",
      `${node.name} told of version ${version} of ${entry.id} after ${lateMs} ms instead of ${mostMs}`,
    );
  }
}

/** True when retention may have deleted what was created then: it is counted from the end, which came no earlier. */
export function isOutlived(world: SimWorld, { createdAt }: AskEntry): boolean {
  return world.store.now() - createdAt >= world.rules.retention.closedDays * DAY_MS;
}

/** An ask that was acknowledged is there until retention takes it. */
export function judgeMissing(world: SimWorld, entry: AskEntry, code: string): void {
  if (code !== "rate_limited" && !isOutlived(world, entry))
    world.broken("A15", `${entry.id} was acknowledged, and now: ${code}`);
}
