import { lineDiff } from "../../../lib/line-diff.ts";
import { previewRule, readEditable, saveRule } from "../../../policy/edit-file.ts";
import type { RuleChange } from "../../../policy/model/rule-edit.ts";
import { loadPolicy } from "../../../policy/model/text.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { RulePreviewBody, RuleSaveBody, WirePolicyFile, WireRulePreview, WireRuleSaved } from "../../../wire/policy.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { ADMIN_REFUSALS } from "./access-routes.ts";
import { replayed } from "./policy-replay.ts";

const RULE_BYTES = 262_144;
const tags = ["administration"];
const body = { bodyLimit: RULE_BYTES, config: { takesBody: true, maxBodyBytes: RULE_BYTES } } as const;
const changes = { 400: ErrorBody, 409: ErrorBody, ...ADMIN_REFUSALS } as const;

/** Mounts the routes that read the policy file to edit it, show a change of one rule, and save it as it was shown. */
export function editRoutes(app: Door, door: DoorContext): void {
  lookingRoutes(app, door);
  savingRoute(app, door);
}

function lookingRoutes(app: Door, door: DoorContext): void {
  const { ctx, config } = door;
  const path = config.relay.policyFile;

  app.get(
    "/admin/policy/file",
    {
      schema: {
        tags,
        summary: "The rules of the policy file as they stand, and whether they can be changed",
        response: { 200: jsonReply(WirePolicyFile), ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      const { digest, fixed, servers, rules } = await readEditable(ctx, path);
      return { path, digest, fixed, servers: [...servers], rules: [...rules] } satisfies WirePolicyFile;
    },
  );

  app.post(
    "/admin/policy/file/preview",
    {
      ...body,
      schema: {
        tags,
        summary: "A change of one rule of the policy file, as a diff and on recorded calls",
        body: RulePreviewBody,
        response: { 200: jsonReply(WireRulePreview), ...changes },
      },
    },
    async (http) => {
      await administrator(door, http);
      const { since_s, ...change } = http.body as RulePreviewBody;
      const { before, text, policy, rule, digest } = await previewRule(ctx, path, changeOf(change));
      return {
        rule,
        shown: digest,
        diff: lineDiff(before, text).join("\n"),
        before: await replayed(door, await loadPolicy(before), since_s),
        after: await replayed(door, policy, since_s),
      } satisfies WireRulePreview;
    },
  );
}

function savingRoute(app: Door, door: DoorContext): void {
  const { ctx, policy: file, config } = door;
  const path = config.relay.policyFile;

  app.post(
    "/admin/policy/file",
    {
      ...body,
      schema: {
        tags,
        summary: "Save a change of one rule into the policy file, exactly as it was shown",
        body: RuleSaveBody,
        response: { 200: jsonReply(WireRuleSaved), ...changes },
      },
    },
    async (http) => {
      const by = await administrator(door, http);
      const { shown, ...change } = http.body as RuleSaveBody;
      const edited = { path, edit: (work: (text: string) => Promise<string>) => file.edit(work) };
      const { rule, digest, policy } = await saveRule(ctx, edited, { ...changeOf(change), shown, by });
      return { rule, digest, policy_version: policy.policyVersion } satisfies WireRuleSaved;
    },
  );
}

function changeOf({ rule = "", ...change }: Omit<RuleSaveBody, "shown">): RuleChange & { from: string } {
  return { ...change, rule };
}
