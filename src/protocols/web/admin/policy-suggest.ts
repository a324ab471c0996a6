import { asciiJson } from "../../../lib/yaml-text.ts";
import { suggestedLines } from "../../../policy/model/suggested-text.ts";
import { suggestPolicy } from "../../../requests/read/suggest-policy.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { PolicySuggestBody, WirePolicySuggested } from "../../../wire/policy.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { ADMIN_REFUSALS } from "./access-routes.ts";

const MOST_CALLS = 10_000;

/** Mounts the route that proposes rules from what people decided on recorded calls. */
export function suggestRoute(app: Door, door: DoorContext): void {
  app.post(
    "/admin/policy/suggest",
    {
      config: { takesBody: true },
      schema: {
        tags: ["administration"],
        summary: "Rules that would allow what people approved",
        body: PolicySuggestBody,
        response: { 200: jsonReply(WirePolicySuggested), 400: ErrorBody, ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      return suggestBody(door, http.body as PolicySuggestBody);
    },
  );
}

/** Proposes rules beside those in force, from the newest recorded calls. Nothing is stored, and none is in force. */
async function suggestBody(
  { ctx, policy, config: { policy: settings, relay } }: DoorContext,
  { since_s }: PolicySuggestBody,
): Promise<WirePolicySuggested> {
  const { learnAfter: least } = settings;
  const about = { file: relay.policyFile, learn_after: least };
  if (least === 0) return { ...about, calls: 0, approved: 0, more: false, rules: [] };
  const span = { sinceMs: since_s * 1000, most: MOST_CALLS };
  const { calls, approved, more, rules } = await suggestPolicy(ctx, policy.current().policy, { ...span, least });
  return {
    ...about,
    calls,
    approved,
    more,
    rules: rules.map((rule) => ({
      id: rule.id,
      when: { ...rule.when },
      approved: rule.approved,
      examples: [...rule.examples],
      not_covered: [...rule.notCovered],
      lines: suggestedLines([rule]),
      flow: asciiJson({ id: rule.id, when: rule.when, decision: "ALLOW" }),
    })),
  };
}
