import { Connection, headerOf, type Reply } from "./connection.ts";
import { runClosed, type Step } from "./load.ts";

/** The requests of agents and people to one server. Each client has keep-alive connections of its own. */
export interface ParleyLoad {
  create: Step;
  createWithKey: Step;
  /** Reads one of the questions made by `refill`, all open. */
  poll: Step;
  /** Reads the question that `name` gives. */
  pollOf(name: () => StoredQuestion): Step;
  /** Gives one of the answers that `refill` made room for; every fifth settles a question. */
  answer: Step;
  /** Reads the first page of what somebody may answer. */
  feed: Step;
  /** Asks, waits by long-poll and answers; the latency is from sending the answer to the waiter's reply. */
  wake: Step;
  /** Makes `questions` open ones, each in want of five answers. */
  refill(questions: number): Promise<void>;
  close(): void;
}

export interface StoredQuestion {
  id: string;
  agent: string;
}

/** About what an agent sends: 460 bytes. */
export const QUESTION = {
  prompt:
    "We are choosing the label of the button that files an expense report. People press it once they have attached " +
    "every receipt, and cannot take it back for a day. Which label is clearer to somebody who sees it the first time?",
  type: "multiple_choice",
  options: ["Send", "Submit for approval", "File the report"],
  audience: ["product", "general"],
  timeout_seconds: 7200,
};
export const QUESTION_BODY = JSON.stringify({ ...QUESTION, min_responses: 5 });
const WAKE_BODY = JSON.stringify({ ...QUESTION, min_responses: 1 });

/** Within what one agent may have open by default. No two clients are one agent at the same time. */
const QUESTIONS_OF_AN_AGENT = 20;
/** A prime, so that no person meets a question twice (`answer`). */
const PEOPLE = 1009;
const ANSWERS_NEEDED = 5;
const PREPARING_CLIENTS = 32;

