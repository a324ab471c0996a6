import { CanonicalJson, sha256Digest } from "../../lib/json/exact-json.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import { Refusal } from "../../refusals.ts";
import { bindCall } from "../../requests/model/bound-call.ts";
import { planRef, type Evidence } from "../../requests/model/plan.ts";
import { createPlan } from "../../requests/plans/create-plan.ts";
import { useCall } from "../../requests/plans/use-call.ts";
import { callIdOf, TOOL_DOOR, TOOL_RUN, toolRefOf } from "../http/tool-request.ts";
import { wireTime } from "../http/question.ts";
import type { Exchange } from "./exchange.ts";
import { exactArgument } from "./message.ts";
import { checked, identify, readOwnRequest, requestOneCall, type OpenedRequest } from "./people.ts";
import { Plan, Use, usualTimeout } from "./people-fields.ts";
import { membersOf, type JsonMembers } from "./rpc.ts";
import { toolResult } from "./tool-result.ts";

/**
 * Asks whether one call may run, or, where the agent gives `calls`, several of them one after the other (spec/mcp 4.6).
 *
 * @throws {Refusal} `invalid_input`, `human_unknown`, `idempotency_mismatch`, `rate_limited`, `quota_exceeded`
 */
export async function requestApproval(exchange: Exchange, given: object): Promise<OpenedRequest> {
  const names = Object.keys(given);
  const isPlan = names.includes("calls");
  const odd = (isPlan ? OF_ONE_CALL : OF_A_PLAN).find((name) => names.includes(name));
  if (odd !== undefined) {
    const message = isPlan
      ? `${odd} and calls exclude each other`
      : `${odd} goes with calls, which may be a single one`;
    throw refuseFields([{ message, field: odd, constraint: "excluded" }]);
  }
  if (isPlan) return requestPlan(exchange, given);
  if (!names.includes("fn") && !names.includes("kwargs")) {
    throw refuseFields([{ message: "give fn and kwargs, or calls", field: "fn", constraint: "required" }]);
  }
  return requestOneCall(exchange, given);
}

const OF_ONE_CALL = ["fn", "kwargs", "reject_options"];
const OF_A_PLAN = ["title", "evidence"];

async function requestPlan(exchange: Exchange, given: object): Promise<OpenedRequest> {
  const { idempotency_key: key, max_wait_seconds: maxWaitSeconds, ...rest } = checked(Plan, given);
  const { title, reason = "", to } = rest;
  const evidence = (rest.evidence ?? []) as readonly Evidence[];
  const { call, door, principal } = exchange;
  await yieldAfterLarge(call.bytes);
  const exact = exactArgument(call, "calls") as { kwargs: JsonObject }[];
  const bounds = [];
  for (const [i, { fn }] of rest.calls.entries()) {
    const bound = bindCall(fn, exact[i]?.kwargs ?? {});
    await yieldAfterLarge(bound.canonical);
    bounds.push(bound);
  }
  const timeoutSeconds = rest.timeout_seconds ?? usualTimeout.approval;
  const calls = bounds.map(({ fn, canonical }) => ({ fn, kwargs: new CanonicalJson(canonical) }));
  const { id, wire, ...shared } = await identify(exchange, "plan", {
    words: reason,
    to,
    timeoutSeconds,
    normalized: { ...rest, calls, evidence, reason, timeout_seconds: timeoutSeconds },
    key: key === undefined ? undefined : `key ${key}`,
  });
  const spec = JSON.stringify({ ...(title !== undefined && { title }), ...(reason !== "" && { msg: reason }) });
  const { request } = await createPlan(door.ctx, door.policy.current().policy, {
    ...shared,
    asker: principal,
    ref: planRef(id),
    ...(title !== undefined && { title }),
    evidence,
    calls: bounds.map((bound, i) => ({
      door: TOOL_DOOR,
      ref: toolRefOf(`${id}.${i + 1}`),
      sameHash: sha256Digest(`${id} ${bound.digest}`),
      bound,
      wire: {},
    })),
    wire: { ...wire, run_id: TOOL_RUN, plan_id: id, spec },
  });
  return { request, maxWaitSeconds };
}

const RUN_NOW = "Run exactly this call now, once. It counts as used, whatever comes of it.";

/**
 * Takes an approved call of a plan just before the agent runs it (spec/mcp 4.6). A message that its sender repeats under
 * one `Idempotency-Key`, as `parley mcp` and a supervisor do where a reply was lost, takes it once.
 *
 * @throws {Refusal} `invalid_input`, `question_not_found`, `not_in_plan`, `outcome_known`, `idempotency_mismatch`
 */
export async function useApprovedCall({ door, principal, http }: Exchange, given: object): Promise<JsonMembers> {
  const { call_id: callId } = checked(Use, given);
  const call = await readOwnRequest(door.ctx, principal, callId);
  const { form, plan } = call;
  if (plan === undefined || form.kind !== "approval") throw new Refusal("not_in_plan", { reason: "no_plan" }, NO_CALL);
  const key = http.headers["idempotency-key"];
  const named = typeof key === "string" ? `mcp:${sha256Digest(key)}` : door.ctx.newId("use");
  const used = await useCall(door.ctx, plan, { key: named, callId }).catch((error: unknown) => {
    throw error instanceof Refusal && error.code === "not_in_plan" ? withAdvice(error) : error;
  });
  const { ord, digest, usedAt } = used.call;
  const head = membersOf({
    plan_id: callId.slice(0, callId.indexOf(".")),
    call_id: callIdOf(used.call),
    ord,
    fn: form.fn,
  });
  const tail = membersOf({ consent_digest: digest, used_at: wireTime(usedAt) });
  // The arguments stand in it digit for digit.
  return toolResult(`{${head},"kwargs":${form.kwargs},${tail}}`, RUN_NOW);
}

const NO_CALL = "This is no call of a plan. Give a call_id from the calls of a plan that request_approval returned.";

const ADVICE: Readonly<Record<string, string>> = {
  not_approved: "Do not run it. check_human_responses with the plan_id says whether people still decide, or why not.",
  expired: "Do not run it. Ask anew by request_approval for what is left.",
  order: "Do not run it yet. Use and run the call with expected_call_id first.",
  spent: "Do not run it again. Ask anew by request_approval if it has to run once more.",
};

function withAdvice({ details, message }: Refusal): Refusal {
  const advice = ADVICE[String(details["reason"])];
  return new Refusal("not_in_plan", details, advice === undefined ? message : `${message} ${advice}`);
}
