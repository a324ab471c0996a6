import { setTimeout as sleep } from "node:timers/promises";
import { call, type Reply } from "../support/world.ts";

/** One question: it is asked at one server and answered there, and a wait for its answer is parked at the other. */
export interface Asked {
  id: string;
  answer: string;
  isAskAcknowledged: boolean;
  isAnswerAcknowledged: boolean;
  /** How often the wait brought a result. */
  results: number;
  isTold: boolean;
}

export interface PromoteLoad {
  /** Nothing is begun any more, and everything that was begun has ended. */
  stop(): Promise<void>;
  /** Resolves with the moment at which the first write that began after `since` was acknowledged. */
  served(since: number): Promise<number>;
  /** Resolves when a wait is parked at each server. */
  parked(): Promise<void>;
  asked(): readonly Asked[];
  refused(): number;
}

const CLIENTS = 16;
const NEVER_WITHIN_MS = 30_000;
const AGAIN_AFTER_MS = 25;
const WAIT_SECONDS = 120;

/** Clients of two servers that ask, answer and wait. One whose write was not acknowledged sends it again. */
export function openPromoteLoad(urls: readonly string[], onProblem: (says: string) => void): PromoteLoad {
  const asked: Asked[] = [];
  let lastAck = { sentAt: 0, at: 0 };
  let stopping = false;
  let refused = 0;
  let parkedNow = 0;

  /** Sends a write until it is acknowledged, or until `isDone` says that an earlier try was. */
  async function insist(url: string, body: object, headers: Record<string, string>, isDone: (reply: Reply) => boolean) {
    const late = performance.now() + NEVER_WITHIN_MS;
    for (let tries = 1; performance.now() < late; tries += 1) {
      const sentAt = performance.now();
      const reply = await call(url, "POST", { body, headers }).catch(() => null);
      if (reply !== null && reply.status < 300) {
        if (sentAt > lastAck.sentAt) lastAck = { sentAt, at: performance.now() };
        return reply;
      }
      if (reply !== null && tries > 1 && isDone(reply)) return reply;
      if (reply?.status !== 503 || reply.headers.get("retry-after") === null) {
        onProblem(`${url} was answered ${reply?.status ?? "with a broken connection"} ${reply?.text ?? ""}`);
        return null;
      }
      refused += 1;
      await sleep(AGAIN_AFTER_MS);
    }
    onProblem(`${url} was refused for ${NEVER_WITHIN_MS} ms`);
    return null;
  }

  async function client(number: number): Promise<void> {
    const [here = "", there = ""] = number % 2 === 0 ? urls : [...urls].reverse();
    for (let i = 0; !stopping; i += 1) {
      const answer = `answer-${number}-${i}`;
      const question = { prompt: `Which number has this? ${answer}`, type: "text", min_responses: 1 };
      const key = { "idempotency-key": answer };
      const reply = await insist(`${here}/agent/questions`, question, key, () => false);
      if (!reply) return;
      const one = { id: reply.body.question_id, answer, isAskAcknowledged: true, isAnswerAcknowledged: false };
      const wait: Asked = { ...one, results: 0, isTold: false };
      asked.push(wait);
      parkedNow += 1;
      const told = park(there, wait, onProblem).finally(() => (parkedNow -= 1));
      // Every other wait stands for a while, so that promotions find some of them.
      await sleep(i % 2 === 0 ? 0 : 200);
      const body = { question_id: wait.id, answer };
      // An answer that was taken although its reply was lost has closed the question.
      const answered = await insist(
        `${here}/human/responses`,
        body,
        {},
        ({ status }) => status === 409 || status === 410,
      );
      wait.isAnswerAcknowledged = answered !== null;
      await told;
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
  return {
    async stop() {
      stopping = true;
      await Promise.all(clients);
    },
    async served(since) {
      const late = performance.now() + NEVER_WITHIN_MS;
      while (lastAck.sentAt <= since && performance.now() < late) await sleep(5);
      return lastAck.at;
    },
    async parked() {
      const late = performance.now() + NEVER_WITHIN_MS;
      while (parkedNow < 2 && performance.now() < late) await sleep(5);
    },
    asked: () => asked,
    refused: () => refused,
  };
}

/** Waits for the answer to one question, by MCP. */
async function park(url: string, wait: Asked, onProblem: (says: string) => void): Promise<void> {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "wait_for_human_responses",
      arguments: { question_id: wait.id, max_wait_seconds: WAIT_SECONDS },
      _meta: { progressToken: "p" },
    },
  };
  const headers = { accept: "application/json, text/event-stream" };
  try {
    let { text } = await call(`${url}/mcp`, "POST", { body, headers });
    // One that was refused before it stood is sent again; one that stands goes on.
    for (const late = performance.now() + NEVER_WITHIN_MS; isTurnedAway(text) && performance.now() < late;) {
      await sleep(AGAIN_AFTER_MS);
      ({ text } = await call(`${url}/mcp`, "POST", { body, headers }));
    }
    wait.results = text.split('"result":').length - 1;
    wait.isTold = text.includes(wait.answer);
    if (!wait.isTold || wait.results !== 1) {
      onProblem(`R1: a wait ended with ${wait.results} results, and was told ${text.slice(0, 600)}`);
    }
  } catch (error) {
    onProblem(`a wait broke: ${String(error)}`);
  }
}

/** It was refused before it stood: a wait that stands has told its progress. */
const isTurnedAway = (text: string): boolean =>
  text.includes("Try again shortly.") && !text.includes("notifications/progress");
