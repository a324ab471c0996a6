import type { AskType } from "../../core/model/ask-type.ts";
import type { ForeignSchema } from "../../requests/model/request.ts";
import type { RoleFacts } from "../model/decision-key.ts";
import type { Policy, PolicyVerdict } from "../../policy/model/policy.ts";
import type { Job, RelayAsk, Stage } from "../model/ask.ts";
import type { Responder } from "../../responders/responder.ts";

/** A role as the stages go by it. */
export interface MachineRole extends RoleFacts {
  id: string;
  inputSchema: ForeignSchema | null;
}

/** What may answer before people do. */
export interface Machine {
  policy(): Policy;
  /** What coding agents may do where that says nothing (spec/assignment 8). */
  preset: Policy;
  /** Returns a role, the type's own where none is named; null where there is none of that name. */
  role(id: string | null, type: AskType): MachineRole | null;
  /** The model that may answer, `provider/model`; null while there is none. */
  model(): string | null;
  runner: Responder;
  /** After so many approvals of the same kind a rule is proposed; 0 for never. */
  learnAfter: number;
  /** For so many days holds what an admin allows for good. */
  grantDays: number;
  observe?(event: MachineEvent): void;
}

/** What happened on the way, for whoever counts. */
export type MachineEvent =
  | { is: "policy"; decision: PolicyVerdict["decision"]; defaulted: boolean }
  | { is: "cache"; result: "hit" | "miss" | "bypass"; type: AskType }
  | { is: "stage"; stage: Stage; outcome: string; ask: RelayAsk; job: Job; ms: number };
