/** A subscription to notices of questions, as it travels (spec/ask-a-human 4.5). */
import { z } from "zod";
import { isPublicHttps } from "../lib/network/public-address.ts";
import { TAGS } from "../questions/model/question.ts";
import { textProblem, type FieldProblem } from "../core/model/field-problem.ts";
import { isTimeZone } from "../questions/model/streak.ts";
import { checkedField, fields, idField, integerField, optional, textField, wordsField } from "./fields.ts";

/** A subscription as browsers write it (W3C Push API). */
export interface WirePushSubscription {
  endpoint: string;
  expirationTime?: number | null;
  keys: { p256dh: string; auth: string };
}

export interface WireQuietHours {
  start: string;
  end: string;
  time_zone: string;
}

const ENDPOINT_MAX = 2048;
const P256DH_BYTES = 65;
const AUTH_BYTES = 16;
const CLOCK_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

const problemAt = (field: string, constraint: string, message: string): FieldProblem => ({
  message: `${field} ${message}`,
  field,
  constraint,
});

function subscriptionProblems(value: unknown): FieldProblem[] {
  const at = "subscription";
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [problemAt(at, "type", "must be an object")];
  }
  const { endpoint, keys } = value as { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
  return [
    endpointProblem(`${at}.endpoint`, endpoint),
    bytesProblem(`${at}.keys.p256dh`, keys?.p256dh, P256DH_BYTES),
    bytesProblem(`${at}.keys.auth`, keys?.auth, AUTH_BYTES),
  ].filter((problem) => problem !== null);
}

function endpointProblem(field: string, endpoint: unknown): FieldProblem | null {
  if (endpoint === undefined) return problemAt(field, "required", "is required");
  if (typeof endpoint !== "string") return problemAt(field, "type", "must be a string");
  const problem = textProblem(field, endpoint, 1, ENDPOINT_MAX);
  if (problem) return problem;
  return isPublicHttps(endpoint) ? null : problemAt(field, "public_https", "must be an https address on the internet");
}

function bytesProblem(field: string, value: unknown, bytes: number): FieldProblem | null {
  const isBase64 = typeof value === "string" && /^[\w-]+=*$/.test(value);
  if (isBase64 && Buffer.from(value, "base64url").length === bytes) return null;
  return problemAt(field, "format", `must be ${bytes} bytes, base64url`);
}

function quietHoursProblem(value: unknown): FieldProblem | null {
  const given = (typeof value === "object" && value !== null ? value : {}) as Record<keyof WireQuietHours, unknown>;
  const isClock = (text: unknown) => typeof text === "string" && CLOCK_TIME.test(text);
  const isZone = typeof given.time_zone === "string" && isTimeZone(given.time_zone);
  if (isClock(given.start) && isClock(given.end) && isZone) return null;
  return problemAt("quiet_hours", "format", "must hold start and end as HH:MM and a time_zone");
}

const word = { type: "string" };
const SUBSCRIPTION = {
  type: "object",
  description: "W3C PushSubscription JSON",
  properties: {
    endpoint: word,
    expirationTime: { type: ["number", "null"] },
    keys: { type: "object", properties: { p256dh: word, auth: word }, required: ["p256dh", "auth"] },
  },
  required: ["endpoint", "keys"],
} as const;
const QUIET_HOURS = {
  type: "object",
  properties: { start: word, end: word, time_zone: word },
  required: ["start", "end", "time_zone"],
} as const;

export const WirePushSubscription = checkedField<WirePushSubscription>(SUBSCRIPTION, subscriptionProblems).meta({
  id: "PushSubscription",
});
export const WireQuietHours = checkedField<WireQuietHours>(QUIET_HOURS, quietHoursProblem).meta({ id: "QuietHours" });

const settings = {
  fcm_token: optional(textField("fcm_token", 1, 4096)),
  subscription: optional(WirePushSubscription),
  min_interval_minutes: optional(integerField("min_interval_minutes", 5, 1440, { default: 30 })),
  audience: optional(wordsField("audience", TAGS, { description: "Tags of interest; all when left out" })),
  quiet_hours: optional(WireQuietHours),
};

function checkOneAddress(given: { fcm_token?: unknown; subscription?: unknown }, context: z.RefinementCtx): void {
  if ((given.fcm_token === undefined) !== (given.subscription === undefined)) return;
  const message = "exactly one of fcm_token and subscription is needed";
  const problem: FieldProblem = { message, field: "fcm_token", constraint: "exactly_one" };
  context.addIssue({ code: "custom", message, params: { problem } });
}

export const NewSubscriptionBody = fields(settings).superRefine(checkOneAddress).meta({ id: "NewSubscription" });
export type NewSubscriptionBody = z.output<typeof NewSubscriptionBody>;

/** The same for a subscription that is there. */
export const ChangedSubscriptionBody = fields({
  ...settings,
  subscription_id: optional(idField("subscription_id")),
})
  .superRefine(checkOneAddress)
  .meta({ id: "ChangedSubscription" });
export type ChangedSubscriptionBody = z.output<typeof ChangedSubscriptionBody>;

export const WireSubscriptionReceipt = z
  .object({
    subscription_id: z.string(),
    status: z.literal("active"),
    delivers: z.literal(false).optional(),
    reason: z.string().optional(),
  })
  .meta({ id: "SubscriptionReceipt" });
export type WireSubscriptionReceipt = z.output<typeof WireSubscriptionReceipt>;

export const WirePushKey = z.object({ vapid_public_key: z.string() }).meta({ id: "PushKey" });
export type WirePushKey = z.output<typeof WirePushKey>;
