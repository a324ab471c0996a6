import type { RequestId } from "../../core/model/ids.ts";
import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";

/** The door of what a gate asks people. */
export const GATE_DOOR = "gate";

/** The form of a gate's name; without a dot, so that the first one of `files.write_file` ends it. */
export const GATE_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

/** How long a requester may stay away, in ms, before the approval is no longer good. */
export const GOOD_AFTER_MS = 3_600_000;

/** A call that runs is held for so long by each sign of life of its gate. */
export const HELD_MS = 60_000;

/** Returns the name of a gated tool wherever functions have names: in requests, in rules and in receipts. */
export function functionOf({ gate, tool }: { gate: string; tool: string }): string {
  return `${gate}.${tool}`;
}

/** The state of a call; the decision about it is with its request (spec/gate 2). */
export const CALL_STATES = ["asked", "dropped", "started", "ended", "unknown", "settled"] as const;
export type CallState = (typeof CALL_STATES)[number];

/** One call of a tool behind a gate. */
export interface GateCall {
  /** The request that it is the run of. */
  requestId: RequestId;
  asker: string;
  gate: string;
  tool: string;
  /** The digest of agent, gate, tool and arguments: the same call has the same digest. */
  sameHash: string;
  policyVersion: string;
  /** It starts before this or not at all. */
  goodUntil: number;
  /** The digest of all that the approval is bound to, as `boundDigest` makes it. */
  digest: string;
  /** The tool says, and was accepted saying, that a second run changes nothing more. */
  isRepeatable: boolean;
  /** The call without a known end which this one runs again. */
  againOf: string | null;
  state: CallState;
  /** Which attempt of a gate started it. */
  run: string | null;
  /** The digest of the arguments that ran. */
  consentDigest: string | null;
  startedAt: number | null;
  heldUntil: number | null;
  endedAt: number | null;
  outcome: "result" | "error" | null;
  resultDigest: string | null;
}

/** The facts of a call that are known before people are asked. */
export type NewGateCall = Pick<
  GateCall,
  | "requestId"
  | "asker"
  | "gate"
  | "tool"
  | "sameHash"
  | "policyVersion"
  | "goodUntil"
  | "digest"
  | "isRepeatable"
  | "againOf"
>;

/** True for a call that has run: its end is known, or stays unknown. */
export function hasRun({ state }: Pick<GateCall, "state">): boolean {
  return state === "ended" || state === "unknown" || state === "settled";
}

/** Returns the digest of what makes two calls of an agent the same. `args` is canonical JSON. */
export function sameHashOf({ asker, gate, tool, args }: Record<"asker" | "gate" | "tool" | "args", string>): string {
  return sha256Digest(canonicalExact({ agent: asker, gate, tool, arguments: sha256Digest(args) }));
}

/** Returns the digest of what an approval is bound to (spec/gate 3). `consent` is the digest of function and arguments. */
export function boundDigest({
  asker,
  gate,
  tool,
  consent,
  policyVersion,
  goodUntil,
}: Pick<NewGateCall, "asker" | "gate" | "tool" | "policyVersion" | "goodUntil"> & { consent: string }): string {
  return sha256Digest(
    canonicalExact({ agent: asker, gate, tool, consent, policy_version: policyVersion, good_until: goodUntil }),
  );
}
