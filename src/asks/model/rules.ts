/** The rules of the relay that an operator may set (spec/relay 1, 7, 13 and 16). */
export interface RelayRules {
  /** Which jobs are served: all, none, or those that are named. */
  feature: boolean | { jobs?: readonly string[]; labels?: Readonly<Record<string, string>> };
  /** The people who get an ask that machines may not answer; null where asks never go to people. */
  people: { default: string | null; public: boolean } | null;
  peopleDeadlineMs: number;
  cacheTtlS: number;
  secrets: "redact" | "reject";
  askBack: "people_first" | "executor";
  maxAskBackRounds: number;
  policyAdvice: boolean;
  strictJobs: boolean;
  keptMs: number;
  requestsPerSecond: number;
  pendingPerJob: number;
  pendingPerAgent: number;
}

export const DEFAULT_RELAY_RULES: RelayRules = {
  feature: true,
  people: { default: null, public: false },
  peopleDeadlineMs: 86_400_000,
  cacheTtlS: 86_400,
  secrets: "redact",
  askBack: "people_first",
  maxAskBackRounds: 1,
  policyAdvice: false,
  strictJobs: false,
  keptMs: 30 * 86_400_000,
  requestsPerSecond: 100,
  pendingPerJob: 100,
  pendingPerAgent: 1000,
};

/** How long machines may take where the asker set no deadline. */
export const MACHINE_MS = 60_000;

/** Returns whether the relay serves a job (spec/relay 1). */
export function isServed(
  { feature }: Pick<RelayRules, "feature">,
  job: { id: string; labels: Readonly<Record<string, string>> },
): boolean {
  if (typeof feature === "boolean") return feature;
  const byId = feature.jobs?.some((pattern) => fits(pattern, job.id)) ?? false;
  const wanted = Object.entries(feature.labels ?? {});
  return byId || (wanted.length > 0 && wanted.every(([name, value]) => job.labels[name] === value));
}

/** `*` at the end stands for anything. */
function fits(pattern: string, id: string): boolean {
  return pattern.endsWith("*") ? id.startsWith(pattern.slice(0, -1)) : id === pattern;
}
