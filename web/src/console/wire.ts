/** What the server says to admins. */
export type {
  AuditEntry,
  AuditPage,
  Webhook as Endpoint,
  WebhookDelivery as Delivery,
  WebhookDeliveryPage as DeliveryPage,
} from "../../../sdk/src/wire-schemas.ts";

export interface Person {
  /** The number that names them everywhere. */
  id: string;
  name: string;
  role: "admin" | "member";
  sessions: number;
  /** Runs the server: stays an admin, and cannot be removed. */
  operator: boolean;
}

export const PERSON_CHANNELS = ["inbox", "email", "slack", "sms", "whatsapp", "webhook"] as const;
export type PersonChannel = (typeof PERSON_CHANNELS)[number];
/** One way to reach somebody: one channel, and its fields. */
export type ContactChannel = Partial<Record<PersonChannel, Readonly<Record<string, unknown>>>>;

/** What is written down of somebody, and how to reach them. */
export interface Human {
  id: string;
  name: string;
  description: string;
  role?: string;
  inboxScope: "addressed" | "all";
  prioritizedContactChannels: readonly ContactChannel[];
}

export type HumanWish = Omit<Human, "id">;

export const SCOPES = ["agent", "answer", "executor", "assign", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export interface Key {
  id: string;
  name: string;
  scope: Scope;
  person: string | null;
  self_respond: boolean;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

export interface KeyWish {
  name: string;
  scope: Scope;
  person?: string;
  expires_in_seconds?: number;
  self_respond?: boolean;
}

export interface ChannelState {
  channel: "push" | Exclude<PersonChannel, "inbox">;
  configured: boolean;
  sent_at: string | null;
  failed_at: string | null;
  error: string | null;
  retrying: number;
}

export interface ChannelTest {
  id: string;
  state: "sending" | "retrying" | "sent" | "failed" | "answered" | "over";
  attempts: number;
  error: string | null;
  via: string | null;
}

export interface AuditFilter {
  ask_id?: string;
  agent?: string;
  action?: string;
}

export interface Chain {
  holds: boolean;
  entries: number;
  broken_at: number | null;
  unsealed: number;
}

export interface Verdict {
  holds: boolean;
  quick: boolean;
  findings: readonly { check: string; promise: string; offenders: readonly string[] }[];
}
