import type { Context } from "../context.ts";
import { countWebhooks, type WebhookQueue } from "./store/webhook-queue.ts";

/** Returns the state of webhook deliveries: the waiting events, and the endpoints that do not answer. */
export function readWebhookQueue(ctx: Pick<Context, "db">): Promise<WebhookQueue> {
  return countWebhooks(ctx.db);
}
