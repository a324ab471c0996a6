/** Bodies that admins send and get, by the names that the pages have for them. */
import type { RevokedKey } from "../../../sdk/src/wire-schemas.ts";

export type {
  AuditChain as Chain,
  ChannelReport,
  ChannelState,
  ChannelTest,
  CreatedKey,
  HealthReport as Verdict,
  KeyList,
  NewKey as KeyWish,
  Person,
  PersonList,
  RevokedKey as Key,
  SignInLink,
} from "../../../sdk/src/wire-schemas.ts";

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

export type Scope = RevokedKey["scope"];
/** In the order that the page offers them in. */
export const SCOPES: readonly Scope[] = ["agent", "answer", "executor", "assign", "admin"];

export interface Endpoint {
  id: string;
  agent: string;
  url: string;
  format: string;
  events: readonly string[];
  description: string;
  enabled: boolean;
  created_at: string;
}

export interface Delivery {
  id: string;
  event: string;
  state: "pending" | "delivered" | "dead";
  attempts: number;
  created_at: string;
  status?: number;
  error?: string;
  next_attempt_at?: string;
}

export interface DeliveryPage {
  items: readonly Delivery[];
  next_cursor?: string;
}

export interface AuditEntry {
  seq: number;
  at: string;
  actor: { kind: string; id: string };
  action: string;
  agent?: string;
  ask_id?: string;
  via?: string;
  data?: Readonly<Record<string, unknown>>;
}

export interface AuditPage {
  items: readonly AuditEntry[];
  has_more: boolean;
}

export interface AuditFilter {
  ask_id?: string;
  agent?: string;
  action?: string;
}
