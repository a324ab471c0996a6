/**
 * The Ask-a-Human endpoint as maps: the reply that each request must get, and the state that it leaves, by the
 * contract.
 * Ids are names such as `{q3}`. The comparison replaces the real ids by these names.
 */
import { type Badge, type Credit, DAY, HOUR, type PointRules } from "./model-points.ts";

/** A reply as far as it is compared. */
export interface Expected {
  status: number;
  body: unknown;
  headers: Readonly<Record<string, string>>;
  /** The id that this reply gives away for the first time. */
  made?: string;
}

export interface Question {
  prompt: string;
  type: string;
  options?: readonly string[];
  audience: readonly string[];
  min_responses: number;
  timeout_seconds: number;
  share_results: boolean;
}

export type Given = Partial<Record<"answer" | "selected_option" | "confidence", unknown>>;

export interface Ask extends Question {
  id: string;
  agent: string;
  createdAt: number;
  expiresAt: number;
  responses: { id: string; at: number; who: Who; tier: string; given: Given }[];
  /** When it was closed or cancelled; expiry follows from the clock. */
  endedAt: number | null;
  isCancelled: boolean;
}

/** A participant: somebody who has once done something. */
export interface Who {
  zone: string;
  zoneAt: number;
  ledger: Credit[];
  badges: Badge[];
  views: Map<string, number>;
  skips: Map<string, number>;
  reports: Set<string>;
}

/** How a person comes to a request: by fingerprint, by the credential they were given, or with nothing at all. */
export interface Caller {
  name: string;
  shows: "fingerprint" | "credential" | "nothing";
  zone?: string;
  asAgent?: string;
}

export interface Rules extends PointRules {
  questionsPerHour: number;
  openQuestions: number;
  answersPerHour: number;
  readsPerHour: number;
  keptMs: number;
}

type Headers = Expected["headers"];

export const wireTime = (at: number): string => new Date(at - (at % 1000)).toISOString().replace(".000Z", "Z");

export function refused(
  status: number,
  { code, message, details }: { code: string; message: string; details?: object | undefined },
  headers: Headers,
): Expected {
  return { status, body: { error: { code, message, ...(details && { details }) } }, headers };
}

/** A whole server, and everybody it knows. */
export class Model {
  now: number;
  readonly asks = new Map<string, Ask>();
  readonly people = new Map<string, Who>();
  readonly keys = new Map<string, { meaning: string; ask: Ask; until: number }>();
  readonly answerKeys = new Map<string, { meaning: string; receipt: object; until: number }>();
  private readonly windows = new Map<string, { openedAt: number; used: number }>();
  readonly rules: Rules;
  private made = 0;

  constructor(now: number, rules: Rules) {
    this.now = now;
    this.rules = rules;
  }

  nextId(prefix: string): string {
    this.made += 1;
    return `{${prefix}${this.made}}`;
  }

  /** True once retention may have taken it. */
  isOutlived(ask: Ask): boolean {
    const end = ask.endedAt ?? ask.expiresAt;
    return this.now - end >= this.rules.keptMs;
  }

  /** Deletes the questions that are past their retention. */
  sweep(): void {
    for (const [id, ask] of this.asks) if (this.isOutlived(ask)) this.asks.delete(id);
  }

  // Limits: fixed windows of an hour, opened by the first request that counts

  peek(bucket: string, limit: number): Headers {
    const held = this.windows.get(bucket);
    const { openedAt, used } = held && this.now < held.openedAt + HOUR ? held : { openedAt: this.now, used: 0 };
    return {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(limit - used),
      "x-ratelimit-reset": String(Math.ceil((openedAt + HOUR) / 1000)),
    };
  }

  /** Refuses when the window is full; counts nothing yet. */
  full(bucket: string, limit: number): Expected | null {
    const held = this.windows.get(bucket);
    if (!held || this.now >= held.openedAt + HOUR || held.used < limit) return null;
    const retryAfter = Math.max(1, Math.ceil((held.openedAt + HOUR - this.now) / 1000));
    const details = { limit, window_seconds: 3600, retry_after: retryAfter };
    const headers = { ...this.peek(bucket, limit), "retry-after": String(retryAfter) };
    return refused(429, { code: "RATE_LIMITED", message: "Too many requests.", details }, headers);
  }

  count(bucket: string, limit: number): Headers {
    const held = this.windows.get(bucket);
    if (held && this.now < held.openedAt + HOUR) held.used += 1;
    else this.windows.set(bucket, { openedAt: this.now, used: 1 });
    return this.peek(bucket, limit);
  }

  /** Returns the headers of every read. The remaining count is not exact. */
  get readHeaders(): Headers {
    return { "x-ratelimit-limit": String(this.rules.readsPerHour) };
  }

  // Questions

  isFinal(ask: Ask): boolean {
    return ask.endedAt !== null || this.now >= ask.expiresAt;
  }

  statusOf(ask: Ask): string {
    if (ask.responses.length === ask.min_responses) return "CLOSED";
    if (this.isFinal(ask)) return "EXPIRED";
    return ask.responses.length > 0 ? "PARTIAL" : "OPEN";
  }

  own(agent: string, id: string): Ask | undefined {
    const ask = this.asks.get(id);
    return ask?.agent === agent ? ask : undefined;
  }

