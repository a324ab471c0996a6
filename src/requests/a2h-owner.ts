import { WEBHOOK_DOOR } from "../notices/model/webhook-events.ts";
import type { RequestOwner } from "../owner.ts";
import { auditNoun } from "./address-ask.ts";
import { agentOwner, type OwningAgent } from "./agent-owner.ts";
import { planWebhooks } from "../notices/webhook-endpoints.ts";

/** An agent that asks by A2H, which is told of the end at its webhook endpoints, too (spec/a2h 17). */
export function a2hOwner(ctx: OwningAgent): RequestOwner {
  const agent = agentOwner(ctx, WEBHOOK_DOOR);
  return {
    ...agent,
    async ended(tx, over) {
      await agent.ended(tx, over);
      await planWebhooks(tx, over, `${auditNoun(over)}.completed`);
    },
  };
}
