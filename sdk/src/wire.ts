/** Every body of the Ask-a-Human door, and of the A2H door as far as the client speaks it, as it travels. */
import type {
  AnswerReceipt,
  FeedQuestion,
  Leaderboard,
  NewQuestion as NewQuestionBody,
  NewSubscription as NewSubscriptionBody,
  PushSubscription,
  QuestionList,
  Question,
  Stats,
} from "./wire-schemas.ts";

export type {
  AnswerReceipt,
  FeedPage,
  HumanQuestion,
  Leaderboard,
  NewAnswer,
  Question,
  QuestionReceipt,
  QuestionResponse,
  QuestionResults,
  QuietHours,
  RecoveryCode,
  Stats,
  SubscriptionReceipt,
} from "./wire-schemas.ts";

/** A body as programs give it: nothing in it is changed. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { [Name in keyof T]: Given<T[Name]> }
    : T;

export const AUDIENCES = [
  "technical",
  "product",
  "ethics",
  "creative",
  "general",
] as const satisfies Question["audience"];
export type Audience = Question["audience"][number];

export type QuestionType = Question["type"];

export type QuestionStatus = Question["status"];

/** A question that is final takes no more answers, ever. */
export function isFinal(status: QuestionStatus): boolean {
  return status === "CLOSED" || status === "EXPIRED";
}

/**
 * A question to ask. Where `type` is left out, the client sends `multiple_choice` if there are options, else `text`;
 * where `idempotency_key` is left out, it makes one, so that a retried request asks only once.
 */
export interface NewQuestion extends Omit<Given<NewQuestionBody>, "type"> {
  type?: QuestionType;
}

/** One page of one's own questions. */
export type QuestionPage = Required<Pick<QuestionList, "questions" | "next_cursor">>;

/** Questions by id. */
export type QuestionBatch = Required<Pick<QuestionList, "questions" | "not_found">>;

export type FeedItem = FeedQuestion;
export type PointsBreakdown = AnswerReceipt["points_breakdown"];
export type EarnedBadge = Stats["badges"][number];
export type BadgeProgress = Stats["badge_progress"][number];

export const PERIODS = ["daily", "weekly", "all_time"] as const satisfies readonly Leaderboard["period"][];
export type Period = Leaderboard["period"];
export type LeaderboardEntry = Leaderboard["entries"][number];

export const REPORT_REASONS = ["spam", "personal_data", "unsafe", "unclear", "other"] as const;
export type ReportReason = (typeof REPORT_REASONS)[number];

export type WebPushSubscription = PushSubscription;
export type NewSubscription = Given<NewSubscriptionBody>;

/** One event of the feed's stream. */
export type FeedEvent =
  | { event: "opened"; data: { question_id: string; responses_needed?: number } }
  | { event: "needs"; data: { question_id: string; responses_needed: number } }
  | { event: "gone"; data: { question_id: string } };

// Sessions of named people

export interface SignedIn {
  person: { id: string; name: string; role: "admin" | "member" };
}

// What named people are asked, by A2H

/**
 * Whom to ask, where a name does not say it: `{ slack: { channel_or_user_id } }`, `{ email: { address } }`,
 * `{ all_of: [...] }`, `{ quorum: { min, of } }` and the others of docs/reference/a2h.md.
 */
export type ContactChannel = Readonly<Record<string, unknown>>;

/** A ready-made way to reject, or to answer. */
export interface ResponseOption {
  /** Comes back with the decision. */
  name: string;
  /** What people see; left out, the name. */
  title?: string;
  description?: string;
  /** The text of the answer, or its start. */
  prompt_fill?: string;
  interactive?: boolean;
}

/** Who decided or answered; of people no more than how the agent may know them. */
export interface Responder {
  id?: string;
  name: string;
  role?: string;
  email?: string;
  via: "web" | "slack" | "email" | "sms" | "whatsapp" | "webhook" | "api" | "policy";
  /** False: nobody that the operator has enrolled, but somebody at an address that the request named. */
  enrolled?: boolean;
}

/** An answer that did not count, such as one that does not fit the schema. */
export interface FailedValidation {
  at: string;
  via: Responder["via"];
  responder: { name: string };
  reason: string;
  input?: unknown;
  errors?: unknown;
  attempts?: number;
}

/** What the state of calls and of messages has in common. */
export interface RequestStatus {
  responded_at?: string;
  user_info?: Responder;
  expired?: boolean;
  cancelled?: boolean;
  failed_validation_details?: FailedValidation;
}

/** One approval, where several people have to agree. */
export interface Approval {
  user_info?: Responder;
  approved?: boolean;
  comment?: string;
  at: string;
  consent_digest?: string;
}

export interface CallStatus extends RequestStatus {
  ask_id: string;
  requested_at: string;
  expires_at?: string;
  resolved_at?: string;
  consent_digest: string;
  /** Where it was answered, if that was on Slack. */
  slack_context?: { team_id?: string; channel_id?: string; user_id?: string; message_ts?: string; thread_ts?: string };
  slack_message_ts?: string;
  deliveries?: { via: string; state: "queued" | "sent" | "failed"; at: string }[];
  approvals?: Approval[];
  approved?: boolean;
  comment?: string;
  reject_option_name?: string;
  /** These two where people may edit, once they have approved. */
  kwargs?: Record<string, unknown>;
  edited?: boolean;
}

export interface FunctionCall {
  run_id: string;
  call_id: string;
  spec: {
    fn: string;
    kwargs: Record<string, unknown>;
    /** The agent's own words, which are no part of what is approved. */
    msg?: string;
    channel?: ContactChannel;
    reject_options?: readonly ResponseOption[];
    state?: Record<string, unknown>;
    timeout_seconds?: number;
    on_timeout?: "expire" | "keep";
    escalation?: readonly { after_seconds: number; channel: ContactChannel; escalation_msg: string }[];
    editable?: boolean;
    kwargs_schema?: Record<string, unknown>;
  };
  status: CallStatus;
}

export interface MessageStatus extends RequestStatus {
  humanMessage?: string;
  /** Present exactly where there is a schema. */
  response?: unknown;
}

export interface Message {
  apiVersion: "proto.a2h.dev/v1alpha1";
  kind: "Message";
  metadata: { uid: string };
  spec: {
    message: string;
    response_schema?: Record<string, unknown>;
    channel_id?: string | number;
    timeout_seconds?: number;
    on_timeout?: "expire" | "keep";
  };
  status: MessageStatus;
}

export interface Human {
  id: string;
  name: string;
  description?: string;
}

/** What a receipt says of one decision, among other things; it is the payload of a JWS. */
export interface ReceiptPayload {
  /** The server's id of the request. */
  jti: string;
  door: string;
  call_id: string | null;
  /** Who asked: `agent:NAME` of a key, `open:NAME` of a program without one. */
  agent: string;
  consent_digest: string | null;
  outcome: "approved" | "rejected" | "answered" | "expired" | "cancelled";
  /** Who decided; a person by id. */
  decided: readonly { kind: string; id: string }[];
  /** Milliseconds since 1970, by the server's clock. */
  asked_at: number;
  settled_at: number;
}
