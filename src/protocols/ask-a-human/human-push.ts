import type { PushSettings } from "../../notices/model/push-settings.ts";
import { readVapidKey } from "../../notices/read-vapid-key.ts";
import { refreshPush, subscribePush, unsubscribePush, type Subscribed } from "../../notices/subscribe-push.ts";
import { callerOf, type Door, type DoorContext, type FastifyReply } from "../http/door.ts";
import { addressLimit, issueCredential } from "./human-access.ts";
import { subscriptionIdOf } from "../http/ids.ts";
import { ErrorBody, NoContent } from "../../wire/error.ts";
import {
  ChangedSubscriptionBody,
  NewSubscriptionBody,
  WirePushKey,
  WireSubscriptionReceipt,
} from "../../wire/subscription.ts";

const errors = { 400: ErrorBody, 401: ErrorBody, 404: ErrorBody, 429: ErrorBody } as const;

/** The subscriptions of people to notices of questions (spec/ask-a-human 4.5). */
export function humanPush(app: Door, door: DoorContext): void {
  const { ctx } = door;
  const { pushRegistrationsPerHour } = ctx.crowd.limits;
  const counted = {
    config: { takesBody: true },
    ...addressLimit(door, "push registrations", pushRegistrationsPerHour),
  };

  app.post(
    "/human/push/subscribe",
    {
      ...counted,
      schema: {
        tags: ["people"],
        summary: "Be told of questions",
        body: NewSubscriptionBody,
        response: { 201: WireSubscriptionReceipt, 200: WireSubscriptionReceipt, ...errors },
      },
    },
    async (http, reply) => {
      const settings = settingsOf(http.body as NewSubscriptionBody);
      return sendReceipt(door, reply, await subscribePush(ctx, callerOf(http), settings), settings);
    },
  );

  app.put(
    "/human/push/subscribe",
    {
      ...counted,
      schema: {
        tags: ["people"],
        summary: "Refresh a subscription",
        body: ChangedSubscriptionBody,
        response: { 201: WireSubscriptionReceipt, 200: WireSubscriptionReceipt, ...errors },
      },
    },
    async (http, reply) => {
      const body = http.body as ChangedSubscriptionBody;
      const id = body.subscription_id === undefined ? undefined : subscriptionIdOf(body.subscription_id);
      const settings = settingsOf(body);
      return sendReceipt(door, reply, await refreshPush(ctx, callerOf(http), id, settings), settings);
    },
  );

  app.delete<{ Params: { id: string } }>(
    "/human/push/subscribe/:id",
    { schema: { tags: ["people"], summary: "End a subscription", response: { 204: NoContent, ...errors } } },
    async (http, reply) => {
      await unsubscribePush(ctx, subscriptionIdOf(http.params.id));
      return reply.code(204).send();
    },
  );

  app.get(
    "/human/push/key",
    { schema: { tags: ["people"], summary: "Public key for Web Push", response: { 200: WirePushKey } } },
    async (): Promise<WirePushKey> => ({ vapid_public_key: await readVapidKey(ctx) }),
  );
}

/** Says that a subscription stands, and whether anything can be delivered to it. */
function sendReceipt(
  door: DoorContext,
  reply: FastifyReply,
  subscribed: Subscribed,
  settings: PushSettings,
): FastifyReply {
  const sendsToFcm = door.config.push.fcmKeyFile !== undefined;
  issueCredential(door, reply, subscribed.issue);
  const receipt: WireSubscriptionReceipt = {
    subscription_id: subscribed.id,
    status: "active",
    // Kept all the same, so that it works from the moment the server is given Firebase credentials.
    ...(settings.kind === "fcm" && !sendsToFcm && { delivers: false, reason: "fcm_not_configured" }),
  };
  return reply.code(subscribed.created ? 201 : 200).send(receipt);
}

function settingsOf(body: NewSubscriptionBody): PushSettings {
  const { fcm_token: token, subscription } = body;
  const shared = {
    minIntervalMinutes: body.min_interval_minutes ?? 30,
    audience: body.audience ?? [],
    quietHours: body.quiet_hours
      ? { start: body.quiet_hours.start, end: body.quiet_hours.end, time_zone: body.quiet_hours.time_zone }
      : null,
  };
  if (subscription) {
    const keys = { p256dh: subscription.keys.p256dh, auth: subscription.keys.auth };
    return { kind: "web", address: subscription.endpoint, keys, ...shared };
  }
  return { kind: "fcm", address: token ?? "", keys: null, ...shared };
}
