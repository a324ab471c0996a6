/** The trace of one policy decision, in the words of the wire (spec/relay 8). */
export interface PolicyTrace {
  /** The rule's id and version, or the file's. */
  policy: string;
  policy_version: string;
  decision: "ALLOW" | "DENY" | "ESCALATE";
  reason?: string;
  rule_index?: number;
  matched: readonly number[];
  /** The names of rules in mode `observe` that matched. */
  observed?: readonly string[];
  defaulted: boolean;
  input?: Readonly<Record<string, unknown>>;
  /** Values the ask claimed and the job's registered ones overruled. */
  claimed?: Readonly<Record<string, unknown>>;
  /** The permanent permission that allowed it. */
  grant?: string | null;
  cache?: "hit" | "miss" | "bypass";
}
