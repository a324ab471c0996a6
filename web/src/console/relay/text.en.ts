/** The words of the pages about what executors do. */
import { count, number, percent } from "../../format.ts";
import { shortTime } from "./short-time.ts";
import type {
  AnsweredBy,
  AskStatus,
  AskType,
  Decision,
  JobState,
  Policy,
  PolicySuggested,
  Source,
  Stage,
} from "./wire.ts";

const STAGES: Record<Stage, string> = {
  intake: "Intake",
  policy: "Policy",
  cache: "Earlier decisions",
  runner: "Model",
  people: "People",
};
const BY: Record<AnsweredBy, string> = {
  policy: "Policy",
  cache: "Earlier decisions",
  runner: "Model",
  people: "People",
  nobody: "Nobody",
};
const STATUSES: Record<AskStatus, string> = {
  PENDING: "Waiting",
  ANSWERED: "Answered",
  REJECTED: "Rejected",
  TIMEOUT: "Timed out",
  ERROR: "Failed",
};
const SOURCES: Record<Source, string> = {
  policy: "the policy",
  cache: "an earlier decision",
  runner: "the model",
  person: "a person",
  service: "a service",
  server: "the server",
};
const TYPES: Record<AskType, string> = {
  CLARIFICATION: "Clarification",
  RESOURCE_FETCH: "Resource",
  POLICY_DECISION: "Policy decision",
  APPROVAL: "Approval",
  CHOICE: "Choice",
};
const JOB_STATES: Record<JobState, string> = {
  QUEUED: "In line",
  RUNNING: "Running",
  WAITING_ON_ANSWER: "Waits for an answer",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  CANCELED: "Canceled",
  EXPIRED: "Expired",
};

