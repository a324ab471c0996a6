/** What the server says to admins of what executors do, of the policy and of the cache. */
export type Stage = "intake" | "policy" | "cache" | "runner" | "people";
export type AskStatus = "PENDING" | "ANSWERED" | "REJECTED" | "TIMEOUT" | "ERROR";
export type AskType = "CLARIFICATION" | "RESOURCE_FETCH" | "POLICY_DECISION" | "APPROVAL" | "CHOICE";
export type Source = "policy" | "cache" | "runner" | "person" | "service" | "server";
export type JobState = "QUEUED" | "RUNNING" | "WAITING_ON_ANSWER" | "SUCCEEDED" | "FAILED" | "CANCELED" | "EXPIRED";
type Block = Readonly<Record<string, unknown>>;

export interface AskLine {
  id: string;
  job: string;
  step: string;
  type: AskType;
  prompt: string;
  by: string;
  status: AskStatus;
  stage: Stage;
  source: Source | null;
  answered_by: string | null;
  error_code: string | null;
  created_at: string;
  ended_at: string | null;
}

export interface JobLine {
  id: string;
  kind: string;
  state: JobState;
  reason: string | null;
  epoch: number;
  external: boolean;
  owner: string;
  holder: string | null;
  pending_asks: number;
  created_at: string;
  updated_at: string;
}

export interface Answer {
  status: AskStatus;
  source: Source;
  by: string;
  answered_by: string | null;
  text: string | null;
  json: unknown;
  artifacts: readonly string[];
  error: string | null;
  ask_back: string | null;
  policy_trace: Block | null;
  attestation: Block | null;
  truncated: boolean;
  at: string;
}

export interface AskInJob extends Pick<AskLine, "id" | "job" | "step" | "type" | "prompt" | "by" | "status" | "stage"> {
  epoch: number;
  stages: readonly { stage: Stage; outcome: string; ms: number }[];
  meta: Block;
  envelope: Block | null;
  role: string | null;
  constraints: Block;
  context_hash: string;
  joined_to: string | null;
  decision_key: string | null;
  consent_digest: string | null;
  /** The question to the crowd that it became. */
  question_id: string | null;
  created_at: string;
  expires_at: string;
  answer: Answer | null;
}

type By = { kind: string; name: string | null; via: string };

/** What an ask became that people were asked. */
export interface WithPeople {
  id: string;
  state: string;
  created_at: string;
  settled_at: string | null;
  may_answer: readonly { name: string | null; channel: string; from: string | null }[];
  decisions: readonly { by: By; approved: boolean | null; comment: string | null; at: string }[];
  deliveries: readonly { channel: string; name: string | null; state: string; at: string }[];
}

export interface LateAnswer {
  by: string;
  status: AskStatus;
  text: string | null;
  at: string;
}

export interface WholeAsk extends AskInJob {
  late: readonly LateAnswer[];
  shared_by: readonly string[];
  people: WithPeople | null;
}

export interface Job extends JobLine {
  attempts: number;
  max_attempts: number;
  env: string | null;
  repo: string | null;
  labels: Readonly<Record<string, string>>;
  priority: string;
  spec: unknown;
  result: unknown;
  artifacts: readonly string[];
  lease_until: string | null;
  ttl_until: string;
  /** The number of its newest event. */
  seq: number;
}

export interface JobEvent {
  seq: number;
  event: string;
  data: Block;
}

export type AnsweredBy = "policy" | "cache" | "runner" | "people" | "nobody";

export interface Figures {
  minutes: readonly {
    at: string;
    stages: Readonly<Partial<Record<Stage, number>>>;
    by: Readonly<Partial<Record<AnsweredBy, number>>>;
    p95_ms: number | null;
  }[];
  pending: readonly { stage: Stage; count: number }[];
}

export type Decision = "ALLOW" | "DENY" | "ESCALATE";

export interface Grant {
  id: string;
  action: string;
  resource: string;
  env: string;
  tool: string | null;
  repo: string | null;
  agent: string | null;
  /** Of a function call, which is allowed with exactly these arguments. */
  digest: string | null;
  by: string;
  ask_id: string;
  created_at: string;
  expires_at: string;
  revoked_at: string | null;
  live: boolean;
  spared: number;
}

export interface Rule {
  rule: string;
  decision: Decision;
  about: string;
  reason: string | null;
  to: string | null;
  need: number;
  spared: number;
  learned: boolean;
  idle: string | null;
}

export interface Proposal {
  id: string;
  state: "open" | "accepted" | "dismissed" | "revoked";
  rule: string;
  approvals: number;
  created_at: string;
  diff?: string;
}

export interface Policy {
  state: "ok" | "stale" | "missing";
  problem: string | null;
  policy_version: string;
  text: string | null;
  defaults: { read: Decision; other: Decision };
  rules: readonly Rule[];
  grants: readonly Grant[];
  proposals: readonly Proposal[];
}

/** What the policy is asked about in a test. */
export type PolicyWords = Partial<
  Record<"action" | "resource" | "env" | "tool" | "repo" | "agent" | "ask_type" | "fn" | "digest", string>
>;

export interface Cached {
  key: string;
  text: string | null;
  json: unknown;
  role: string | null;
  source: Source;
  answered_by: string | null;
  model: string | null;
  hits: number;
  created_at: string;
  expires_at: string;
  last_hit_at: string | null;
}

/** One page of earlier decisions that are repeated. */
export interface CachePage {
  decisions: Cached[];
  next: string | null;
  /** How many there are, on all pages. */
  count: number;
}
