import type { AnswerReceipt, Question, QuestionReceipt } from "../../sdk/src/wire.ts";
import { isFinal } from "../../sdk/src/wire.ts";
import { readEvents } from "../../sdk/src/sse.ts";
import { call, type Reply } from "../support/world.ts";
import { type Answered, type Asked, type Ledger, toldBy } from "./ledger.ts";

const AGENTS = 6;
const PEOPLE = 10;
/** People answer questions among so many of the newest. */
const NEWEST = 60;

/** Everybody who uses the server of one site, and what they know. */
export interface Crowd {
  ledger: Ledger;
  /** Numbers between 0 and 1, from a seed. */
  random: () => number;
  agents: readonly string[];
  people: readonly Person[];
  /** The last event number that each agent's stream has shown. */
  lastEvent: Map<string, number>;
  /** Writes that were acknowledged, over all servers. */
  acknowledged: number;
  /** The points that each person has earned by answers to questions that were deleted. */
  earned: Map<string, Earned>;
  /** The wrong results that were seen while the server ran. */
  problems: string[];
}

export interface Earned {
  answers: number;
  points: number;
}

export interface Person {
  name: string;
  /** Whether they keep the credential they were given; others are known by their fingerprint alone. */
  keepsCredential: boolean;
  token: string | null;
  /** The questions that they have answered, or tried to answer. */
  tried: Set<string>;
}

export function openCrowd(ledger: Ledger, random: () => number): Crowd {
  return {
    ledger,
    random,
    agents: Array.from({ length: AGENTS }, (_, i) => `agent-${i}`),
    people: Array.from({ length: PEOPLE }, (_, i) => ({
      name: `person-${i}`,
      keepsCredential: i % 3 === 0,
      token: null,
      tried: new Set(),
    })),
    lastEvent: new Map(),
    acknowledged: 0,
    earned: new Map(),
    problems: [],
  };
}

/** Makes one request; nothing when no whole reply came. */
export async function send(
  crowd: Crowd,
  url: string,
  { method, path, ...options }: { method: string; path: string; body?: unknown; headers?: Record<string, string> },
): Promise<Reply | null> {
  const reply = await call(`${url}${path}`, method, options).catch(() => null);
  if (method !== "GET" && toldBy(reply) === "acknowledged") crowd.acknowledged += 1;
  if (reply && reply.status >= 500 && reply.status !== 503) {
    crowd.problems.push(`${method} ${path} was answered ${reply.status} ${reply.text}`);
  }
  return reply;
}

/** Asks, for the first time or again; the entry says afterwards what is known. */
export async function sendAsk(crowd: Crowd, url: string, entry: Asked): Promise<Reply | null> {
  const body = { type: entry.body.options ? "multiple_choice" : "text", ...entry.body };
  const headers = { "x-agent-id": entry.agent };
  const keyed = entry.key === null ? body : { ...body, idempotency_key: entry.key };
  const reply = await send(crowd, url, { method: "POST", path: "/agent/questions", body: keyed, headers });
  entry.told = toldBy(reply);
  if (entry.told === "acknowledged") entry.receipt ??= reply?.body as QuestionReceipt;
  return reply;
}

/** Answers, for the first time or again. */
export async function sendAnswer(crowd: Crowd, url: string, entry: Answered): Promise<Reply | null> {
  const person = crowd.people.find(({ name }) => name === entry.person);
  const headers = { ...headersOf(entry.person, person), ...(entry.key !== null && { "idempotency-key": entry.key }) };
  const body = { question_id: entry.questionId, ...entry.given };
  const reply = await send(crowd, url, { method: "POST", path: "/human/responses", body, headers });
  entry.told = toldBy(reply);
  if (entry.told === "acknowledged") entry.receipt ??= reply?.body as AnswerReceipt;
  if (person?.keepsCredential) person.token = reply?.headers.get("x-participant-token") ?? person.token;
  return reply;
}

export function headersOf(name: string, person?: Person): Record<string, string> {
  return person?.token ? { "x-participant-token": person.token } : { "x-fingerprint": `${name}-device` };
}

