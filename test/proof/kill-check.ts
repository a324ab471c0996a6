import { isDeepStrictEqual } from "node:util";
import { readEvents } from "../../sdk/src/sse.ts";
import type { Question } from "../../sdk/src/wire.ts";
import { type Crowd, type Earned, headersOf, send, sendAnswer, sendAsk, shownIn } from "./kill-load.ts";
import type { Asked } from "./ledger.ts";

const BATCH = 100;
/** The number of acknowledged requests with a key that are retried each time. */
const RETRIED = 6;

/** How retries of what was unknown came out. */
export interface Settled {
  kept: number;
  lost: number;
}

/**
 * Retries everything of which it is unknown whether it was kept, until it is: with its key to one and the same result,
 * without a key to what stands already.
 */
export async function settleUnknown(crowd: Crowd, url: string, problems: string[]): Promise<Settled> {
  const settled: Settled = { kept: 0, lost: 0 };
  const count = (wasKept: boolean) => (settled[wasKept ? "kept" : "lost"] += 1);
  const { ledger } = crowd;

  for (const entry of ledger.asked.filter(({ told }) => told === "unknown")) {
    if (entry.key === null) {
      const shown = (await findByPrompt(crowd, url, entry))[0];
      entry.told = shown ? "acknowledged" : "refused";
      if (shown) entry.receipt = { ...shown, poll_url: `/agent/questions/${shown.question_id}` };
      count(shown !== undefined);
      continue;
    }
    const reply = await sendAsk(crowd, url, entry);
    count(reply?.status === 200);
    if (reply?.status !== 200 && reply?.status !== 201) {
      problems.push(`the retry of "${entry.body.prompt}" with its key was answered ${reply?.status} ${reply?.text}`);
      continue;
    }
    const again = await sendAsk(crowd, url, entry);
    const found = await findByPrompt(crowd, url, entry);
    if (again?.status !== 200 || again.body.question_id !== reply.body.question_id || found.length !== 1) {
      problems.push(`"${entry.body.prompt}" was retried with its key and stands ${found.length} times: ${again?.text}`);
    }
  }

  for (const entry of ledger.answered.filter(({ told }) => told === "unknown")) {
    // A person who was erased is a stranger now, and would answer a second time.
    if (!crowd.people.some(({ name }) => name === entry.person)) continue;
    const reply = await sendAnswer(crowd, url, entry);
    const { code, details } = reply?.body.error ?? {};
    if (entry.key === null && code === "ALREADY_ANSWERED") {
      Object.assign(entry, { told: "acknowledged", receipt: { response_id: details.response_id } });
      count(true);
    } else if (entry.key !== null && reply?.status === 200) {
      count(true);
    } else if (reply?.status === 201 || code === "QUESTION_CLOSED") {
      count(false);
    } else {
      problems.push(`the retry of an answer by ${entry.person} was answered ${reply?.status} ${reply?.text}`);
    }
  }
  return settled;
}

async function findByPrompt(crowd: Crowd, url: string, entry: Asked): Promise<Question[]> {
  const headers = { "x-agent-id": entry.agent };
  const reply = await send(crowd, url, { method: "GET", path: "/agent/questions?limit=100&expand=meta", headers });
  return reply?.status === 200 ? shownIn(reply).filter(({ prompt }) => prompt === entry.body.prompt) : [];
}

/** Reads the questions again and holds them, and what people have earned, against what was acknowledged. */
export async function checkLedger(
  crowd: Crowd,
  url: string,
  entries: readonly Asked[],
  problems: string[],
): Promise<void> {
  for (const agent of crowd.agents) {
    const own = entries.filter((entry) => entry.agent === agent && entry.receipt);
    for (let i = 0; i < own.length; i += BATCH) {
      const part = own.slice(i, i + BATCH);
      const ids = part.map(({ receipt }) => receipt?.question_id).join(",");
      const headers = { "x-agent-id": agent };
      const reply = await send(crowd, url, { method: "GET", path: `/agent/questions?expand=meta&ids=${ids}`, headers });
      if (reply?.status !== 200) {
        problems.push(`a batch of questions was answered ${reply?.status} ${reply?.text}`);
        continue;
      }
      const shown = new Map(shownIn(reply).map((question) => [question.question_id, question]));
      for (const entry of part) {
        const question = shown.get(entry.receipt?.question_id ?? "") ?? null;
        for (const problem of crowd.ledger.problemsOf(entry, question)) {
          problems.push(`${entry.receipt?.question_id} ("${entry.body.prompt}"): ${problem}`);
        }
        if (question) crowd.ledger.see(question);
      }
    }
  }
  await checkReplays(crowd, url, problems);
}

