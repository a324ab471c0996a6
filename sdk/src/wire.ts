/** Every body of the Ask-a-Human door, and of the A2H door as far as the client speaks it, as it travels. */
import type {
  AnswerReceipt,
  CallStatus,
  FeedQuestion,
  Leaderboard,
  NewEvidence,
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
  LeaderboardName,
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

export type { SignedIn } from "./wire-schemas.ts";

// Requests to named people, by A2H

export type {
  Answer,
  Approval,
  Ask,
  CallOutcome,
  CallStatus,
  ContactChannel,
  FailedValidation,
  FunctionCall,
  GroupList,
  Human,
  HumanContact,
  HumanPage,
  McpRequest,
  Message,
  MessageStatus,
  Responder,
  PlanUsed,
  ResponseOption,
  WholePlan,
} from "./wire-schemas.ts";

/** Something that people see beside a plan: Markdown, a diff, a table, a link or an image. None of it is fetched. */
export type Evidence = Given<NewEvidence>;

/** Members that the states of calls and messages share. */
export type RequestStatus = Pick<
  CallStatus,
  "responded_at" | "user_info" | "expired" | "cancelled" | "failed_validation_details" | "inquiries"
>;

/** The members of a receipt that say how a request was decided; the receipt is the payload of a JWS. */
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
