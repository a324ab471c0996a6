import type { Context } from "../context.ts";
import { countWebhooks, type WebhookQueue } from "./store/webhook-queue.ts";

/** Returns how agents are told at their webhook endpoints: what waits, and which endpoints do not answer. */
export function readWebhookQueue(ctx: Pick<Context, "db">): Promise<WebhookQueue> {
  return countWebhooks(ctx.db);
}
