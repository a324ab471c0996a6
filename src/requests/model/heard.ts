import type { RefusedAnswer, Target } from "./request.ts";

/** What a person said by a press: a choice among what was offered. */
export type Choice =
  /** Whoever names an option beside it contradicts themselves. */
  | { is: "approve"; name?: string }
  | { is: "reject"; comment?: string }
  /** By its place among `view.options`, from 0; with the text of an editor where there was one. */
  | { is: "option"; index: number; text?: string }
  /** By its name, as a program knows it. */
  | { is: "option named"; name: string; text?: string };

/** A press, words, or what was filled into the fields of a form, in their order. */
export type ReplyContent = { choice: Choice } | { text: string } | { fields: readonly (string | null)[] };

/** Something that came in through a channel, verified as far as its provider allows. */
export interface InboundMessage {
  provider: string;
  /** Dropped when it was heard before. */
  id: string;
  at: number;
  /**
   * The message that it answers, by one of: the delivery's id, for a press on Slack with the timestamp of the pressed
   * message; the token of a link or a reply address; the messages that it follows, the nearest first; or its thread. A
   * thread has the form that its channel returned as `externalIds.thread` on sending; for a pair that is `from|to`, in the
   * inbound direction.
   */
  match:
    | { delivery: string; ts?: string }
    | { token: string }
    | { messages: readonly string[] }
    | { thread: string }
    | { pair: [from: string, to: string] };
  sender:
    /** By the app that heard it: left out where it is the operator's own, and else its id. */
    | { kind: "slack"; id: string; team: string; member: boolean; channel: string; app?: string }
    | { kind: "email"; id: string }
    | { kind: "phone"; id: string }
    /** By the number under which agents know a human, and the webhook target that speaks for them. */
    | { kind: "human"; id: string; webhook: string };
  /** `weak` may reject and reply, never approve; `none` decides nothing (spec/channels 5.4). */
  trust: "signed" | "verified" | "weak" | "none";
  said: ReplyContent;
  /** It answers only as an option that its question offers; without one it changes nothing, and may be heard again. */
  optionOnly?: boolean;
  code?: string;
  /** Of a webhook: the digest the decider was shown. */
  digest?: string;
  /** Left out where it can answer something and nothing else. */
  talk?: Talk;
}

/** What it takes to begin a conversation with something heard, or to go on with one. */
export interface Talk {
  /** Null for a mail that was sent to a reply address alone. */
  at: InboundPlace | null;
  /** Somebody speaks to the agent, and not only where an agent once spoke. */
  begins: boolean;
  /** False for what is told a second time of words that stand in a thread: it may begin there, and nothing else. */
  goesOn: boolean;
  /** The threads it stands in, the nearest first. */
  threads: readonly string[];
  /** The thread that it is part of from now on. */
  thread: string;
  /** The same for the same words, however often and in whichever way they are told. */
  source: string;
  /** Who speaks is proved, and not only claimed. */
  proved: boolean;
  /** The words to begin with, where they are more than what was said. */
  opening?: string;
  /** Where an agent answers. */
  target: Target;
  /** What came in, in the shape of its channel (spec/a2h 17). */
  raw: Readonly<Record<string, unknown>>;
}

/** What became of it; each channel words it in its own way, with `says` as the sentence. */
export interface InboundResult {
  is:
    | "accepted"
    | "repeated"
    | "not_understood"
    | "needs_page"
    | "not_allowed"
    | "already_decided"
    | "no_match"
    | "locked"
    /** It answers nothing, and was passed on to an agent. */
    | "passed_on";
  says: string;
  link?: string;
  reason?: RefusedAnswer["reason"];
  /** Of an option that was not offered: the names of those that were. */
  options?: readonly string[];
}

/** Where something was said, as far as its channel knows. */
export type InboundPlace =
  | { channel: "slack"; app: string | null }
  /** Every address that a mail was for. */
  | { channel: "email"; addresses: readonly string[] }
  | { channel: "sms" | "whatsapp" }
  | { channel: "inbox"; entry: string };
