import { withoutSteering } from "../../lib/printable.ts";
import type { Request } from "../../requests/model/request.ts";
import { releaseDedupeKey } from "../../requests/create/dedupe-key.ts";
import { readDetails } from "../../requests/read/read-request.ts";
import { waitForEnd } from "../../requests/wait/wait-for-end.ts";
import { refusalFrom } from "../http/errors.ts";
import type { Exchange } from "./exchange.ts";
import { exactArgument } from "./message.ts";
import { commentOf, deciderOf } from "./people-result.ts";
import { parkWait } from "./people-wait.ts";
import { callIdOf } from "../http/tool-request.ts";
import { askPermission } from "./people.ts";
import type { HeldWait } from "./responses.ts";
import { membersOf, type RpcResult } from "./rpc.ts";

/** The tool by which Claude Code asks its user. */
const CLAUDE_ASKS = "AskUserQuestion";
const NO_ANSWERS =
  "this prompt can carry no answers. People answer questions by the hook (parley hook install claude), or by the tool contact_human.";

/**
 * Answers a client's permission prompt: one text that allows or denies, held until somebody has decided or the deadline
 * has passed. Whatever goes wrong on the way denies: nothing is allowed without a stored decision (spec/mcp 4.4).
 */
export async function approve(exchange: Exchange, given: object, hold: HeldWait): Promise<RpcResult> {
  const { door, principal, http } = exchange;
  try {
    // A bare yes to its questions would be an answer that nobody gave.
    if (isQuestion(given)) return denial(`Not approved: ${NO_ANSWERS}`);
    using _place = parkWait(door, principal);
    const { request } = await askPermission(exchange, given);
    hold.onCount?.(0, 1);
    const end = await waitForEnd(door.ctx, request, hold.signal);
    const result = await decisionResult(exchange, end);
    if (!hold.signal.aborted) await releaseDedupeKey(door.ctx, end, callIdOf(end), end.wire["spent_by"]);
    return result;
  } catch (error) {
    const refusal = refusalFrom(error);
    if (!refusal) door.ctx.log.error({ err: error, requestId: http.id }, "a permission could not be asked for");
    return denial(`Not approved: ${refusal?.message ?? "Parley could not ask anybody."}`);
  }
}

function isQuestion(given: object): boolean {
  return (given as { tool_name?: unknown }).tool_name === CLAUDE_ASKS;
}

async function decisionResult({ door, call }: Exchange, request: Request): Promise<RpcResult> {
  const id = callIdOf(request);
  switch (request.state) {
    case "open":
      return denial(`Not approved: the wait ended before somebody decided (${id}).`, request.digest);
    case "expired":
      return denial(`Not approved: nobody decided within ${secondsOf(request)} s (${id}).`, request.digest);
    case "cancelled":
      return denial(`Not approved: the request was cancelled (${id}).`, request.digest);
    case "answered": {
      if (request.outcome?.approved === true) {
        return decisionReply({ behavior: "allow", updatedInput: exactArgument(call, "input") }, request.digest);
      }
      const comment = commentOf(request);
      const who = deciderOf(request, await readDetails(door.ctx, request));
      return denial(`Rejected by ${who}${comment === undefined ? "" : `: ${comment}`}`, request.digest);
    }
  }
}

/** Returns the answer that Claude Code takes for no. */
function denial(message: string, digest: string | null = null): RpcResult {
  return decisionReply({ behavior: "deny", message: withoutSteering(message) }, digest);
}

function decisionReply(decision: object, digest: string | null): RpcResult {
  const members = membersOf({ content: [{ type: "text", text: JSON.stringify(decision) }] });
  return digest === null ? members : { members, meta: { "parley/consent_digest": digest } };
}

function secondsOf({ createdAt, expiresAt }: Request): number {
  return Math.round((expiresAt - createdAt) / 1000);
}