  create(agent: string, sent: { question: Question; key?: string; flaw?: Expected["body"] }): Expected {
    const { questionsPerHour, openQuestions } = this.rules;
    const bucket = `questions ${agent}`;
    const peeked = this.peek(bucket, questionsPerHour);
    if (sent.flaw) return { status: 400, body: { error: sent.flaw }, headers: peeked };

    const meaning = JSON.stringify(sent.question, Object.keys(sent.question).sort());
    const key = `${agent} ${sent.key}`;
    const used = sent.key === undefined ? undefined : this.keys.get(key);
    if (used && this.now < used.until) {
      if (used.meaning !== meaning) return this.mismatch(peeked);
      return this.receipt(200, used.ask, { ...peeked, "idempotency-replayed": "true" });
    }

    const tooMany = this.full(bucket, questionsPerHour);
    if (tooMany) return tooMany;
    const open = [...this.asks.values()].filter((ask) => ask.agent === agent && !this.isFinal(ask));
    if (open.length >= openQuestions) {
      const nextEnd = Math.min(...open.map(({ expiresAt }) => expiresAt));
      const headers = { ...peeked, "retry-after": String(Math.max(1, Math.ceil((nextEnd - this.now) / 1000))) };
      const details = { limit: openQuestions, open: open.length };
      return refused(403, { code: "AGENT_QUOTA_EXCEEDED", message: "Too many open questions.", details }, headers);
    }

    const createdAt = this.now - (this.now % 1000);
    const expiresAt = createdAt + sent.question.timeout_seconds * 1000;
    const state = { responses: [], endedAt: null, isCancelled: false };
    const ask: Ask = { ...sent.question, id: this.nextId("q"), agent, createdAt, expiresAt, ...state };
    this.asks.set(ask.id, ask);
    if (sent.key !== undefined) this.keys.set(key, { meaning, ask, until: this.now + DAY });
    return { ...this.receipt(201, ask, this.count(bucket, questionsPerHour)), made: ask.id };
  }

  mismatch(headers: Headers): Expected {
    const message = "This idempotency key was used with a different request.";
    return refused(409, { code: "IDEMPOTENCY_MISMATCH", message, details: { field: "idempotency_key" } }, headers);
  }

  private receipt(status: number, ask: Ask, headers: Headers): Expected {
    const url = `/agent/questions/${ask.id}`;
    const times = { expires_at: wireTime(ask.expiresAt), created_at: wireTime(ask.createdAt) };
    const body = { question_id: ask.id, status: this.statusOf(ask), poll_url: url, ...times };
    return { status, body, headers: { ...headers, location: url } };
  }

  unknown(id: string, headers: Headers): Expected {
    const message = "The requested question does not exist or has expired.";
    return refused(404, { code: "QUESTION_NOT_FOUND", message, details: { question_id: id } }, headers);
  }

  closed(ask: Ask, headers: Headers): Expected {
    const details = { question_id: ask.id, status: this.statusOf(ask) };
    return refused(
      410,
      { code: "QUESTION_CLOSED", message: "This question no longer accepts answers.", details },
      headers,
    );
  }

  /** The poll body, as it is, or as it was with fewer answers. */
  shown(ask: Ask, { expand = false, answers = ask.responses.length } = {}): Record<string, unknown> {
    const { prompt, type, options, audience, min_responses: need, createdAt, expiresAt } = ask;
    const responses = ask.responses.slice(0, answers);
    const status = answers < ask.responses.length ? (answers === 0 ? "OPEN" : "PARTIAL") : this.statusOf(ask);
    return {
      question_id: ask.id,
      status,
      prompt,
      type,
      ...(options && { options }),
      audience,
      required_responses: need,
      current_responses: responses.length,
      created_at: wireTime(createdAt),
      expires_at: wireTime(expiresAt),
      ...(status === "CLOSED" && { closed_at: wireTime(ask.endedAt ?? 0) }),
      ...(status === "EXPIRED" && { expired_at: wireTime(ask.endedAt ?? expiresAt) }),
      ...(status === "EXPIRED" && ask.isCancelled && { cancelled: true }),
      responses: responses.map(({ id, at, tier, given }) => ({
        ...given,
        ...(expand && { response_id: id, created_at: wireTime(at), tier }),
      })),
      ...tally(ask, responses),
      integrity: { networks: networksOf(responses), participants: answers },
    };
  }

  /** Returns the versions of the question that a stream has shown, one after each change. */
  history(ask: Ask): Record<string, unknown>[] {
    const answers = ask.responses.length;
    const growing = Array.from({ length: answers }, (_, n) => this.shown(ask, { answers: n }));
    if (this.statusOf(ask) !== "EXPIRED") return [...growing, this.shown(ask)];
    const { expired_at: _, cancelled: __, ...open } = this.shown(ask);
    return [...growing, { ...open, status: answers === 0 ? "OPEN" : "PARTIAL" }, this.shown(ask)];
  }

  cancel(agent: string, id: string): Expected {
    const ask = this.own(agent, id);
    if (!ask) return this.unknown(id, {});
    if (!this.isFinal(ask)) Object.assign(ask, { endedAt: this.now, isCancelled: true });
    return { status: 200, body: this.shown(ask), headers: {} };
  }
}

/** Everybody comes from one network here, and its name is under another salt every day. */
function networksOf(responses: Ask["responses"]): number {
  return new Set(responses.map(({ at }) => Math.floor(at / DAY))).size;
}

export function tally({ options }: Ask, responses: Ask["responses"]): { summary?: Record<string, number> } {
  const votes = (i: number) => responses.filter(({ given }) => given.selected_option === i).length;
  return options ? { summary: Object.fromEntries(options.map((option, i) => [option, votes(i)])) } : {};
}
