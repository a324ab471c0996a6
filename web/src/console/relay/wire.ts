/** Bodies of asks, jobs, the policy and the cache, by the names that the pages have for them. */
import type { AdminAnswer, AdminAskLine, AdminJobLine, HourFigures, PolicyTest, Rule } from "@parley/sdk/admin";

export type {
  AdminAnswer as Answer,
  AdminAsk as WholeAsk,
  AdminAskLine as AskLine,
  AdminJob as Job,
  AdminJobAsk as AskInJob,
  AdminJobEvent as JobEvent,
  AdminJobLine as JobLine,
  CachedDecision as Cached,
  DecisionPage as CachePage,
  EndedGrant as Grant,
  HourFigures as Figures,
  LateAnswer,
  PolicyReport as Policy,
  PolicyVerdict,
  Proposal,
  Rule,
} from "@parley/sdk/admin";
export type { AskToPeople as WithPeople } from "@parley/sdk/inbox";

/** How many jobs or asks of all are open. */
export interface JobCount {
  open: number;
}
export interface AskCount extends JobCount {
  oldest_ms: number;
}
export type Stage = AdminAskLine["stage"];
export type AskStatus = AdminAskLine["status"];
export type AskType = AdminAskLine["type"];
export type Source = AdminAnswer["source"];
export type JobState = AdminJobLine["state"];
export type AnsweredBy = keyof HourFigures["minutes"][number]["by"];
export type Decision = Rule["decision"];

/** The words of a test of the policy, as the form has them. */
export type PolicyWords = Partial<Record<Exclude<keyof PolicyTest, "meta">, string>>;
