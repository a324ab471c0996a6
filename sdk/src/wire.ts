/** Every body of the Ask-a-Human door, and of the A2H door as far as the client speaks it, as it travels. */

export const AUDIENCES = ["technical", "product", "ethics", "creative", "general"] as const;
export type Audience = (typeof AUDIENCES)[number];

export type QuestionType = "text" | "multiple_choice";

export type QuestionStatus = "OPEN" | "PARTIAL" | "CLOSED" | "EXPIRED";

/** A question that is final takes no more answers, ever. */
export function isFinal(status: QuestionStatus): boolean {
  return status === "CLOSED" || status === "EXPIRED";
}

// What an agent sends and gets

export interface NewQuestion {
  prompt: string;
  /** Left out, the client sends `multiple_choice` when there are options, else `text`. */
  type?: QuestionType;
  options?: readonly string[];
  audience?: readonly Audience[];
  min_responses?: number;
  timeout_seconds?: number;
  /** Left out, the client makes one, so that a retried request asks only once. */
  idempotency_key?: string;
  share_results?: boolean;
  /** Whom to ask, by the id of a human, if the crowd has not answered after `fallback_after_seconds`. */
  fallback_human?: string;
  fallback_after_seconds?: number;
}

export interface QuestionReceipt {
  question_id: string;
  status: QuestionStatus;
  poll_url: string;
  created_at: string;
  expires_at: string;
}

export interface QuestionResponse {
  answer?: string;
  selected_option?: number;
  confidence?: number;
  /** These three only with `expand: "meta"`. */
  response_id?: string;
  created_at?: string;
  tier?: "anonymous" | "returning" | "named";
}

export interface Question {
  question_id: string;
  status: QuestionStatus;
  prompt: string;
  type: QuestionType;
  options?: string[];
  audience: Audience[];
  required_responses: number;
  current_responses: number;
  created_at: string;
  expires_at: string;
  closed_at?: string;
  expired_at?: string;
  cancelled?: true;
  responses: QuestionResponse[];
  /** Option text to votes, every option present. */
  summary?: Record<string, number>;
  /** From how many networks the answers came, as far as their days tell, and how many participants gave them. */
  integrity: { networks: number; participants: number };
}

export interface QuestionPage {
  questions: Question[];
  next_cursor: string | null;
}

export interface QuestionBatch {
  questions: Question[];
  not_found: string[];
}

// What a person sends and gets

export interface FeedItem {
  question_id: string;
  prompt: string;
  type: QuestionType;
  options?: string[];
  audience: Audience[];
  responses_needed: number;
  created_at: string;
  expires_at: string;
  points: number;
}

export interface FeedPage {
  questions: FeedItem[];
  next_cursor: string | null;
  /** When the newest question ever was asked; null before the first. */
  last_created_at: string | null;
}

export interface HumanQuestion extends FeedItem {
  can_answer: boolean;
  reason?: "already_answered";
}

export interface NewAnswer {
  question_id: string;
  answer?: string;
  selected_option?: number;
  /** 1 (a guess) to 5 (certain). */
  confidence?: number;
}

export interface PointsBreakdown {
  base?: number;
  confidence?: number;
  thoughtful?: number;
  quick?: number;
  in_demand?: number;
  streak?: number;
  cap?: number;
}

export interface AnswerReceipt {
  response_id: string;
  points_earned: number;
  new_badges: string[];
  total_points: number;
  points_breakdown: PointsBreakdown;
  streak_days: number;
}

export interface QuestionResults {
  question_id: string;
  status: QuestionStatus;
  required_responses: number;
  current_responses: number;
  summary?: Record<string, number>;
  responses?: QuestionResponse[];
}

export interface EarnedBadge {
  id: string;
  name: string;
  earned_at: string;
}

export interface BadgeProgress {
  id: string;
  name: string;
  have: number;
  need: number;
}

export interface Stats {
  total_points: number;
  total_answers: number;
  streak_days: number;
  badges: EarnedBadge[];
  rank: number | null;
  answers_by_category: Partial<Record<Audience, number>>;
  points_today: number;
  badge_progress: BadgeProgress[];
}

export const PERIODS = ["daily", "weekly", "all_time"] as const;
export type Period = (typeof PERIODS)[number];

export interface LeaderboardEntry {
  rank: number;
  points: number;
  answers: number;
  is_current_user: boolean;
}

export interface Leaderboard {
  period: Period;
  entries: LeaderboardEntry[];
  your_rank: number | null;
  your_points: number;
}

export const REPORT_REASONS = ["spam", "personal_data", "unsafe", "unclear", "other"] as const;
export type ReportReason = (typeof REPORT_REASONS)[number];

export interface QuietHours {
  /** `HH:MM` */
  start: string;
  end: string;
  time_zone: string;
}

export interface WebPushSubscription {
  endpoint: string;
  expirationTime?: number | null;
  keys: { p256dh: string; auth: string };
}

export interface NewSubscription {
  fcm_token?: string;
  subscription?: WebPushSubscription;
  min_interval_minutes?: number;
  audience?: readonly Audience[];
  quiet_hours?: QuietHours;
}

export interface SubscriptionReceipt {
  subscription_id: string;
  status: "active";
  delivers?: false;
  reason?: string;
}

export interface RecoveryCode {
  code: string;
  expires_at: string;
}

/** What the feed's event stream says. */
export type FeedEvent =
  | { event: "opened"; data: { question_id: string; responses_needed?: number } }
  | { event: "needs"; data: { question_id: string; responses_needed: number } }
  | { event: "gone"; data: { question_id: string } };

// Sessions of named people

export type { SignedIn } from "./wire-schemas.ts";

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
