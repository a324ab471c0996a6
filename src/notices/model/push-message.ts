import { cutTo } from "../../core/model/title.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import type { Request } from "../../requests/model/request.ts";
import { viewOutside } from "../../requests/model/message-view.ts";
import { viewBesideArguments } from "../../requests/model/view.ts";
import type { Question } from "../../questions/model/question.ts";
import { lengthOf } from "../../core/model/field-problem.ts";
import type { PushSettings } from "./push-settings.ts";

/**
 * The text that a device shows. A lock screen may show it to anybody, so it holds no words of a question or an argument;
 * the only words of the agent in it are the subject that it gave.
 */
export interface PushMessage {
  title: string;
  body: string;
  /** The page it opens, from the root. */
  path: string;
  data: Readonly<Record<string, string>>;
  /** 32 characters; a second message of the same topic takes the place of the first. */
  topic: string;
  ttlSeconds: number;
  urgency: "normal" | "high";
}

/** Where a message goes. */
export type PushDevice = Pick<PushSettings, "kind" | "address" | "keys">;

/** Hands a message to a device's push service. @throws {DeliveryError} `providerCode: "gone"` when it never can again */
export type SendPush = (device: PushDevice, message: PushMessage, signal: AbortSignal) => Promise<void>;

const CROWD_TTL_SECONDS = 3600;
const ADDRESSED_TTL_SECONDS = 86_400;
const LONG_PROMPT = 500;
const LONGEST_TITLE = 200;

/** Returns what a crowd question looks like on a device (spec/ask-a-human 6). */
export function crowdMessage(question: Question, now: number): PushMessage {
  const path = `/q/${question.id}`;
  const isLong = lengthOf(question.prompt) > LONG_PROMPT;
  const body =
    question.form.kind === "choice"
      ? `Pick one of ${question.form.options.length}, about ${isLong ? "1 minute" : "30 seconds"}`
      : `Write a few words, about ${isLong ? "2 minutes" : "1 minute"}`;
  const type = question.form.kind === "choice" ? "multiple_choice" : "text";
  return {
    title: "A question for you",
    body,
    path,
    data: { question_id: question.id, url: path, type },
    topic: topicOf(question.id),
    ttlSeconds: secondsLeft(question.expiresAt, now, CROWD_TTL_SECONDS),
    urgency: "normal",
  };
}

/** How much of what somebody is asked may stand on a lock screen. */
export type LockScreen = "sentence" | "subject" | "nothing";

const WANTS = {
  approval: "Wants your approval",
  reply: "Has a question for you",
  value: "Wants an answer from you",
} as const;

/**
 * Returns what an ask to somebody looks like on a device: who asks, what kind it is, and the subject where the agent gave
 * one; with `sentence` also the sentence of a call; with `nothing` only that something waits (spec/channels 5.2). The words
 * `told`, with which its person is told of it again, come in place of these.
 */
export function requestMessage(
  request: Request,
  now: number,
  { shows = "subject", told }: { shows?: LockScreen; told?: string | undefined } = {},
): PushMessage {
  const path = `/inbox/${request.id}`;
  const { agent, title } = viewBesideArguments(request);
  const wants = WANTS[request.form.kind];
  const says = told ?? (shows === "sentence" ? viewOutside(request).sentence : undefined);
  const body = says ?? (request.wire["subject"] === true ? `${wants}: ${title}` : wants);
  return {
    title: shows === "nothing" ? "Something waits for you" : cutTo(LONGEST_TITLE, agent),
    body: shows === "nothing" ? "It stands in the inbox." : cutTo(LONGEST_TITLE, body),
    path,
    data: { ask_id: request.id, url: path },
    topic: topicOf(request.id),
    ttlSeconds: secondsLeft(request.expiresAt, now, ADDRESSED_TTL_SECONDS),
    urgency: request.form.kind === "approval" ? "high" : "normal",
  };
}

/** Returns what a device shows in place of further asks to its person, where there were too many within an hour. */
export function waitingMessage(count: number): PushMessage {
  const path = "/inbox";
  return {
    title: count === 1 ? "1 request waits for you" : `${count} requests wait for you`,
    body: "There are too many to tell of each. They stand in the inbox.",
    path,
    data: { url: path },
    topic: topicOf("waiting"),
    ttlSeconds: ADDRESSED_TTL_SECONDS,
    urgency: "normal",
  };
}

function topicOf(subjectId: string): string {
  return sha256Hex(subjectId).slice(0, 32);
}

function secondsLeft(expiresAt: number, now: number, most: number): number {
  return Math.max(0, Math.min(most, Math.floor((expiresAt - now) / 1000)));
}
