import type { RequestOwner } from "../owner.ts";
import { auditNoun } from "../requests/address-ask.ts";
import { planWebhooks } from "./webhook-endpoints.ts";

/** `agent` that asks by A2H, which is told of the end at its webhook endpoints, too (spec/a2h 17). */
export function a2hOwner(agent: RequestOwner): RequestOwner {
  return {
    ...agent,
    async ended(tx, over) {
      await agent.ended(tx, over);
      await planWebhooks(tx, over, `${auditNoun(over)}.completed`);
    },
  };
}
