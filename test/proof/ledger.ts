/**
 * The record of the replies that clients got, and the conditions that the server must meet ever after.
 *
 * A harness writes down every request with its reply, causes failures, and then compares the server's state with this
 * record. An acknowledged request is there and equal. A refused one is not there. An unknown one is there once or not
 * at
 * all.
 */
import { isDeepStrictEqual } from "node:util";
import {
  isFinal,
  type AnswerReceipt,
  type Question,
  type QuestionReceipt,
  type QuestionResponse,
} from "../../sdk/src/wire.ts";

/** Unknown: no reply came, or one that does not say whether anything was kept. */
export type WriteResult = "acknowledged" | "refused" | "unknown";

/** Returns what a reply, or its absence, tells a client. */
export function toldBy(reply: { status: number } | null): WriteResult {
  if (!reply || reply.status >= 500) return "unknown";
  return reply.status < 400 ? "acknowledged" : "refused";
}

/** One question that an agent tried to ask. Its prompt is like no other's. */
export interface Asked {
  agent: string;
  body: { prompt: string; options?: string[]; min_responses: number; timeout_seconds: number };
  key: string | null;
  told: WriteResult;
  /** Known once acknowledged. */
  receipt: QuestionReceipt | null;
  /** The furthest state that any reply has shown. */
  seen: Question | null;
}

/** One answer that a person tried to give. */
export interface Answered {
  person: string;
  questionId: string;
  given: { answer?: string; selected_option?: number; confidence?: number };
  key: string | null;
  told: WriteResult;
  /** Known once acknowledged; without points where only the response is known, from a later refusal. */
  receipt: AnswerReceipt | { response_id: string } | null;
}

export interface Ledger {
  readonly asked: readonly Asked[];
  readonly answered: readonly Answered[];
  /** Writes down a question before it is sent: unknown, until there is a reply. */
  ask(entry: Pick<Asked, "agent" | "body" | "key">): Asked;
  /** Writes down an answer before it is sent. */
  answer(entry: Pick<Answered, "person" | "questionId" | "given" | "key">): Answered;
  /** Notes a state that a reply or an event has shown, in whatever order they arrived. */
  see(shown: Question): void;
  /** Returns what is wrong with a question as it is shown now, with the ids of its responses, or with its absence. */
  problemsOf(asked: Asked, shown: Question | null): string[];
  /** Forgets a question whose time in the store is over, with its answers. */
  forget(asked: Asked): void;
}

export function openLedger(): Ledger {
  const asked = new Map<string, Asked>();
  const answers = new Map<string, Answered[]>();

  return {
    get asked() {
      return [...asked.values()];
    },
    get answered() {
      return [...answers.values()].flat();
    },
    ask(entry) {
      const { prompt } = entry.body;
      if (asked.has(prompt)) throw new Error(`"${prompt}" is asked already`);
      const unknown: Asked = { ...entry, told: "unknown", receipt: null, seen: null };
      asked.set(prompt, unknown);
      return unknown;
    },
    answer(entry) {
      const unknown: Answered = { ...entry, told: "unknown", receipt: null };
      answers.set(entry.questionId, [...(answers.get(entry.questionId) ?? []), unknown]);
      return unknown;
    },
    see(shown) {
      const entry = asked.get(shown.prompt);
      if (entry && (!entry.seen || isFurther(shown, entry.seen))) entry.seen = shown;
    },
    problemsOf(entry, shown) {
      if (!shown) return entry.told === "acknowledged" || entry.seen ? ["it is gone"] : [];
      if (entry.told === "refused") return ["it was refused and is there"];
      return [
        ...askProblems(entry, shown),
        ...tallyProblems(shown),
        ...historyProblems(entry, shown),
        ...answerProblems(answers.get(shown.question_id) ?? [], shown),
      ];
    },
    forget(entry) {
      asked.delete(entry.body.prompt);
      const id = entry.receipt?.question_id ?? entry.seen?.question_id;
      if (id !== undefined) answers.delete(id);
    },
  };
}