/** Connects `clients` agents and `clients` people, and lets the crowd of the run appear. */
export async function openParleyLoad(url: string, clients: number): Promise<ParleyLoad> {
  const agents = Array.from({ length: clients }, () => new Connection(url));
  const people = Array.from({ length: clients }, () => new Connection(url));
  const run = Date.now().toString(36);
  const at = (connections: readonly Connection[], client: number): Connection => {
    const connection = connections[client];
    if (!connection) throw new Error(`there is no client ${client}`);
    return connection;
  };
  const asked = new Array<number>(clients).fill(0);
  let answered = 0;
  let crowd: string[] = [];
  let wanting: StoredQuestion[] = [];

  async function ask(client: number, body: string, more = ""): Promise<StoredQuestion> {
    const before = asked[client] ?? 0;
    asked[client] = before + 1;
    const agent = `bench-${run}-${client}-${Math.floor(before / QUESTIONS_OF_AN_AGENT)}`;
    const reply = await at(agents, client).send("POST", "/agent/questions", `X-Agent-Id: ${agent}\r\n${more}`, body);
    return { id: (JSON.parse(expect(reply, 201).body) as { question_id: string }).question_id, agent };
  }

  function poll(client: number, { id, agent }: StoredQuestion, query = ""): Promise<Reply> {
    return at(agents, client).send("GET", `/agent/questions/${id}${query}`, `X-Agent-Id: ${agent}\r\n`);
  }

  function give(client: number, headers: string, id: string): Promise<Reply> {
    const body = JSON.stringify({ question_id: id, selected_option: answered % 3, confidence: 4 });
    return at(people, client).send("POST", "/human/responses", headers, body);
  }

  async function inTurn<T>(count: number, step: (client: number, i: number) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    let next = 0;
    const work = async (client: number) => {
      while (next < count) {
        const i = next++;
        results[i] = await step(client, i);
      }
    };
    await Promise.all(Array.from({ length: Math.min(clients, PREPARING_CLIENTS) }, (_, client) => work(client)));
    return results;
  }

  /** Everybody answers once by fingerprint, and shows the credential of that reply from then on. */
  async function gatherCrowd(): Promise<void> {
    const most = 50;
    const body = JSON.stringify({ ...QUESTION, min_responses: most });
    const questions = await inTurn(Math.ceil(PEOPLE / most), (client) => ask(client, body));
    crowd = await inTurn(PEOPLE, async (client, i) => {
      const id = questions[Math.floor(i / most)]?.id ?? "";
      const reply = expect(await give(client, `X-Fingerprint: bench-${run}-device-${i}\r\n`, id), 201);
      return `X-Participant-Token: ${headerOf(reply.head, "x-participant-token")}\r\n`;
    });
  }

  await gatherCrowd();
  return {
    async create(client) {
      await ask(client, QUESTION_BODY);
    },
    async createWithKey(client) {
      await ask(client, QUESTION_BODY, `Idempotency-Key: ${run}-${asked[client]}\r\n`);
    },
    async poll(client) {
      expect(await poll(client, pick(wanting)), 200);
    },
    pollOf: (name) => async (client) => void expect(await poll(client, name()), 200),
    async answer(client) {
      const i = answered++;
      const question = wanting[i % wanting.length];
      const lap = Math.floor(i / wanting.length);
      if (!question || lap >= ANSWERS_NEEDED) throw new Error("every question has its answers; refill more");
      const person = crowd[(i + lap) % PEOPLE] ?? "";
      expect(await give(client, person, question.id), 201);
    },
    async feed(client) {
      expect(await at(people, client).send("GET", "/human/questions?limit=20", pick(crowd)), 200);
    },
    async wake(client) {
      const question = await ask(client, WAKE_BODY);
      const waiting = poll(client, question, "?wait=20");
      const sent = performance.now();
      const [settled, given] = await Promise.all([
        waiting.then((reply) => ({ reply, at: performance.now() })),
        give(client, pick(crowd), question.id),
      ]);
      expect(given, 201);
      if (!expect(settled.reply, 200).body.includes('"CLOSED"')) throw new Error("the waiter was told too early");
      return settled.at - sent;
    },
    async refill(questions) {
      // Never a multiple of PEOPLE less one: see `answer`.
      const count = (questions + 1) % PEOPLE === 0 ? questions + 1 : questions;
      wanting = await inTurn(count, (client) => ask(client, QUESTION_BODY));
      answered = 0;
    },
    close() {
      for (const connection of [...agents, ...people]) connection.close();
    },
  };
}

/** Sends the bare server the same bytes as Parley. The bare server only receives them and does not parse them. */
export function openBareLoad(url: string, clients: number): { insert: Step; get: Step; close(): void } {
  const connections = Array.from({ length: clients }, () => new Connection(url));
  const send = (client: number, method: string, body: string): Promise<Reply> => {
    const connection = connections[client];
    if (!connection) throw new Error(`there is no client ${client}`);
    return connection.send(method, "/agent/questions", `X-Agent-Id: bench-${client}\r\n`, body);
  };
  return {
    insert: async (client) => void expect(await send(client, "POST", QUESTION_BODY), 201),
    get: async (client) => void expect(await send(client, "GET", ""), 200),
    close: () => connections.forEach((connection) => connection.close()),
  };
}

/** Sends for a moment what is not measured, so that every program has been compiled before anything is. */
export async function warmUp(steps: readonly Step[], clients: number, ms: number): Promise<void> {
  for (const step of steps) await runClosed(clients, { warmMs: 0, ms }, step);
}

function expect(reply: Reply, status: number): Reply {
  if (reply.status !== status) throw new Error(`${reply.status} instead of ${status}: ${reply.body}`);
  return reply;
}

function pick<T>(list: readonly T[]): T {
  const found = list[Math.floor(Math.random() * list.length)];
  if (found === undefined) throw new Error("there is nothing to choose from");
  return found;
}
