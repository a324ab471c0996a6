import type { AskType } from "../../core/model/ask-type.ts";
import type { ForeignSchema } from "../../requests/model/request.ts";
import type { RoleFacts } from "../model/decision-key.ts";
import type { Policy, PolicyDecision } from "../../policy/model/policy.ts";
import type { Job, Ask, Stage } from "../model/ask.ts";
import type { Responder } from "../../responders/responder.ts";

/** A role as the stages go by it. */
export interface MachineRole extends RoleFacts {
  id: string;
  inputSchema: ForeignSchema | null;
}

/** The policy, roles and model that may answer before people do. */
export interface Machine {
  policy(): Policy;
  /** The policy for coding agents where the operator's policy has no rule (spec/assignment 8). */
  preset: Policy;
  /** Returns the named role, or the ask type's own role where no name is given; null where the name is unknown. */
  role(id: string | null, type: AskType): MachineRole | null;
  /** The model that may answer, as `provider/model`; null while no model is configured. */
  model(): string | null;
  runner: Responder;
  /** After so many approvals of the same kind a rule is proposed; 0 for never. */
  learnAfter: number;
  /** For so many days holds what an admin allows for good. */
  grantDays: number;
  observe?(event: MachineEvent): void;
}

/** An event on the way to an answer, for metrics. */
export type MachineEvent =
  | { kind: "policy"; decision: PolicyDecision["decision"]; defaulted: boolean }
  | { kind: "cache"; result: "hit" | "miss" | "bypass"; type: AskType }
  | { kind: "stage"; stage: Stage; outcome: string; ask: Ask; job: Job; ms: number };
