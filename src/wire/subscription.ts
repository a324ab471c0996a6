/** A subscription to notices of questions, as it travels (spec/ask-a-human 4.5). */
import { z } from "zod";
import { isPublicHttps } from "../lib/network/public-address.ts";
import { TAGS } from "../questions/model/question.ts";
import { isJsonObject, membersOf } from "../lib/json/exact-json.ts";
import { isTimeZone } from "../questions/model/streak.ts";
import { custom, faultsOf, integer, rule, ruleOfAll, text, words, type InnerFault } from "./fields.ts";

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

const P256DH_BYTES = 65;
const AUTH_BYTES = 16;
const CLOCK_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

const ENDPOINT = text(1, 2048).check(
  rule((endpoint) =>
    isPublicHttps(endpoint) ? null : { says: "must be an https address on the internet", constraint: "public_https" },
  ),
);

function subscriptionFaults({ endpoint, keys }: WirePushSubscription): InnerFault[] {
  const { p256dh, auth } = (keys ?? {}) as Partial<WirePushSubscription["keys"]>;
  return [
    ...faultsOf(ENDPOINT, endpoint, "endpoint"),
    ...(isBytes(p256dh, P256DH_BYTES) ? [] : [bytesFault("p256dh", P256DH_BYTES)]),
    ...(isBytes(auth, AUTH_BYTES) ? [] : [bytesFault("auth", AUTH_BYTES)]),
  ];
}

function isBytes(value: unknown, bytes: number): boolean {
  return typeof value === "string" && /^[\w-]+=*$/.test(value) && Buffer.from(value, "base64url").length === bytes;
}

function bytesFault(name: string, bytes: number): InnerFault {
  return { at: ["keys", name], says: `must be ${bytes} bytes, base64url`, constraint: "format" };
}

function areQuietHours(value: unknown): boolean {
  const { start, end, time_zone: zone } = membersOf(value);
  const areTimes = [start, end].every((time) => typeof time === "string" && CLOCK_TIME.test(time));
  return areTimes && typeof zone === "string" && isTimeZone(zone);
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

export const WirePushSubscription = custom<WirePushSubscription>(SUBSCRIPTION, isJsonObject, "must be an object")
  .check(rule(subscriptionFaults))
  .meta({ id: "PushSubscription" });
export const WireQuietHours = custom<WireQuietHours>(QUIET_HOURS, areQuietHours, {
  says: "must hold start and end as HH:MM and a time_zone",
  constraint: "format",
}).meta({ id: "QuietHours" });

const settings = {
  fcm_token: text(1, 4096).optional(),
  subscription: WirePushSubscription.optional(),
  min_interval_minutes: integer(5, 1440).meta({ default: 30 }).optional(),
  audience: words(TAGS).describe("Tags of interest; all when left out").optional(),
  quiet_hours: WireQuietHours.optional(),
};

const ONE_ADDRESS = {
  says: "",
  message: "exactly one of fcm_token and subscription is needed",
  constraint: "exactly_one",
};
const checkOneAddress = ruleOfAll((given: { fcm_token?: unknown; subscription?: unknown }) =>
  (given.fcm_token === undefined) !== (given.subscription === undefined)
    ? null
    : [{ at: ["fcm_token"], ...ONE_ADDRESS }],
);

export const NewSubscriptionBody = z.object(settings).check(checkOneAddress).meta({ id: "NewSubscription" });
export type NewSubscriptionBody = z.output<typeof NewSubscriptionBody>;

/** The same for a subscription that is there. */
export const ChangedSubscriptionBody = z
  .object({
    ...settings,
    subscription_id: z.string().optional(),
  })
  .check(checkOneAddress)
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
