/** The policy, as admins see and try it (spec/relay 8). */
import { z } from "zod";
import { ASK_TYPES } from "../core/model/ask-type.ts";
import { later, text } from "./fields.ts";
import { nextField } from "./page.ts";

const orNull = z.string().nullable();
const decision = z.enum(["ALLOW", "DENY", "ESCALATE"]);

/** Something that was allowed for good, whether that has ended or not. */
export const WireEndedGrant = z
  .object({
    id: z.string(),
    action: z.string(),
    resource: z.string(),
    env: z.string(),
    tool: orNull,
    repo: orNull,
    agent: orNull,
    by: z.string(),
    ask_id: z.string(),
    digest: orNull.describe(
      "The digest of the arguments that are allowed, for a function call; null for asks of executors.",
    ),
    covers: orNull.describe(
      "What it covers, in a sentence; null where that is exactly one call, or one class of asks.",
    ),
    created_at: z.string(),
    expires_at: z.string(),
    revoked_at: orNull,
    live: z.boolean().optional(),
    spared: z.int().describe("Questions it has spared people."),
  })
  .meta({ id: "EndedGrant" });
export type WireEndedGrant = z.output<typeof WireEndedGrant>;

export const WireGrantPage = z.object({ grants: z.array(WireEndedGrant), next: nextField }).meta({ id: "GrantPage" });
export type WireGrantPage = z.output<typeof WireGrantPage>;

export const PROPOSAL_STATES = ["open", "accepted", "dismissed", "revoked"] as const;

export const WireProposal = z
  .object({
    id: z.string(),
    state: z.enum(PROPOSAL_STATES),
    rule: z.string(),
    approvals: z.int(),
    created_at: z.string(),
    decided_at: orNull,
    diff: z.string().optional().describe("The rule, each line with a plus before it; of an open one."),
  })
  .meta({ id: "Proposal" });
export type WireProposal = z.output<typeof WireProposal>;

export const WireProposalPage = z
  .object({ proposals: z.array(WireProposal), next: nextField })
  .meta({ id: "ProposalPage" });
export type WireProposalPage = z.output<typeof WireProposalPage>;

export const WireRule = z
  .object({
    rule: z.string(),
    decision,
    about: z.string(),
    reason: orNull,
    to: orNull,
    need: z.int(),
    standing: z.boolean(),
    spared: z.int(),
    observed: z
      .int()
      .nullable()
      .describe("How many inputs a rule in mode observe has matched; null for a rule that decides."),
    learned: z.boolean(),
    idle: orNull.describe("Why it can never win, where that is certain."),
  })
  .meta({ id: "Rule", description: "A rule of the policy, and how many questions it has spared people." });
export type WireRule = z.output<typeof WireRule>;

export const WirePolicyReport = z
  .object({
    state: z.enum(["ok", "stale", "missing"]).describe("Whether the file is in force as it stands."),
    problem: orNull,
    policy_version: z.string(),
    text: orNull,
    defaults: z.object({ read: decision, other: decision }),
    rules: z.array(WireRule),
    grants: z.array(WireEndedGrant),
    grants_next: nextField,
    proposals: z.array(WireProposal),
    proposals_next: nextField,
  })
  .meta({ id: "PolicyReport" });
export type WirePolicyReport = z.output<typeof WirePolicyReport>;

export const WirePolicyVerdict = z
  .object({ trace: z.looseObject({ decision }), words: z.array(z.string()) })
  .meta({ id: "PolicyVerdict", description: "The decision that would be made, and its reasons." });
export type WirePolicyVerdict = z.output<typeof WirePolicyVerdict>;

const word = text(0, 512).optional();

const sinceSeconds = z.int().min(60).max(31_622_400).describe("Calls of so many seconds until now.");

export const PolicyReplayBody = z
  .object({
    text: text(0, 1_000_000).describe("A policy file; left out, the policy in force.").optional(),
    since_s: sinceSeconds,
  })
  .meta({ id: "PolicyReplay" });
export type PolicyReplayBody = z.output<typeof PolicyReplayBody>;

const replayedCall = {
  ask_id: z.string(),
  agent: z.string(),
  fn: z.string(),
  title: z.string(),
  created_at: z.string(),
  decision,
  rule: z.string().describe("The rule that decides, or the name of the policy."),
};

export const WirePolicyReplay = z
  .object({
    policy_version: z.string(),
    calls: z.int().describe("At most the newest 10,000"),
    more: z.boolean().describe("There are older calls that were not tried"),
    allowed: z.int(),
    refused: z.int(),
    asked: z.int(),
    rules: z.array(
      z.object({
        rule: z.string(),
        calls: z.int(),
        changed: z.int().describe("Calls that a rule in mode `observe` would decide otherwise than now").optional(),
      }),
    ),
    contradictions: z
      .array(z.object({ ...replayedCall, approved_by_people: z.boolean() }))
      .describe("Calls that people decided the other way, the newest first, at most 1,000"),
    newest: z.array(z.object(replayedCall)).describe("The newest calls, at most 100"),
  })
  .meta({ id: "PolicyReplayed", description: "How a policy would decide recorded function calls." });