/** Sets everybody to work until `stop` is called or the server is gone. */
export function startLoad(crowd: Crowd, url: string): { stop(): Promise<void> } {
  const { ledger, random } = crowd;
  const stopping = new AbortController();
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];

  async function untilGone(step: () => Promise<Reply | null>): Promise<void> {
    while (!stopping.signal.aborted && (await step()));
  }

  const ownOf = (agent: string) =>
    ledger.asked
      .slice(-4 * NEWEST)
      .flatMap(({ agent: owner, receipt }) => (owner === agent && receipt ? [receipt] : []));

  function openQuestions(): Asked[] {
    const newest = ledger.asked.slice(-NEWEST);
    return newest.filter(({ receipt, seen }) => receipt && (!seen || !isFinal(seen.status)));
  }

  async function agentStep(agent: string): Promise<Reply | null> {
    const chance = random();
    const own = pick(ownOf(agent))?.question_id;
    if (chance < 0.5 || own === undefined) return sendAsk(crowd, url, ledger.ask(newQuestion(agent)));
    const headers = { "x-agent-id": agent };
    const many = ownOf(agent).slice(-20);
    const get = async (query: string) => send(crowd, url, { method: "GET", path: `/agent/questions${query}`, headers });
    const reply =
      chance < 0.68
        ? await get(`/${own}`)
        : chance < 0.78
          ? await get(`/${own}?wait=1&after=${Math.floor(random() * 3)}`)
          : chance < 0.86
            ? await send(crowd, url, { method: "DELETE", path: `/agent/questions/${own}`, headers })
            : await get(`?ids=${many.map((one) => one.question_id).join(",")}`);
    if (reply?.status === 200) for (const shown of shownIn(reply)) ledger.see(shown);
    return reply;
  }

  function newQuestion(agent: string): Pick<Asked, "agent" | "body" | "key"> {
    const number = ledger.asked.length + Math.floor(random() * 1e9) / 1e9;
    const prompt = `Question ${number} of ${agent}: which one is it?`;
    const options = random() < 0.6 ? ["10", "9", `neither of ${number}`] : undefined;
    const body = {
      prompt,
      ...(options && { options }),
      min_responses: 1 + Math.floor(random() * 4),
      timeout_seconds: 60 + Math.floor(random() * 60),
    };
    return { agent, body, key: random() < 0.5 ? `key of ${prompt}` : null };
  }

  async function personStep(person: Person): Promise<Reply | null> {
    const question = pick(openQuestions().filter(({ body }) => !person.tried.has(body.prompt)));
    const id = question?.receipt?.question_id;
    const get = (path: string) => send(crowd, url, { method: "GET", path, headers: headersOf(person.name, person) });
    if (!question || id === undefined) return get("/human/questions");
    const chance = random();
    if (chance < 0.1) return get(`/human/questions/${id}`);
    if (chance < 0.15) {
      return send(crowd, url, {
        method: "POST",
        path: `/human/questions/${id}/skip`,
        headers: headersOf(person.name, person),
      });
    }
    if (chance < 0.22) return passBy(id, question);
    person.tried.add(question.body.prompt);
    const key = random() < 0.5 ? `key of ${person.name} for ${id}` : null;
    return sendAnswer(
      crowd,
      url,
      ledger.answer({ person: person.name, questionId: id, given: newAnswer(question), key }),
    );
  }

  function newAnswer({ body }: Asked): Answered["given"] {
    const confidence = random() < 0.3 ? { confidence: 1 + Math.floor(random() * 5) } : {};
    if (body.options) return { selected_option: Math.floor(random() * body.options.length), ...confidence };
    return { answer: `It is number ${Math.floor(random() * 1e6)}.`, ...confidence };
  }

  /** Somebody answers once and has every trace of themselves removed; the answer stays. */
  async function passBy(questionId: string, question: Asked): Promise<Reply | null> {
    const person = `passer-by ${Math.floor(random() * 1e12)}`.replace(" ", "-");
    await sendAnswer(crowd, url, ledger.answer({ person, questionId, given: newAnswer(question), key: null }));
    return send(crowd, url, { method: "DELETE", path: "/human/me", headers: headersOf(person) });
  }

  const clients = [
    ...crowd.agents.map((agent) => untilGone(() => agentStep(agent))),
    ...crowd.people.map((person) => untilGone(() => personStep(person))),
    ...crowd.agents.slice(0, 3).map((agent) => follow(crowd, url, agent, stopping.signal)),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(clients);
    },
  };
}

/** Returns every question that a reply shows. */
export function shownIn(reply: Reply): Question[] {
  const body = reply.body as Question & { questions?: Question[] };
  return body.questions ?? [body];
}

/** Follows an agent's stream from where it was left, and holds its numbers against one another. */
async function follow(crowd: Crowd, url: string, agent: string, signal: AbortSignal): Promise<void> {
  const last = crowd.lastEvent.get(agent);
  const headers = { "x-agent-id": agent, ...(last !== undefined && { "last-event-id": String(last) }) };
  try {
    const response = await fetch(`${url}/agent/questions/events`, { headers, signal });
    if (!response.body) return;
    for await (const { event, id, data } of readEvents(response.body)) {
      if (event !== "question") continue;
      const before = crowd.lastEvent.get(agent);
      if (before !== undefined && Number(id) !== before + 1) {
        crowd.problems.push(`the stream of ${agent} went from event ${before} to ${event} ${id}`);
      }
      crowd.lastEvent.set(agent, Number(id));
      crowd.ledger.see(JSON.parse(data) as Question);
    }
  } catch {
    // Cut off, by us or by the end of the server.
  }
}