function isFurther(one: Question, other: Question): boolean {
  return one.current_responses > other.current_responses || (isFinal(one.status) && !isFinal(other.status));
}

function askProblems({ body, receipt }: Asked, shown: Question): string[] {
  const wanted = {
    prompt: body.prompt,
    type: body.options ? "multiple_choice" : "text",
    options: body.options,
    required_responses: body.min_responses,
    ...(receipt && { created_at: receipt.created_at, expires_at: receipt.expires_at }),
  };
  return Object.entries(wanted).flatMap(([field, value]) => {
    const found = shown[field as keyof Question];
    return isDeepStrictEqual(found, value) ? [] : [`${field} is ${say(found)} and was ${say(value)}`];
  });
}

/** Count, answers, tally and status agree with one another. */
function tallyProblems(shown: Question): string[] {
  const { current_responses: n, required_responses: need, responses, summary, options, status } = shown;
  const problems: string[] = [];
  if (n !== responses.length) problems.push(`it counts ${n} answers and shows ${responses.length}`);
  if (n > need) problems.push(`it has ${n} answers and needed ${need}`);
  const votes = options?.map((_, i) => responses.filter((one) => one.selected_option === i).length);
  const tally = options?.map((option) => summary?.[option]);
  if (!isDeepStrictEqual(votes, tally)) problems.push(`its answers are ${say(votes)} and its tally is ${say(tally)}`);
  const fits = {
    OPEN: n === 0,
    PARTIAL: n > 0 && n < need,
    CLOSED: n === need && shown.closed_at !== undefined,
    EXPIRED: n < need && shown.expired_at !== undefined,
  };
  if (!fits[status]) problems.push(`it is ${status} with ${n} of ${need} answers`);
  return problems;
}

/** Nothing that was ever shown is taken back. */
function historyProblems({ seen }: Asked, shown: Question): string[] {
  if (!seen) return [];
  const was = stateOf(seen);
  const present = stateOf(shown);
  if (isFinal(seen.status))
    return isDeepStrictEqual(present, was) ? [] : [`it was final as ${say(was)} and is ${say(present)}`];
  const kept = present.responses.slice(0, was.responses.length);
  return isDeepStrictEqual(kept, was.responses)
    ? []
    : [`it showed ${say(was.responses)} and shows ${say(present.responses)}`];
}

/** Returns the fields that are compared of two readings, whether or not they were expanded. */
function stateOf({ status, closed_at, expired_at, cancelled, responses }: Question) {
  const plain = responses.map(({ answer, selected_option, confidence }) => ({ answer, selected_option, confidence }));
  return { status, closed_at, expired_at, cancelled, responses: plain };
}

/** Needs the responses with their ids. */
function answerProblems(answers: readonly Answered[], shown: Question): string[] {
  const problems: string[] = [];
  const unclaimed = new Map(shown.responses.map((response) => [response.response_id, response]));
  for (const { told, receipt, given, person } of answers) {
    if (told !== "acknowledged" || !receipt) continue;
    const stored = unclaimed.get(receipt.response_id);
    unclaimed.delete(receipt.response_id);
    if (!stored) problems.push(`the answer ${receipt.response_id} of ${person} is gone`);
    else if (!isSameAnswer(stored, given))
      problems.push(`${person} answered ${say(given)}, and ${say(stored)} is kept`);
  }
  const unknown = answers.filter(({ told }) => told === "unknown");
  for (const stored of unclaimed.values()) {
    const at = unknown.findIndex(({ given }) => isSameAnswer(stored, given));
    if (at < 0) problems.push(`it holds ${say(stored)}, which nobody gave`);
    else unknown.splice(at, 1);
  }
  return problems;
}

function isSameAnswer(stored: QuestionResponse, given: Answered["given"]): boolean {
  const plain = { answer: stored.answer, selected_option: stored.selected_option, confidence: stored.confidence };
  return isDeepStrictEqual({ answer: undefined, selected_option: undefined, confidence: undefined, ...given }, plain);
}

const say = (value: unknown): string => JSON.stringify(value) ?? "nothing";
