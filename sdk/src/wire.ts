/** Every body of the Ask-a-Human door, as it travels. */

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
  /** Only with `expand: "meta"`. */
  integrity?: { networks: number; participants: number };
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
  points_breakdown?: PointsBreakdown;
  streak_days?: number;
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
  points_today?: number;
  badge_progress?: BadgeProgress[];
}

export const PERIODS = ["daily", "weekly", "all_time"] as const;
export type Period = (typeof PERIODS)[number];

export interface LeaderboardEntry {
  rank: number;
  points: number;
  answers: number;
  is_current_user?: boolean;
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

export interface SignedIn {
  person: { id: string; name: string; role: string };
}

// Refusals

export type ErrorCode =
  | "VALIDATION_ERROR"
  | "UNAUTHORIZED"
  | "AGENT_QUOTA_EXCEEDED"
  | "ORIGIN_REFUSED"
  | "SELF_ANSWER"
  | "ANSWER_FIRST"
  | "QUESTION_NOT_FOUND"
  | "SUBSCRIPTION_NOT_FOUND"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "ALREADY_ANSWERED"
  | "IDEMPOTENCY_MISMATCH"
  | "QUESTION_CLOSED"
  | "PAYLOAD_TOO_LARGE"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "MISDIRECTED"
  | "RATE_LIMITED"
  | "SERVER_ERROR"
  | "STORE_UNAVAILABLE";

export interface ErrorBody {
  error: {
    code: ErrorCode;
    message: string;
    details?: Record<string, unknown>;
  };
}
