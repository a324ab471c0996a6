import { withoutSteering } from "../../lib/printable.ts";
import type { AddressedAsk } from "../../requests/model/request.ts";
import { spendRequest } from "../../requests/join.ts";
import { readDetails } from "../../requests/read.ts";
import { readClock } from "../../core/read-clock.ts";
import { refusalFrom } from "../http/errors.ts";
import type { Exchange } from "./exchange.ts";
import { exactArgument } from "./message.ts";
import { commentOf, deciderOf } from "./people-result.ts";
import { holdForPeople, parkWait } from "./people-wait.ts";
import { callIdOf } from "../http/tool-request.ts";
import { askPermission } from "./people.ts";
import type { HeldWait } from "./responses.ts";
import { membersOf, type RpcResult } from "./rpc.ts";

/** A little more than the time that is left, so that the deadline itself ends the wait. */
const MARGIN_MS = 5000;

/**
 * Answers a client's permission prompt: one text that allows or denies, held until somebody has decided or the deadline
 * has passed. Whatever goes wrong on the way denies: nothing is allowed without a stored decision (spec/mcp 4.4).
 */
export async function approve(exchange: Exchange, given: object, hold: HeldWait): Promise<RpcResult> {
  const { door, principal, request } = exchange;
  try {
    using _place = parkWait(door, principal);
    const { ask } = await askPermission(exchange, given);
    const leftMs = Math.max(0, ask.expiresAt - (await readClock(door.ctx))) + MARGIN_MS;
    const end = await holdForPeople(door, ask, hold, leftMs / 1000);
    const said = await saidOf(exchange, end.ask);
    if (!hold.signal.aborted) await spendRequest(door.ctx, end.ask, callIdOf(end.ask), end.ask.wire["spent_by"]);
    return said;
  } catch (error) {
    const refusal = refusalFrom(error);
    if (!refusal) door.ctx.log.error({ err: error, requestId: request.id }, "a permission could not be asked for");
    return denial(`Not approved: ${refusal?.message ?? "Parley could not ask anybody."}`);
  }
}

async function saidOf({ door, call }: Exchange, ask: AddressedAsk): Promise<RpcResult> {
  const id = callIdOf(ask);
  switch (ask.state) {
    case "open":
      return denial(`Not approved: the wait ended before somebody decided (${id}).`, ask.digest);
    case "expired":
      return denial(`Not approved: nobody decided within ${secondsOf(ask)} s (${id}).`, ask.digest);
    case "cancelled":
      return denial(`Not approved: the request was cancelled (${id}).`, ask.digest);
    case "answered": {
      if (ask.outcome?.approved === true) {
        return said({ behavior: "allow", updatedInput: exactArgument(call, "input") }, ask.digest);
      }
      const comment = commentOf(ask);
      const who = deciderOf(ask, await readDetails(door.ctx, ask));
      return denial(`Rejected by ${who}${comment === undefined ? "" : `: ${comment}`}`, ask.digest);
    }
  }
}

/** Returns the answer that Claude Code takes for no. */
function denial(message: string, digest: string | null = null): RpcResult {
  return said({ behavior: "deny", message: withoutSteering(message) }, digest);
}

function said(decision: object, digest: string | null): RpcResult {
  const members = membersOf({ content: [{ type: "text", text: JSON.stringify(decision) }] });
  return digest === null ? members : { members, meta: { "parley/consent_digest": digest } };
}

function secondsOf({ createdAt, expiresAt }: AddressedAsk): number {
  return Math.round((expiresAt - createdAt) / 1000);
}
