import type { ChannelField } from "./kind.ts";
import type { ChannelName } from "./kinds.ts";
import type { FieldError } from "../requests/model/channel-catalogue.ts";
import type { Via } from "../requests/model/request.ts";
import type { RequestView } from "../requests/model/view.ts";
import type { InboundMessage, InboundResult } from "../requests/model/inbound-message.ts";

export type { FieldError } from "../requests/model/channel-catalogue.ts";
export type {
  Choice,
  InboundMessage,
  ReplyContent,
  ThreadContext,
  InboundResult,
} from "../requests/model/inbound-message.ts";

/** One message to one target. The same delivery may be sent twice, and says the same both times. */
export interface Notice<Target = unknown> {
  /** `dlv_…`: the only value that travels in buttons and payloads. */
  delivery: string;
  /** The message's public name, as in a Message-ID: `dlv_` and 22 letters. It tells nothing of the delivery's id. */
  messageName: string;
  target: Target;
  view: RequestView;
  /** The one-time page; deciding there is a deliberate press. Where `informsOnly`, the request's place in the inbox. */
  link: string;
  /** Four characters, per delivery; empty where `informsOnly`. */
  code: string;
  /** Twenty-six lower-case base32 characters; empty where `informsOnly`. */
  replyToken: string;
  /** Nothing in the message lets its reader decide: the asker can read it too, or its reader gets a copy only. */
  informsOnly: boolean;
  /** False: the arguments are longer than this channel shows whole, so it must offer no approval, only the link. */
  whole: boolean;
  reminder: boolean;
  /** It takes the place of a message whose link stood in words that a program can read. */
  renewal?: boolean;
  /** Words that stand first, such as those of an escalation. */
  opening: string | null;
}

/**
 * The provider's ids of the message. An answer that names no delivery is matched by `externalIds.thread`, where it is
 * given: a Message-ID, a Slack thread, or `from|to` of the phone numbers, as inbound messages carry them.
 */
export interface Sent {
  externalIds: Readonly<Record<string, string>>;
  /** Where words in its thread ask again: what an answer to them may hold, as `Notice.replyToken`. */
  replyToken?: string | undefined;
}

/** How a request ended, in words for people. */
export interface Closing {
  /** One sentence, such as "Approved by Ana Ruiz." */
  says: string;
  at: number;
  view: RequestView;
}

/** A message could not be sent. `retry: false` when trying again cannot help: the address or the credential is dead. */
export class DeliveryError extends Error {
  readonly retry: boolean;
  readonly retryAfterMs: number | undefined;
  readonly providerCode: string | undefined;

  constructor(says: string, more: { retry: boolean; retryAfterMs?: number; providerCode?: string; cause?: unknown }) {
    super(says, { cause: more.cause });
    this.name = "DeliveryError";
    this.retry = more.retry;
    this.retryAfterMs = more.retryAfterMs;
    this.providerCode = more.providerCode;
  }
}

/** Hands an inbound message to the core. Resolves after its changes are on disk. */
export type Receive = (message: InboundMessage) => Promise<InboundResult>;

/** A request as its bytes came; nothing of it has been checked. */
export interface RawRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Every header as it was sent, name and value in turn: a header given twice is seen twice. */
  rawHeaders: readonly string[];
  query: string;
  body: Buffer;
}

export interface HookReply {
  status: number;
  type?: string;
  body?: string;
}

/** An entry for a provider's signed requests. Answers 401 to whatever does not verify, and nothing happens. */
export interface Hook {
  /** Below the root, such as `/hooks/slack/events`; `:name` segments come back in `params`. */
  path: string;
  maxBytes: number;
  handle(http: RawRequest & { params: Readonly<Record<string, string>> }, receive: Receive): Promise<HookReply>;
}

/** One way to reach a person and to hear back. Knows its wire; never whom to ask, when, or whether an answer counts. */
export interface Channel<Target = unknown> {
  readonly name: ChannelName;
  /** The value of `user_info.via` for answers that come through this channel. */
  readonly via: Via;
  readonly fields: Readonly<Record<string, ChannelField>>;
  /** The longest arguments it can show whole, in characters; 0 = nothing is ever decided here. */
  readonly wholeLimit: number;
  /** Programs read its messages: they get every word as it is, without changes against look-alikes of our own words. */
  readonly isForPrograms?: true;
  /** Whether such a message has room for all of a call beside what else it must say; where it is missing, always. */
  showsWhole?(notice: Notice<Target>): boolean;
  /**
   * Checks a target as the agent sent it (snake_case), purely; runs when the request is posted. A mail may name `others`:
   * each gets a message of its own, and who is only `informed` is not asked.
   */
  parse(
    input: Readonly<Record<string, unknown>>,
  ): { target: Target; others?: readonly Target[] } | { errors: FieldError[] };
  /** Asks the provider whether the target exists. */
  check?(target: Target, signal: AbortSignal): Promise<FieldError[]>;
  /** @throws {DeliveryError} */
  send(notice: Notice<Target>, signal: AbortSignal): Promise<Sent>;
  /** Shows where the message was sent that the request is over. @throws {DeliveryError} */
  close?(target: Target, sent: Sent, closing: Closing, signal: AbortSignal): Promise<void>;
  /** Says something to whoever got the message; without its ids, as a message of its own. @throws {DeliveryError} */
  tell?(target: Target, sent: Sent, words: string, signal: AbortSignal): Promise<void>;
  readonly inbound?: {
    hooks?: readonly Hook[];
    /** Listens on sockets until aborted; resolves when it has let go of them. */
    listen?(receive: Receive, signal: AbortSignal): Promise<void>;
  };
}
