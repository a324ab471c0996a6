import type { JsonObject } from "../../lib/json/json-body.ts";
import type { Context } from "../../context.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import type { Request, Decision, Decider } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { decideRequest, type Decided } from "../../requests/decide/decide.ts";
import { responderOf } from "../../requests/decide/decider.ts";
import { TOOL_DOOR } from "../http/tool-request.ts";
import type { A2hCaller } from "./caller.ts";
import { BODY, checked, checkedBody, complain, given, member, readMembers } from "./fields.ts";
import { FunctionCallResponseBody, HumanContactResponseBody } from "../../wire/a2h/new-request.ts";

/**
 * Records what an answer key's person, or an agent that may answer itself, decided (spec/a2h 9). A whole
 * status may be posted: what is not the decision is passed over.
 *
 * @throws {Refusal} `self_response`, `invalid_input`, `not_editable`, and what `decideAsk` throws
 */
export async function respond(
  ctx: Context,
  caller: Exclude<A2hCaller, { scope: "admin" }>,
  request: Request,
  body: JsonObject,
): Promise<Decided> {
  // An agent cannot answer a request made by a tool with its own key (spec/mcp 9).
  if (caller.scope === "agent" && (!caller.selfRespond || request.door === TOOL_DOOR))
    throw new Refusal("self_response");
  const decision = request.form.kind === "approval" ? callDecision(request, body) : replyDecision(body);
  const responder: Decider =
    caller.scope === "agent"
      ? { via: "api", person: null, identities: [], seesAll: false, self: true }
      : await responderOf(ctx.db, caller.person, "api");
  return decideRequest(ctx, { requestId: request.id, read: request, responder, decision, byKey: true });
}

function callDecision(request: Request, body: JsonObject): Decision {
  const answer = checkedBody(FunctionCallResponseBody, body);
  const { comment, consent_digest: digest, reject_option_name: option } = answer;
  if (answer.kwargs && !(request.form.kind === "approval" && request.form.editable)) throw new Refusal("not_editable");
  if (!answer.approved) return { kind: "reject", ...given({ comment, option, digest }) };
  const kwargs = answer.kwargs && canonicalExact(answer.kwargs);
  return { kind: "approve", ...given({ comment, digest, option, kwargs }) };
}

function replyDecision(body: JsonObject): Decision {
  return checked((problems) => {
    const found = readMembers(HumanContactResponseBody, body, { loc: BODY, problems });
    const { response, response_option_name: option } = found;
    const text = response?.trim() ? response : undefined;
    if (text !== undefined || option !== undefined) return { kind: "reply", ...given({ text, option }) };
    const isWrong = response === undefined && member(body, "response") !== undefined;
    return isWrong ? undefined : complain(problems, [...BODY, "response"], "required", "is required");
  });
}
