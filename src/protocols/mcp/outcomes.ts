import { reportOutcome } from "../../requests/outcome/report-outcome.ts";
import { wireTime } from "../http/question.ts";
import { callIdOf } from "../http/tool-request.ts";
import type { Exchange } from "./exchange.ts";
import { checked, readOwnRequest } from "./people.ts";
import { Outcome } from "./people-fields.ts";
import { membersOf, type JsonMembers } from "./rpc.ts";
import { toolResult } from "./tool-result.ts";

/**
 * Stores what became of an approved call, as the agent says it (spec/mcp 4.8).
 *
 * @throws {Refusal} `invalid_input`, `question_not_found`, `not_approved`, `outcome_known`, `outcome_started`
 */
export async function reportToolOutcome({ door, principal }: Exchange, given: object): Promise<JsonMembers> {
  const { call_id: callId, outcome: state, text, result_digest: resultDigest } = checked(Outcome, given);
  const request = await readOwnRequest(door.ctx, principal, callId);
  const { outcome } = await reportOutcome(door.ctx, request.id, {
    state,
    ...(text !== undefined && text !== "" && { words: text }),
    ...(resultDigest !== undefined && { resultDigest }),
  });
  const said = { call_id: callIdOf(request), outcome: outcome.state, at: wireTime(outcome.at) };
  return toolResult(`{${membersOf(said)}}`);
}
