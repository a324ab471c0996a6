import type { PhoneChannel } from "../../channels/kinds.ts";
import type { RefusedAnswer, Target } from "./request.ts";

/** A person's choice among the offered buttons. */
export type Choice =
  /** An approval that also names an option contradicts itself. */
  | { kind: "approve"; name?: string }
  | { kind: "reject"; comment?: string }
  /** By its place among `view.options`, from 0; with the text of an editor where there was one. */
  | { kind: "option"; index: number; text?: string }
  /** By its name, as a program knows it. */
  | { kind: "option named"; name: string; text?: string };

/** A choice, a text, or the contents of the fields of a form, in their order. */
export type ReplyContent = { choice: Choice } | { text: string } | { fields: readonly (string | null)[] };

/** Something that came in through a channel, verified as far as its provider allows. */
export interface InboundMessage {
  provider: string;
  /** A message with an id that was received before is dropped. */
  id: string;
  at: number;
  /**
   * The message that it answers, by one of: the delivery's id, for a button on Slack with the timestamp of its
   * message; the token of a link or a reply address; the messages that it follows, the nearest first; or its thread, by
   * each name that it may have. A thread has the form that its channel returned as `externalIds.thread` on sending; for
   * telephones that is `from|to`, in the inbound direction.
   */
  match:
    | { delivery: string; ts?: string }
    | { token: string }
    | { messages: readonly string[] }
    | { thread: string }
    | { threads: readonly string[] };
  sender:
    /** `app` is the id of the app that received it; absent for the operator's own. */
    | { kind: "slack"; id: string; team: string; member: boolean; channel: string; app?: string }
    | { kind: "email"; id: string }
    | { kind: "phone"; id: string }
    /** By the number under which agents know a human, and the webhook target that speaks for them. */
    | { kind: "human"; id: string; webhook: string };
  /** `weak` may reject and reply, never approve; `none` decides nothing (spec/channels 5.4). */
  trust: "signed" | "verified" | "weak" | "none";
  content: ReplyContent;
  /** It answers only as an option that its question offers. Else it changes nothing, and may be received again. */
  optionOnly?: boolean;
  code?: string;
  /** Set for a webhook: the digest that the decider saw. */
  digest?: string;
  /** Absent for a message that can only answer a request. */
  talk?: ThreadContext;
}

/** The rules for messages of one kind of sender. */
interface SenderRules {
  /** An approval is complete with its words alone, or by a press of a button, with the message's code, or with the digest that was shown. */
  approvesBy: "words" | "press" | "code" | "digest";
  /** The provider proves who speaks with every message. Otherwise only the message that is answered does. */
  isProvedByProvider: boolean;
  /** The channel words the result in its reply to the provider. Otherwise it goes out as a message of its own. */
  isAnsweredAtOnce: boolean;
}

export const SENDER_RULES: Readonly<Record<InboundMessage["sender"]["kind"], SenderRules>> = {
  slack: { approvesBy: "press", isProvedByProvider: true, isAnsweredAtOnce: true },
  email: { approvesBy: "words", isProvedByProvider: false, isAnsweredAtOnce: false },
  phone: { approvesBy: "code", isProvedByProvider: true, isAnsweredAtOnce: true },
  human: { approvesBy: "digest", isProvedByProvider: true, isAnsweredAtOnce: true },
};

/** The facts about an incoming message that are needed to begin a conversation with it, or to go on with one. */
export interface ThreadContext {
  /** Null for a mail that was sent to a reply address alone. */
  at: InboundThread | null;
  /** True if the message is addressed to the agent, and not only in a thread where an agent wrote before. */
  begins: boolean;
  /** False for a second event about the same words in a thread: it may only begin a conversation. */
  goesOn: boolean;
  /** The threads it stands in, the nearest first. */
  threads: readonly string[];
  /** The thread that it is part of from now on. */
  thread: string;
  /** The same for the same words, however often and by whichever event they come in. */
  source: string;
  /** Who speaks is proved, and not only claimed. */
  proved: boolean;
  /** The words to begin with, if they are more than the message itself. */
  opening?: string;
  /** Where an agent answers. */
  target: Target;
  /** The incoming message in the shape of its channel (spec/a2h 17). */
  raw: Readonly<Record<string, unknown>>;
}

/** The result of an incoming message. Each channel words it in its own way, with `says` as the sentence. */
export interface InboundResult {
  kind:
    | "accepted"
    | "repeated"
    | "not_understood"
    | "needs_page"
    | "not_allowed"
    | "already_decided"
    | "no_match"
    | "locked"
    /** It froze agents, or asked for that in vain, and decides nothing. */
    | "frozen"
    /** It answers nothing, and was passed on to an agent. */
    | "passed_on";
  says: string;
  link?: string;
  reason?: RefusedAnswer["reason"];
  /** The names of the offered options, if the message named another. */
  options?: readonly string[];
}

/** The place of an incoming message, as far as its channel knows. */
export type InboundThread =
  | { channel: "slack"; app: string | null }
  /** Every address that a mail was for. */
  | { channel: "email"; addresses: readonly string[] }
  | { channel: PhoneChannel }
  | { channel: "inbox"; entry: string };
