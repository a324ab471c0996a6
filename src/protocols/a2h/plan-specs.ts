import type { z } from "zod";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { evidenceFault, type Evidence } from "../../requests/model/plan.ts";
import { members } from "../../wire/fields.ts";
import { evidenceKind, NEW_EVIDENCE, newEvidenceField, NewPlanBody, PlanUseBody } from "../../wire/a2h/plan.ts";
import type { ChannelRules } from "./contact-channel.ts";
import { BODY, complain, member, read, readList, readMembers, within, type Place, type Problem } from "./fields.ts";
import { askedIn, channelRule, stepsRule, type ReadSpec } from "./specs.ts";

/** One call of a plan, as its agent writes it. */
export interface ReadPlannedCall {
  callId: string | undefined;
  fn: string;
  kwargs: JsonObject;
}

export type ReadPlan = ReadSpec & {
  planId: string | undefined;
  runId: string | undefined;
  title: string | undefined;
  msg: string | undefined;
  calls: readonly ReadPlannedCall[];
  evidence: readonly Evidence[];
};

/** Reads a plan (spec/a2h 22). */
export function readNewPlan(body: JsonObject, problems: Problem[], rules: ChannelRules): ReadPlan | undefined {
  const place = { loc: BODY, problems };
  const found = readMembers(NewPlanBody, body, place, {
    calls: plannedCalls,
    evidence: evidenceIn,
    channel: channelRule({ ...rules, joint: true, composite: true }),
    escalation: stepsRule(rules),
  });
  const { plan_id: planId, run_id: runId, calls, evidence = [], ...spec } = found;
  if (calls === undefined) return undefined;
  const { title, msg } = spec;
  return { ...askedIn(spec), planId, runId, title, msg, calls, evidence };
}

function plannedCalls(value: unknown, place: Place): ReadPlannedCall[] | undefined {
  const found = read(NewPlanBody.shape.calls, value, place);
  const ids = found?.map(({ call_id: id }) => id) ?? [];
  const again = ids.findIndex((id, i) => id !== undefined && ids.indexOf(id) !== i);
  if (again >= 0) complain(place.problems, [...place.loc, again, "call_id"], "pattern", "is used twice");
  return found?.map(({ call_id: callId, spec: { fn, kwargs } }) => ({ callId, fn, kwargs }));
}

function evidenceIn(value: unknown, place: Place): Evidence[] | undefined {
  return readList(newEvidenceField, value, place, (one, at): Evidence | undefined => {
    const given = read(members, one, at);
    if (!given) return undefined;
    const kind = read(evidenceKind, member(given, "kind"), within(at, "kind"));
    const found = kind && read<Evidence>(NEW_EVIDENCE[kind] as z.ZodType as z.ZodType<Evidence>, given, at);
    const fault = found && evidenceFault(found);
    return fault ? complain(at.problems, [...at.loc, ...fault.at], fault.constraint, fault.says) : found;
  });
}

/** A use of a call: by its function and arguments, by its id, or by both. */
export interface ReadUse {
  call: { fn: string; kwargs: JsonObject } | undefined;
  callId: string | undefined;
  run: string | undefined;
}

/** Reads the use of a call of a plan. */
export function readUse(body: JsonObject, problems: Problem[]): ReadUse | undefined {
  const { fn, kwargs, call_id: callId, run } = readMembers(PlanUseBody, body, { loc: BODY, problems });
  if (problems.length > 0) return undefined;
  const isNamed = callId !== undefined;
  if (fn === undefined && (kwargs !== undefined || !isNamed))
    complain(problems, [...BODY, "fn"], "required", "is required");
  if (kwargs === undefined && (fn !== undefined || !isNamed))
    complain(problems, [...BODY, "kwargs"], "required", "is required");
  if (run !== undefined && !isNamed) complain(problems, [...BODY, "call_id"], "required", "is required beside run");
  return { call: fn === undefined || kwargs === undefined ? undefined : { fn, kwargs }, callId, run };
}
