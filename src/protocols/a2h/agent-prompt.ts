import type { Context } from "../../context.ts";
import { claimDedupeKey } from "../../requests/create/dedupe-key.ts";
import type { NewAgentPrompt } from "../../wire/a2h/new-request.ts";
import { given } from "./fields.ts";
import type { RefKind } from "./written.ts";

/** A request that a hook of a coding agent makes, as it is to be stored. */
export interface PromptAsked {
  /** The id under which it is stored: that of a request about the same use that still waits. */
  callId: string;
  request: { promptOf?: string; leaseMs?: number };
  wire: { agent_prompt?: object };
}

interface AskedByHook {
  kind: RefKind;
  callId: string;
  agentPrompt: NewAgentPrompt | undefined;
  sameHash: string;
  timeoutSeconds: number | undefined;
  usualSeconds: number | null;
}

/** The hooks of 0.2 and before say who asks by their ids alone. To be taken out once no such hook is supported. */
const FORMER_ID = /^(claude|codex|copilot|cursor|gemini|openclaw|opencode):/;
/** For requests without a deadline. */
const DAY_S = 86_400;

/**
 * Returns what is stored of the hook that asks; a request of any other program stays as it is. An id of a use names it
 * while that use waits, and no longer: programs begin to count anew (spec/a2h 21).
 */
export async function promptOf(ctx: Context, asker: string, asked: AskedByHook): Promise<PromptAsked> {
  const { kind, callId, agentPrompt, sameHash, timeoutSeconds, usualSeconds } = asked;
  const former = FORMER_ID.exec(callId)?.[1];
  if (!agentPrompt) return { callId, request: former === undefined ? {} : { promptOf: former }, wire: {} };
  const { agent, subagent, folder, use, use_digest, reads_notes, lease_seconds: leaseS } = agentPrompt;
  const claimed =
    use === undefined
      ? callId
      : await claimDedupeKey(ctx, {
          asker,
          key: `${agent} ${kind} ${use} ${sameHash}`,
          bodyHash: sameHash,
          timeoutSeconds: timeoutSeconds ?? usualSeconds ?? DAY_S,
          freshId: callId,
          use: { refOf: (id) => `${kind}:${id}`, joinableMs: 0 },
        });
  return {
    callId: claimed,
    request: { promptOf: agent, ...(leaseS !== undefined && { leaseMs: leaseS * 1000 }) },
    wire: { agent_prompt: given({ agent, subagent, folder, use, use_digest, reads_notes }) },
  };
}