/** Checks that acknowledged requests are replayed under their keys, word for word, and that nothing new is created. */
async function checkReplays(crowd: Crowd, url: string, problems: string[]): Promise<void> {
  const { ledger } = crowd;
  const keyedAsks = ledger.asked.filter(({ key, told }) => key !== null && told === "acknowledged");
  for (const entry of keyedAsks.slice(-RETRIED)) {
    const reply = await sendAsk(crowd, url, entry);
    const { question_id, created_at, expires_at } = reply?.body ?? {};
    const { receipt } = entry;
    const wanted = [receipt?.question_id, receipt?.created_at, receipt?.expires_at];
    if (reply?.status !== 200 || !isDeepStrictEqual([question_id, created_at, expires_at], wanted)) {
      problems.push(`a key of ${wanted.join(" ")} was replayed as ${reply?.status} ${reply?.text}`);
    }
  }
  const keyedAnswers = ledger.answered.filter(
    ({ key, told, receipt }) => key !== null && told === "acknowledged" && receipt && "total_points" in receipt,
  );
  for (const entry of keyedAnswers.slice(-RETRIED)) {
    const reply = await sendAnswer(crowd, url, entry);
    if (reply?.status !== 200 || !isDeepStrictEqual(reply.body, entry.receipt)) {
      problems.push(`the answer ${JSON.stringify(entry.receipt)} was replayed as ${reply?.status} ${reply?.text}`);
    }
  }
}

const POINTS = { text: 10, choice: 5 };

function earnedOf(crowd: Crowd, name: string): Earned {
  const earned = { ...(crowd.earned.get(name) ?? { answers: 0, points: 0 }) };
  for (const { person, told, given } of crowd.ledger.answered) {
    if (person !== name || told !== "acknowledged") continue;
    earned.answers += 1;
    earned.points += given.answer === undefined ? POINTS.choice : POINTS.text;
  }
  return earned;
}

/** Points are one entry for each answer that was kept: acknowledged now, all of them. */
export async function checkPoints(crowd: Crowd, url: string, problems: string[]): Promise<void> {
  for (const person of crowd.people) {
    const wanted = earnedOf(crowd, person.name);
    const reply = await send(crowd, url, {
      method: "GET",
      path: "/human/stats",
      headers: headersOf(person.name, person),
    });
    const { total_answers: answers, total_points: points } = reply?.body ?? {};
    if (!isDeepStrictEqual({ answers, points }, wanted)) {
      const told = `${wanted.points} points for ${wanted.answers} answers`;
      problems.push(`${person.name} was told of ${told}, and has ${points} for ${answers}`);
    }
  }
}

/** Every question's time in the store is over; what people earned by them stays theirs. */
export function forgetAll(crowd: Crowd): void {
  crowd.earned = new Map(crowd.people.map(({ name }) => [name, earnedOf(crowd, name)]));
  for (const entry of crowd.ledger.asked) crowd.ledger.forget(entry);
  crowd.lastEvent.clear();
}

/** Clients that wait, to be answered when the server stops. */
export interface Waiters {
  /** Resolves once all were let go; what was wrong with how goes to `problems`. */
  letGo(problems: string[]): Promise<void>;
}

/** Parks long-polls and streams on questions that nobody answers meanwhile. */
export async function openWaiters(crowd: Crowd, url: string): Promise<Waiters> {
  const agent = "agent-who-waits";
  const headers = { "x-agent-id": agent };
  const body = { prompt: `Which one, at ${crowd.random()}?`, type: "text", timeout_seconds: 3600 };
  const asked = await send(crowd, url, { method: "POST", path: "/agent/questions", body, headers });
  const path = `/agent/questions/${asked?.body.question_id}`;

  const polls = [1, 2, 3].map(() => send(crowd, url, { method: "GET", path: `${path}?wait=20`, headers }));
  const streams = ["/agent/questions/events", `${path}/events`, "/human/events"].map(async (of) => {
    const response = await fetch(`${url}${of}`, { headers });
    return { of, last: lastFrame(response) };
  });
  const opened = await Promise.all(streams);
  return {
    async letGo(problems) {
      for (const reply of await Promise.all(polls)) {
        if (reply?.status !== 200 || reply.body.status !== "OPEN") {
          problems.push(`a long-poll was let go with ${reply?.status ?? "a broken connection"} ${reply?.text ?? ""}`);
        }
      }
      for (const { of, last } of opened) {
        const frame = await last;
        if (frame?.retryMs === undefined)
          problems.push(`the stream ${of} did not end with retry: ${JSON.stringify(frame)}`);
      }
    },
  };
}

/** Returns the last event of a stream; a stream that was cut off says nothing. */
async function lastFrame(response: Response): Promise<{ retryMs: number | undefined } | null> {
  let frames = 0;
  let last: { retryMs: number | undefined } | null = null;
  try {
    if (response.body) {
      for await (const frame of readEvents(response.body)) {
        frames += 1;
        last = frame;
      }
    }
    // The first one says it too.
    return frames > 1 ? last : null;
  } catch {
    return null;
  }
}
