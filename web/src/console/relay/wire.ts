/** Bodies of asks, jobs, the policy and the cache, by the names that the pages have for them. */
import type { Answer, AskLine, HourFigures, JobLine, PolicyTest, Rule } from "@parley/sdk/admin";

export type {
  Answer,
  AskHistory,
  AskLine,
  CachedDecision as Cached,
  DecisionPage as CachePage,
  EndedGrant as Grant,
  HourFigures as Figures,
  JobEvent,
  JobLine,
  LateAnswer,
  PolicyFile,
  PolicyReplay,
  PolicyReplayed,
  PolicyReport as Policy,
  PolicySuggest,
  PolicySuggested,
  PolicyVerdict,
  Proposal,
  Rule,
  RulePreview,
  RulePreviewed,
  RuleSave,
  RuleSaved,
  WholeAsk,
  WholeJob as Job,
} from "@parley/sdk/admin";
export type { AskToPeople as WithPeople } from "@parley/sdk/inbox";

export type Stage = AskLine["stage"];
export type AskStatus = AskLine["status"];
export type AskType = AskLine["ask_type"];
export type Source = Answer["source"];
export type JobState = JobLine["state"];
export type AnsweredBy = keyof HourFigures["minutes"][number]["by"];
export type Decision = Rule["decision"];

/** The words of a test of the policy, as the form has them. */
export type PolicyWords = Partial<Record<Exclude<keyof PolicyTest, "meta">, string>>;
