import type { JsonObject } from "../../lib/json-body.ts";
import type { Context } from "../../context.ts";
import { canonicalExact } from "../../lib/exact-json.ts";
import type { AddressedAsk, Decision, Decider } from "../../requests/model/request.ts";
import { Refusal } from "../../refusals.ts";
import { decideAsk, responderOf, type Decided } from "../../requests/decide.ts";
import { TOOL_DOOR } from "../http/tool-request.ts";
import type { A2hCaller } from "./caller.ts";
import { checked, complain, flag, given, member, object, optional, required, text } from "./fields.ts";

const BODY = ["body"] as const;

/**
 * Records what an answer key's person, or an agent that may answer itself, decided (spec/a2h 9). A whole
 * status may be posted: what is not the decision is passed over.
 *
 * @throws {Refusal} `self_response`, `invalid_input`, `not_editable`, and what `decideAsk` throws
 */
export async function respond(
  ctx: Context,
  caller: Exclude<A2hCaller, { scope: "admin" }>,
  ask: AddressedAsk,
  body: JsonObject,
): Promise<Decided> {
  // What an agent asked by a tool no key of its own answers (spec/mcp 9).
  if (caller.scope === "agent" && (!caller.selfRespond || ask.door === TOOL_DOOR)) throw new Refusal("self_response");
  const decision = ask.form.kind === "approval" ? callDecision(ask, body) : replyDecision(body);
  const responder: Decider =
    caller.scope === "agent"
      ? { via: "api", person: null, identities: [], seesAll: false, self: true }
      : await responderOf(ctx.db, caller.person, "api");
  return decideAsk(ctx, { askId: ask.id, responder, decision, byKey: true });
}

function callDecision(ask: AddressedAsk, body: JsonObject): Decision {
  const said = checked((problems) => ({
    approved: required(body, "approved", flag, { loc: BODY, problems }),
    comment: optional(body, "comment", text({ max: 5000 }), { loc: BODY, problems }),
    option: optional(body, "reject_option_name", text({ max: 64 }), { loc: BODY, problems }),
    kwargs: optional(body, "kwargs", object, { loc: BODY, problems }),
    digest: optional(body, "consent_digest", text({ max: 100 }), { loc: BODY, problems }),
  }));
  const { comment, digest } = said;
  if (said.kwargs && !(ask.form.kind === "approval" && ask.form.editable)) throw new Refusal("not_editable");
  if (said.approved !== true) {
    return { kind: "reject", ...given({ comment, option: said.option, digest }) };
  }
  const kwargs = said.kwargs && canonicalExact(said.kwargs);
  return { kind: "approve", ...given({ comment, digest, option: said.option, kwargs }) };
}

function replyDecision(body: JsonObject): Decision {
  return checked((problems) => {
    const words = optional(body, "response", text({ max: 40_000 }), { loc: BODY, problems });
    const option = optional(body, "response_option_name", text({ max: 64 }), { loc: BODY, problems });
    const hasWords = words !== undefined && words.trim() !== "";
    if (!hasWords && option === undefined && member(body, "response") !== undefined && words === undefined) {
      return undefined;
    }
    if (!hasWords && option === undefined) return complain(problems, ["body", "response"], "required", "is required");
    return { kind: "reply", ...given({ text: hasWords ? words : undefined, option }) } satisfies Decision;
  });
}
