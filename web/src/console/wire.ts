/** Bodies that admins send and get, by the names that the pages have for them. */
import type { EnrolledHuman, RevokedKey } from "@parley/sdk/admin";

export type {
  AuditChain as Chain,
  AuditEntry,
  AuditPage,
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
  Webhook as Endpoint,
  WebhookDelivery as Delivery,
  WebhookDeliveryPage as DeliveryPage,
} from "@parley/sdk/admin";

export const PERSON_CHANNELS = ["inbox", "email", "slack", "sms", "whatsapp", "webhook"] as const;
export type PersonChannel = (typeof PERSON_CHANNELS)[number];
/** One way to reach somebody: one channel, and its fields. */
export type ContactChannel = Partial<Record<PersonChannel, Readonly<Record<string, unknown>>>>;

/** A person, and how to reach them. */
export interface Human extends Omit<EnrolledHuman, "createdAt" | "updatedAt" | "prioritizedContactChannels"> {
  prioritizedContactChannels: readonly ContactChannel[];
}

export type HumanWish = Omit<Human, "id">;

export type Scope = RevokedKey["scope"];
/** In the order that the page offers them in. */
export const SCOPES: readonly Scope[] = ["agent", "answer", "executor", "assign", "admin"];

export interface AuditFilter {
  ask_id?: string;
  agent?: string;
  action?: string;
}
