import { setTimeout as sleep } from "node:timers/promises";
import { committedPastDeadline, heldPastDeadline } from "./race-held.ts";
import type { Answer } from "./race-log.ts";
import { OPEN_QUESTIONS, wallTime } from "./race-nodes.ts";
import { ask, at, LONG_S, SHORT_S, type Directed } from "./race-scene.ts";

export interface DirectedReport {
  problems: string[];
  /** The delays of a wait at one node after an answer at another, in ms, on servers without other work. */
  wakes: number[];
}

const STAMPEDE = 200;
const STAMPEDE_NEED = 50;
const KEY_AGENTS = 5;
const KEY_COPIES = 20;
const TENTH_PEOPLE = 8;
const FINISHERS = 45;
/** How far around the deadline the finishers answer, and how close together. */
const FINISH_SPREAD_MS = 150;
const WAKE_ROUNDS = 15;
const WAKE_MEDIAN_MS = 250;
const WAKE_LONGEST_MS = 1250;
const WAIT_MS = 300;
const WAIT_SLACK_MS = 250;

/** Runs the races that chance alone would seldom bring about, in the order of how quickly they tell. */
export async function runDirected(on: Directed): Promise<DirectedReport> {
  const wakes: number[] = [];
  const races: (() => Promise<string[]>)[] = [
    () => stampede(on),
    () => sameKey(on),
    () => heldPastDeadline(on),
    () => committedPastDeadline(on),
    () => tenthAnswers(on),
    () => photoFinish(on),
    () => cancelAgainstLast(on),
    () => wakeAcrossNodes(on, wakes),
  ];
  const problems: string[] = [];
  for (const run of races) {
    if (problems.length > 0) break;
    // A race that could not even be set up is a broken promise too; the servers are up.
    problems.push(...(await run().catch((error: unknown) => [String(error)])));
  }
  return { problems, wakes };
}

function countOf(answers: readonly Answer[], status: number): number {
  return answers.filter((one) => one.status === status).length;
}

/** 200 people answer at once, and 50 are needed. */
async function stampede(on: Directed): Promise<string[]> {
  const hot = await ask(on, "stampede", STAMPEDE_NEED);
  const answers = await Promise.all(
    Array.from({ length: STAMPEDE }, (_, i) => on.door.answer(at(i), `stampede-${i}`, hot)),
  );
  await on.door.cancel(at(0), hot);
  const [taken, closed] = [countOf(answers, 201), countOf(answers, 410)];
  if (taken === STAMPEDE_NEED && closed === STAMPEDE - STAMPEDE_NEED) return [];
  return [`of ${STAMPEDE} answers at once ${taken} were taken and ${closed} refused; ${STAMPEDE_NEED} were needed`];
}

/** Agents that each ask once, many times at once under one key, at every node. */
async function sameKey(on: Directed): Promise<string[]> {
  const agents = Array.from({ length: KEY_AGENTS }, (_, i) => `same-${i}`);
  const question = { need: 1, options: 0, timeoutSeconds: LONG_S };
  const made = await Promise.all(
    agents.map((agent) =>
      Promise.all(Array.from({ length: KEY_COPIES }, (_, i) => on.door.create(at(i), agent, question, "once"))),
    ),
  );
  await Promise.all(
    [...on.log.asks.values()].map((one) => (agents.includes(one.agent) ? on.door.cancel(at(0), one) : null)),
  );
  return made.flatMap((replies) => {
    const asks = new Set(replies.map(({ ask: id }) => id));
    return asks.size === 1 ? [] : [`one key, ${KEY_COPIES} times at once, made ${[...asks].join(" and ")}`];
  });
}

/** Eight people each answer twelve questions at once: the tenth answer of each earns its badge in exactly one reply. */
async function tenthAnswers(on: Directed): Promise<string[]> {
  const asks = await Promise.all(Array.from({ length: OPEN_QUESTIONS }, () => ask(on, "tenth", 50)));
  const people = Array.from({ length: TENTH_PEOPLE }, (_, i) => `tenth-${i}`);
  const answers = await Promise.all(
    asks.flatMap((one, i) => people.map((person, j) => on.door.answer(at(i + j), person, one))),
  );
  await Promise.all(asks.map((one, i) => on.door.cancel(at(i), one)));
  return people.flatMap((person) => {
    const got = answers.filter((one) => one.person === person && one.badges.includes("answers_10"));
    return got.length === 1 ? [] : [`${person} was given answers_10 in ${got.length} replies`];
  });
}

/** Answers arrive at every node just before and just after the deadline, while it is read; the log tells the rest. */
async function photoFinish(on: Directed): Promise<string[]> {
  const hot = await ask(on, "finish", 50, SHORT_S);
  await sleep(Math.max(0, wallTime(hot.expiresAt) - Date.now() - FINISH_SPREAD_MS));
  await Promise.all(
    Array.from({ length: FINISHERS }, async (_, i) => {
      await sleep((i * 2 * FINISH_SPREAD_MS) / FINISHERS);
      await Promise.all([on.door.answer(at(i), `finish-${i}`, hot), on.door.poll(at(i + 1), hot)]);
    }),
  );
  return [];
}

/** The only answer needed meets a cancel. One of the two ends the question, and all clients get the same result. */
async function cancelAgainstLast(on: Directed): Promise<string[]> {
  const asks = await Promise.all(Array.from({ length: OPEN_QUESTIONS }, () => ask(on, "cancels", 1)));
  await Promise.all(
    asks.flatMap((one, i) => [
      on.door.answer(at(i), `cancels-${i}`, one),
      on.door.cancel(at(i + 1), one),
      on.door.answer(at(i + 2), `cancels-too-${i}`, one),
    ]),
  );
  return [];
}

/** An agent that waits at one node gets an answer from another. A wait without an answer ends with its time. */
async function wakeAcrossNodes(on: Directed, wakes: number[]): Promise<string[]> {
  const late: number[] = [];
  for (let round = 0; round < WAKE_ROUNDS; round += 1) {
    const hot = await ask(on, `wakes-${round % 3}`, 1);
    const waiting = on.door.wait(at(round), hot, 20_000, 0);
    await sleep(50);
    const answer = await on.door.answer(at(round + 1), `wakes-${round}`, hot);
    wakes.push(Math.max(0, (await waiting).end - answer.end));
    const idle = await ask(on, `wakes-${round % 3}`, 1);
    const nothing = await on.door.wait(at(round), idle, WAIT_MS, 0);
    late.push(nothing.end - nothing.start - WAIT_MS);
    await on.door.cancel(at(round), idle);
  }
  const problems: string[] = [];
  if (median(wakes) > WAKE_MEDIAN_MS) problems.push(`a wait heard of another node's answer after ${median(wakes)} ms`);
  if (Math.max(...wakes) > WAKE_LONGEST_MS) problems.push(`a wait heard nothing for ${Math.max(...wakes)} ms`);
  // Half of them, because the machine may do something else for a moment.
  if (median(late) > WAIT_SLACK_MS) problems.push(`waits for nothing ended ${median(late)} ms after their time`);
  return problems;
}

/** Returns the middle of the numbers. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}
