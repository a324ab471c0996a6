import type { Requester } from "../requester.ts";
import { auditNoun } from "../requests/create/create-request.ts";
import { planWebhooks } from "./webhook-endpoints.ts";

/** `agent` that asks by A2H: its webhook endpoints are notified of the end, too (spec/a2h 17). */
export function a2hRequester(agent: Requester): Requester {
  return {
    ...agent,
    async ended(tx, over) {
      await agent.ended(tx, over);
      await planWebhooks(tx, over, `${auditNoun(over)}.completed`);
    },
  };
}