export const text = {
  stage: (stage: Stage): string => STAGES[stage],
  by: (by: AnsweredBy): string => BY[by],
  type: (type: AskType): string => TYPES[type],
  jobState: (state: JobState): string => JOB_STATES[state],
  /** How an ask stands: where it waits, or how it ended and by whom. */
  askState: (one: { status: AskStatus; stage: Stage; source?: Source | null; answered_by?: string | null }): string => {
    if (one.status === "PENDING") return `Waiting: ${STAGES[one.stage]}`;
    if (!one.source || one.source === "server") return STATUSES[one.status];
    return `${STATUSES[one.status]} by ${one.answered_by ?? SOURCES[one.source]}`;
  },
  status: (status: AskStatus): string => STATUSES[status],
  which: "Which",

  live: {
    waiting: "Waiting for the first figures…",
    pending: (total: number, people: number) =>
      total === 0
        ? "Nothing waits."
        : `${count(total, "ask waits", "asks wait")}, ${number(people)} of them for people.`,
    ended: "Asks that ended, each minute",
    endedSays: (total: number, most: number) => `${number(total)} in all, at most ${number(most)} in a minute`,
    byStage: (stage: Stage, n: number) => `${STAGES[stage]} ${number(n)}`,
    shares: "Answered by",
    share: (by: AnsweredBy, share: number, n: number) => `${BY[by]} ${percent(share)} (${number(n)})`,
    noShares: "Nothing ended in the last hour.",
    p95: "Machines’ answers: 95 of 100 came within",
    p95Says: (last: number | null, worst: number | null) =>
      last === null || worst === null ? "No machine answered" : `${shortTime(last)} last, ${shortTime(worst)} at worst`,
    chart: (title: string, says: string) => `${title}: ${says}`,
    newestAsks: "Newest asks",
    newestJobs: "Newest jobs",
    noAsks: "Nothing was asked yet",
    noAsksHint: "Executors ask with POST /asks; what they ask appears here as it happens.",
    noJobs: "There is no job yet",
  },

  asks: {
    title: "Asks",
    failed: "The asks could not be loaded",
    all: "All",
    open: "Waiting",
    empty: "There is nothing like this",
    emptyHint: "Executors ask with POST /asks.",
    who: "Asked by",
    job: "Job",
    step: "Step",
    kind: "Kind",
    asked: "Asked",
    deadline: "Deadline",
    id: "ID",
    role: "Role",
    joined: "Shares the answer of",
    sharedBy: "Asks that share this answer",
    digest: "Digest people were shown",
    public: "Put to the public",
    context: "What came with it",
    stages: "Stages",
    noStages: "No stage has finished with it yet.",
    took: (ms: number) => shortTime(ms),
    answer: "Answer",
    noAnswer: "None yet.",
    late: "Too late",
    trace: "Why the policy says so",
    attestation: "On what grounds the model answered",
    json: "As JSON",
    askBack: "Asked back",
    truncated: "Cut to what was allowed.",
    artifacts: "Files",
    people: "People",
    inbox: "Open it in the inbox",
    receipt: "Signed receipt",
    asksWhom: "May answer",
    deliveries: "Messages",
    decisions: "Decisions",
    delivery: (state: string): string => state,
    decided: (name: string, approved: boolean | null) =>
      `${name} ${approved === null ? "answered" : approved ? "approved" : "rejected"}`,
    somebody: "Somebody",
    byChannel: (name: string | null, channel: string) => (name === null ? channel : `${name}, ${channel}`),
    record: "Record",
    more: "More",
  },

  jobs: {
    title: "Jobs",
    failed: "The jobs could not be loaded",
    all: "All",
    open: "Open",
    over: "Over",
    empty: "There is nothing like this",
    emptyHint: "Planners put jobs in line with POST /jobs; executors that ask have one as well.",
    pending: (n: number) => count(n, "ask waits", "asks wait"),
    id: "ID",
    state: "State",
    reason: "Reason",
    kind: "Kind",
    owner: "Made by",
    holder: "Held by",
    nobody: "Nobody",
    external: "Runs elsewhere, without a lease",
    epoch: "Epoch",
    attempts: "Attempts",
    attemptsOf: (n: number, most: number) => `${number(n)} of ${number(most)}`,
    lease: "Lease until",
    ttl: "Lives until",
    made: "Made",
    changed: "Changed",
    place: "Where",
    labels: "Labels",
    spec: "What is to be done",
    result: "Result",
    artifacts: "Files",
    asks: "Asks",
    noAsks: "Nothing was asked in it.",
    events: "Events",
    noEvents: "None of the newest events are kept.",
  },

  policy: {
    title: "Policy",
    failed: "The policy could not be loaded",
    state: {
      ok: "In force as the file stands.",
      stale: "The file holds a mistake; the last good version is in force.",
      missing: "There is no policy file; the defaults are in force.",
    } satisfies Record<Policy["state"], string>,
    neverRead: "The file holds a mistake, so people decide everything until it is mended.",
    version: "Version",
    reload: "Read the file again",
    reloaded: "Every server reads it again within a second.",
    rules: "Rules",
    noRules: "There are no rules; the defaults decide.",
    defaults: (read: Decision, other: Decision) =>
      `What no rule is about: reading is ${SAYS[read]}, all else is ${SAYS[other]}.`,
    decision: (decision: Decision): string => DECISIONS[decision],
    would: (decision: Decision) => `Only observed, would be ${SAYS[decision]}`,
    observed: (n: number) => `matched ${count(n, "request", "requests")}`,
    spared: (n: number) =>
      n === 0 ? "spared nobody a question yet" : `spared people ${count(n, "question", "questions")}`,
    needs: (n: number) => `${number(n)} must approve`,
    asks: (to: string) => `asks ${to}`,
    learned: "learned",
    revoke: (what: string) => `Revoke ${what}`,
    revoking: (what: string) => `Revoke ${what}?`,
    revokeRuleHint: "It is in force on no server any more; people are asked again from the next request on.",
    confirm: "Revoke it",
    revoked: "Revoked.",
    proposals: "Proposed rules",
    noProposals: "Nothing is proposed. When people keep approving the same, a rule is.",
    proposed: (approvals: number) => `After ${count(approvals, "approval", "approvals")} of the same`,
    accept: "Put it in force",
    accepted: "In force within a second.",
    dismiss: "Dismiss",
    dismissed: "Dismissed; the same is never proposed again.",
    diff: (rule: string) => `The rule that would be in force: ${rule}`,
    grants: "Permissions",
    noGrants: "None. An admin who approves a call may allow calls like it.",
    grantedBy: (name: string) => `by ${name}`,
    until: "until",
    test: "Try it",
    testHint: "What would be decided, and why. Nobody is asked.",
    fields: {
      action: "Action",
      resource: "Resource",
      env: "Environment",
      tool: "Tool",
      repo: "Repository",
      agent: "Agent",
      ask_type: "Kind of ask",
      fn: "Function",
      digest: "Digest",
    },
    any: "Not said",
    run: "Try",
    result: "Verdict",
    file: "The file",
  },

  suggest: {
    title: "Rules that would spare you prompts",
    hint: "For what people approved again and again in the last 30 days, and nothing that they refused or that looks high. Nothing counts before you have put it into the file.",
    run: "Look for rules",
    counts: ({ calls, approved, rules }: Pick<PolicySuggested, "calls" | "approved" | "rules">) =>
      `${count(calls, "call", "calls")}, ${number(approved)} of them approved by people and by no rule: ${count(rules.length, "rule", "rules")} proposed.`,
    off: "The setting policy.learn_after is 0, so that no rule is proposed.",
    approved: (n: number) => `${count(n, "call", "calls")} that people approved`,
    such: "Such as:",
    notCovered: "Not covered:",
    take: "Put the file with the ticked rules below",
    taken: (path: string) => `It stands below. Try it on recorded calls, then put it into ${path}.`,
  },

  replay: {
    title: "Try it on recorded calls",
    hint: "How a policy file would decide the function calls of the last days. Nothing counts, and nothing is stored. Put what you want in force into the file.",
    file: "A policy file",
    since: "Calls of the last",
    days: (n: number) => count(n, "day", "days"),
    run: "Try on these calls",
    looking: "Looking at the calls…",
    counts: ({ calls, allowed, refused, asked }: Record<"calls" | "allowed" | "refused" | "asked", number>) =>
      `${count(calls, "call", "calls")}: ${number(allowed)} allowed, ${number(refused)} refused, ${number(asked)} for people.`,
    more: (calls: number) => `These are the newest ${number(calls)}; older ones were not tried.`,
    contradictions: (allowed: number, refused: number) =>
      allowed + refused === 0
        ? "None against a decision of people."
        : `${number(allowed)} that a person rejected would be allowed; ${number(refused)} that a person approved would be refused.`,
    rules: "Calls by rule",
    matches: (n: number) => count(n, "call", "calls"),
    changes: (n: number) => `would change ${number(n)}`,
    newest: "The newest calls",
  },

  cache: {
    title: "Cache",
    failed: "The cache could not be loaded",
    empty: "Nothing is repeated yet",
    emptyHint: "Answers that may be repeated are kept for as long as their role says.",
    about: (n: number) =>
      `${count(n, "earlier decision is", "earlier decisions are")} repeated instead of asking again, the newest first.`,
    hits: (n: number) => (n === 0 ? "not repeated yet" : `repeated ${count(n, "time", "times")}`),
    decided: (source: Source, name: string | null) => `by ${name ?? SOURCES[source]}`,
    until: "until",
    last: "last",
    noRole: "no role",
    forget: "Forget",
    forgotten: "Forgotten; the same is asked anew.",
    forgetAll: "Forget everything",
    forgettingAll: "Forget every decision?",
    forgettingAllHint: "Everything is asked anew, of the model or of people. Answers that were given stay as they are.",
    confirmAll: "Forget everything",
    forgottenAll: (n: number) => `${count(n, "decision is", "decisions are")} forgotten.`,
  },
};

const DECISIONS: Record<Decision, string> = { ALLOW: "Allow", DENY: "Deny", ESCALATE: "Ask people" };
const SAYS: Record<Decision, string> = { ALLOW: "allowed", DENY: "denied", ESCALATE: "put to people" };

export type RelayTexts = typeof text;