export type WirePolicyReplay = z.output<typeof WirePolicyReplay>;

const ruleChange = {
  from: text(0, 80).describe("The digest of the file that was read."),
  do: z.enum(["replace", "add", "remove"]),
  place: z.int().min(0).max(2000).describe("The place of the rule in the file, from 0."),
  rule: text(0, 100_000)
    .describe("The rule as YAML, without a dash in front; left out where it is removed.")
    .optional(),
};

export const RulePreviewBody = z.object({ ...ruleChange, since_s: sinceSeconds }).meta({ id: "RulePreview" });
export type RulePreviewBody = z.output<typeof RulePreviewBody>;

export const RuleSaveBody = z
  .object({ ...ruleChange, shown: text(0, 80).describe("The digest of the text that the preview showed.") })
  .meta({ id: "RuleSave" });
export type RuleSaveBody = z.output<typeof RuleSaveBody>;

export const WirePolicyFile = z
  .object({
    path: z.string(),
    digest: z.string().describe("SHA-256 of the file; empty without one"),
    fixed: z
      .enum(["missing", "mistake", "read_only", "other_servers"])
      .nullable()
      .describe("The reason for which the file cannot be changed here"),
    servers: z.array(z.string()).describe("The other servers, which read files of their own"),
    rules: z.array(z.string()).describe("Each rule as it stands in the file, in its order"),
  })
  .meta({ id: "PolicyFile", description: "The policy file as it can be edited." });
export type WirePolicyFile = z.output<typeof WirePolicyFile>;

export const WireRulePreview = z
  .object({
    rule: z.string().describe("The name of the rule that changes"),
    shown: z.string().describe("The digest of the new text, which saving needs"),
    diff: z.string().describe("The file before and after, as a unified diff"),
    before: WirePolicyReplay.describe("How the rules in the file decide recorded calls"),
    after: WirePolicyReplay.describe("How the new rules would decide them"),
  })
  .meta({ id: "RulePreviewed", description: "A change of one rule that is not stored." });
export type WireRulePreview = z.output<typeof WireRulePreview>;

export const WireRuleSaved = z
  .object({ rule: z.string(), digest: z.string(), policy_version: z.string() })
  .meta({ id: "RuleSaved", description: "A change of one rule that is in the policy file, and in force." });
export type WireRuleSaved = z.output<typeof WireRuleSaved>;

export const PolicySuggestBody = z.object({ since_s: sinceSeconds }).meta({ id: "PolicySuggest" });
export type PolicySuggestBody = z.output<typeof PolicySuggestBody>;

export const WirePolicySuggested = z
  .object({
    file: z.string().describe("The path of the policy file, where the rules are to stand."),
    learn_after: z.int().describe("The fewest approved calls of a rule, a setting; 0 proposes none."),
    calls: z.int().describe("At most the newest 10,000"),
    approved: z.int().describe("Calls that people approved, and no rule decides"),
    more: z.boolean().describe("There are older calls that were not looked at"),
    rules: z
      .array(
        z.object({
          id: z.string(),
          when: z.record(z.string(), z.unknown()),
          approved: z.int().describe("Calls that it covers and people approved"),
          examples: z.array(z.string()).describe("Sentences of such calls"),
          not_covered: z.array(z.string()).describe("Sentences of the nearest calls that stay with people"),
          lines: z.array(z.string()).describe("The rule as it may stand under `rules:`, indented by two"),
          flow: z.string().describe("The same without comments, for a list in brackets"),
        }),
      )
      .describe("The rule that covers most approved calls first"),
  })
  .meta({ id: "PolicySuggested", description: "Rules that the decisions of people speak for; none is in force." });
export type WirePolicySuggested = z.output<typeof WirePolicySuggested>;

export const PolicyTestBody = z
  .object({
    action: word,
    resource: word,
    env: word,
    tool: word,
    repo: word,
    agent: word,
    role: word,
    job: word,
    fn: word,
    digest: text(0, 100).describe("The digest that would be approved, for a function call.").optional(),
    ask_type: z.enum(ASK_TYPES).optional(),
    args: z.record(z.string(), z.unknown()).describe("The arguments of the call or ask.").optional(),
    meta: later({ type: "object", additionalProperties: true, description: "Further members of the ask." }),
  })
  .meta({ id: "PolicyTest" });
export type PolicyTestBody = z.output<typeof PolicyTestBody>;
