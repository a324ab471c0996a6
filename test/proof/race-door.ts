import { Agent } from "node:http";
import { exchange, readingFrom, type Reply, type Sent } from "./race-http.ts";
import type { Answer, AskFacts, Base, Cancel, Create, Feed, Log, Operation, Read, Reading, Stats } from "./race-log.ts";

/** The client of an operation, and the server it uses. */
export interface By {
  client: number;
  node: number;
}

export interface Question {
  need: number;
  /** 0 for a text. */
  options: number;
  timeoutSeconds: number;
  /** Varies the prompt: with one key, another body must be refused. */
  variant?: number;
}

/** The operations of the race, each noted in the log. */
export interface Door {
  create(by: By, agent: string, question: Question, key?: string): Promise<Create>;
  answer(by: By, person: string, ask: AskFacts, key?: string): Promise<Answer>;
  poll(by: By, ask: AskFacts): Promise<Read>;
  pollMany(by: By, agent: string, asks: readonly string[]): Promise<Read>;
  wait(by: By, ask: AskFacts, ms: number, after: number): Promise<Read>;
  cancel(by: By, ask: AskFacts): Promise<Cancel>;
  feed(by: By, person: string): Promise<Feed>;
  stats(by: By, person: string): Promise<Stats>;
  /** Sockets are closed. */
  close(): void;
}

type Noted<Kind extends Operation["kind"]> = Extract<Operation, { kind: Kind }>;

const SOCKETS_PER_NODE = 300;

/** Opens the door of all servers; every operation is noted in `log` when its reply is in. */
export function openDoor(urls: readonly string[], log: Log): Door {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_PER_NODE });

  /** Does one operation and notes it, with what `more` takes from the reply. */
  async function note<Kind extends Operation["kind"]>(
    kind: Kind,
    by: By,
    sent: Sent,
    more: (reply: Reply) => Omit<Noted<Kind>, keyof Base | "kind">,
  ): Promise<Noted<Kind>> {
    const url = urls[by.node];
    if (url === undefined) throw new Error(`there is no node ${by.node}`);
    const [start, wallStart] = [performance.now(), Date.now()];
    const reply = await exchange(agent, url, sent).catch((error: unknown): Reply => lost(error));
    const [end, wallEnd] = [performance.now(), Date.now()];
    const error = reply.body["error"] as { code: string; details?: Record<string, unknown> } | undefined;
    const base: Base = {
      ...by,
      start,
      end,
      wallStart,
      wallEnd,
      status: reply.status,
      replayed: reply.headers["idempotency-replayed"] === "true",
      remaining: Number(reply.headers["x-ratelimit-remaining"] ?? NaN),
      reset: Number(reply.headers["x-ratelimit-reset"] ?? NaN),
      ...(error && { code: error.code, details: error.details ?? {} }),
    };
    const noted = { kind, ...base, ...more(reply) } as Noted<Kind>;
    log.operations.push(noted);
    return noted;
  }

  function read(by: By, name: string, query: string, wait?: Read["wait"]): Promise<Read> {
    const sent = { method: "GET", path: `/agent/questions${query}`, headers: asAgent(name) };
    return note("read", by, sent, (reply) => ({ agent: name, readings: readingsOf(reply), ...(wait && { wait }) }));
  }

  return {
    async create(by, name, question, key) {
      const { need, options, timeoutSeconds, variant = 0 } = question;
      const body = {
        prompt: `Which label is clearer, in round ${variant}?`,
        type: options > 0 ? "multiple_choice" : "text",
        ...(options > 0 && { options: Array.from({ length: options }, (_, i) => `label ${i}`) }),
        min_responses: need,
        timeout_seconds: timeoutSeconds,
        ...(key !== undefined && { idempotency_key: key }),
      };
      const sent = { method: "POST", path: "/agent/questions", headers: asAgent(name), body };
      let expiresAt = NaN;
      const made = await note("create", by, sent, (reply) => {
        expiresAt = Date.parse(String(reply.body["expires_at"]));
        return { agent: name, variant, ...keyed(key), ...textIn(reply, "question_id", "ask") };
      });
      if (made.status === 201 && made.ask !== undefined) {
        log.asks.set(made.ask, { id: made.ask, agent: name, need, options, expiresAt, createdBy: made });
      }
      return made;
    },
    answer(by, person, ask, key) {
      const headers = { ...asPerson(person), ...(key !== undefined && { "idempotency-key": key }) };
      // The same words however often it is sent, so that a keyed answer can be sent again.
      const given =
        ask.options > 0 ? { selected_option: person.length % ask.options } : { answer: `The first, says ${person}.` };
      const body = { question_id: ask.id, ...given };
      return note("answer", by, { method: "POST", path: "/human/responses", headers, body }, (reply) => ({
        ask: ask.id,
        person,
        ...keyed(key),
        ...textIn(reply, "response_id", "response"),
        points: numberIn(reply, "points_earned"),
        total: numberIn(reply, "total_points"),
        badges: (reply.body["new_badges"] ?? []) as string[],
        token: String(reply.headers["x-participant-token"] ?? ""),
      }));
    },
    poll: (by, ask) => read(by, ask.agent, `/${ask.id}?expand=meta`),
    pollMany: (by, name, asks) => read(by, name, `?expand=meta&ids=${asks.join(",")}`),
    wait: (by, ask, ms, after) =>
      read(by, ask.agent, `/${ask.id}?expand=meta&wait=${ms}ms&after=${after}`, { ms, after }),
    cancel(by, ask) {
      const sent = { method: "DELETE", path: `/agent/questions/${ask.id}`, headers: asAgent(ask.agent) };
      return note("cancel", by, sent, (reply) => ({ agent: ask.agent, ask: ask.id, readings: readingsOf(reply) }));
    },
    feed(by, person) {
      const sent = { method: "GET", path: "/human/questions?limit=50", headers: asPerson(person) };
      return note("feed", by, sent, ({ body }) => ({
        person,
        asks: ((body["questions"] ?? []) as { question_id: string }[]).map((question) => question.question_id),
      }));
    },
    stats(by, person) {
      const sent = { method: "GET", path: "/human/stats", headers: asPerson(person) };
      return note("stats", by, sent, (reply) => ({
        person,
        answers: numberIn(reply, "total_answers"),
        points: numberIn(reply, "total_points"),
      }));
    },
    close: () => agent.destroy(),
  };
}

const asAgent = (name: string) => ({ "x-agent-id": name });
const asPerson = (name: string) => ({ "x-fingerprint": name });
const keyed = (key: string | undefined) => (key === undefined ? {} : { key });
const numberIn = ({ body }: Reply, name: string): number => (typeof body[name] === "number" ? body[name] : NaN);

function textIn<Name extends string>({ body }: Reply, field: string, name: Name): Partial<Record<Name, string>> {
  const value = body[field];
  return (typeof value === "string" ? { [name]: value } : {}) as Partial<Record<Name, string>>;
}

function readingsOf({ status, body }: Reply): Reading[] {
  if (status !== 200) return [];
  const list = body["questions"] as Record<string, unknown>[] | undefined;
  return (list ?? [body]).map(readingFrom);
}

function lost(error: unknown): Reply {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return { status: 0, headers: {}, body: { error: { code } } };
}
