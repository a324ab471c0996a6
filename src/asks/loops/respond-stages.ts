import { policyInputOf } from "../model/policy-input.ts";
import { isPresetFor } from "../model/policy-input.ts";
import type { Context } from "../../context.ts";
import { storeNow } from "../../core/store-now.ts";
import type { Audience, ForeignSchema } from "../../requests/model/request.ts";
import { decisionText, isCacheable, personDecisionText } from "../model/decision-key.ts";
import type { PolicyInput, PolicyDecision } from "../../policy/model/policy.ts";
import { errorText, type ErrorCode, type Ask, type Stage, type StageRecord } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { isDecision, timeoutText } from "../model/people.ts";
import { isForNamed, isForPublic } from "../model/public.ts";
import { MACHINE_MS } from "../model/rules.ts";
import type { ResponderAnswer, ResponderPass } from "../../responders/responder.ts";
import { judge } from "../../policy/judge.ts";
import { guardedOf, relayAudience, type ResolvedAudience } from "../people.ts";
import type { NewAskAnswer } from "../settle.ts";
import * as verbs from "../respond.ts";
import type { JobAt, Keep, AskAt, FollowUpRound } from "../respond.ts";
import type { Machine, MachineRole } from "./machine.ts";

/** A responder that was at it so often is not asked again. */
const MOST_TRIES = 5;
const AFTER_RUN_MS = 5000;

/** One ask on its way through the stages. */
export interface Way {
  held: AskAt;
  job: JobAt;
  stages: StageRecord[];
  /** Closes a stage's line. */
  pass(stage: Stage, outcome: string): void;
}

/**
 * Takes an ask through its stages (spec/relay 7), until it ends or goes to people. A fault ends it at once. Otherwise
 * policy, cache and runner are asked, in that order.
 */
export async function throughStages(ctx: Context, machine: Machine, way: Way): Promise<void> {
  const { ask } = way.held;
  const role = machine.role(ask.roleId, ask.type);
  const fault = await faultOf(ctx, way, role);
  if (fault) {
    way.pass("intake", fault.code);
    await end(ctx, way, { stage: "intake", answer: failed(fault.code, fault.text), judged: null });
    return;
  }
  way.pass("intake", "accepted");
  for (let again = 0; again < MOST_TRIES; again += 1) if (await decide(ctx, machine, way, role)) return;
  throw new Error("a grant was there and gone each time it was looked at");
}

interface Fault {
  code: ErrorCode;
  text: string;
}

/** Returns the fault of an ask that was accepted all the same, so that the history shows it (spec/relay 7). */
async function faultOf(ctx: Context, { held }: Way, role: MachineRole | null): Promise<Fault | null> {
  const { ask, mismatch } = held;
  if (mismatch) return { code: "E_CONTEXT_MISMATCH", text: "context_hash does not match context_envelope" };
  const allowed = ask.constraints.allowedTools ?? ["code.run"];
  const beyond = Object.keys(ask.envelope?.tool_caps ?? {}).find((tool) => !allowed.includes(tool));
  if (beyond !== undefined)
    return { code: "E_CAPS_VIOLATION", text: `tool_caps names ${beyond}, which is not allowed` };
  if (ask.roleId === null) return null;
  if (!role) return { code: "E_ROLE_NOT_FOUND", text: `there is no role ${ask.roleId}` };
  const { input } = ask.meta;
  if (!role.inputSchema || input === undefined) return null;
  const [problem] = await ctx.schemas.validate(role.inputSchema, input);
  return problem ? { code: "E_ROLE_INPUT", text: `${problem.path || "input"} ${problem.message}` } : null;
}

/** Goes through policy, cache and runner to an end, or to people. False where it has to be judged again. */
async function decide(ctx: Context, machine: Machine, way: Way, role: MachineRole | null): Promise<boolean> {
  const { held, job, pass, stages } = way;
  const { ask } = held;
  const policy = machine.policy();
  const input = policyInputOf(ask, job.job, role ? { role: role.name } : {});
  const judged = await judge(ctx.db, { policy, preset: isPresetFor(ask, job.job) ? machine.preset : null }, input);
  machine.observe?.({ is: "policy", decision: judged.decision, defaulted: judged.trace.defaulted });
  const ruled = byPolicy(ask, judged);
  if (ruled) {
    stages.splice(1);
    pass("policy", ruled.status.toLowerCase());
    return end(ctx, way, { stage: "policy", answer: { ...ruled, policyTrace: judged.trace }, judged });
  }
  pass("policy", `${judged.decision}: ${judged.because}`);
  const goesOn = { machine, input, judged, role };
  const isAdvised = ask.type === "POLICY_DECISION" && ctx.relay.policyAdvice && ctx.relay.people !== null;
  if (isAdvised) return run(ctx, way, goesOn, null);
  if (isDecision(ask) || judged.decision === "ESCALATE") return toPeople(ctx, way, goesOn, { remarks: [], keep: null });

  const { trace, key } = await lookUp(ctx, way, goesOn);
  if (!key.found) return run(ctx, way, { ...goesOn, judged: { ...judged, trace } }, key.keep);
  const { text, json, attestation } = key.found;
  const repeated: NewAskAnswer = {
    status: "ANSWERED",
    cacheable: true,
    truncated: false,
    source: "cache",
    principal: "",
    policyTrace: trace,
    ...(text !== null && { text }),
    ...(json !== undefined && { json }),
    ...(attestation && { attestation }),
    ...(key.found.answeredBy !== null && { answeredBy: key.found.answeredBy }),
  };
  pass("cache", "hit");
  return end(ctx, way, { stage: "cache", answer: repeated, judged, repeats: key.found.key });
}

/** Returns the answer that policy alone gives to an ask; null where the ask goes on (spec/relay 7). */
function byPolicy(ask: Ask, judged: PolicyDecision): NewAskAnswer | null {
  const base = {
    cacheable: false,
    truncated: false,
    source: "policy",
    principal: judged.trace.policy,
  } as const;
  if (judged.decision === "DENY") {
    const error = { errorCode: "E_POLICY_DENY", error: errorText("E_POLICY_DENY", judged.because) } as const;
    return { ...base, ...error, status: "REJECTED" };
  }
  if (judged.decision === "ESCALATE") return null;
  if (ask.type === "POLICY_DECISION") {
    return { ...base, status: "ANSWERED", json: { decision: "ALLOW", rules: judged.rules } };
  }
  // Policy approves only by a rule that matched.
  if (ask.type !== "APPROVAL" || !judged.matchedRule) return null;
  return { ...base, status: "ANSWERED", json: { approved: true, by: "policy" } };
}

/** The keys of the decision cache: `key` for a machine's answer, `personKey` for a person's, which names who was asked. */
interface Kept extends Keep {
  personKey(audience: Audience): string;
}

interface Looked {
  found?: verbs.CachedDecision;
  keep: Kept | null;
}

async function lookUp(
  ctx: Context,
  { held, pass }: Way,
  { machine, role, judged }: GoesOn,
): Promise<{ trace: PolicyTrace; key: Looked }> {
  const { ask } = held;
  const { trace } = judged;
  const result = (result: "hit" | "miss" | "bypass") => machine.observe?.({ is: "cache", result, type: ask.type });
  if (!isCacheable(ask)) {
    result("bypass");
    pass("cache", "bypassed");
    return { trace: { ...trace, cache: "bypass" }, key: { keep: null } };
  }
  const policyVersion = trace.policy_version;
  const on = { policyVersion, role, model: machine.model() };
  const key = ctx.keyring.decisionMac(decisionText(ask, on));
  const personKey = (audience: Audience) => ctx.keyring.decisionMac(personDecisionText(ask, on, audience));
  const made = await verbs.readDecision(ctx, key);
  const isMachines = made !== undefined && made.source !== "person";
  const found = isMachines ? made : await findPersonal(ctx, ask, judged, personKey);
  result(found ? "hit" : "miss");
  if (!found) pass("cache", "missed");
  const keep: Kept = { key, personKey, role: role?.name ?? null, policyVersion };
  return { trace: { ...trace, cache: found ? "hit" : "miss" }, key: { keep, ...(found && { found }) } };
}

/** Returns the answer that the people who would be asked gave this asker before; nothing where nobody is asked. */
async function findPersonal(
  ctx: Context,
  ask: Ask,
  judged: PolicyDecision,
  personKey: Kept["personKey"],
): Promise<verbs.CachedDecision | undefined> {
  if (ctx.relay.people === null) return undefined;
  const { audience } = await peopleFor(ctx, ask, judged);
  return verbs.readDecision(ctx, personKey(audience));
}

interface GoesOn {
  machine: Machine;
  input: PolicyInput;
  judged: PolicyDecision;
  role: MachineRole | null;
}

async function run(ctx: Context, way: Way, goesOn: GoesOn, keep: Kept | null): Promise<boolean> {
  const { held, job, pass, stages } = way;
  const { ask, tries } = held;
  const { machine, judged } = goesOn;
  const leftMs = ask.expiresAt - (await storeNow(ctx.db));
  const skip =
    machine.model() === null
      ? "there is no model"
      : isForPublic(ask)
        ? "it is for the public"
        : tries >= MOST_TRIES
          ? "it failed too often"
          : leftMs <= 0
            ? "no time is left"
            : null;
  if (skip !== null) {
    pass("runner", `skipped: ${skip}`);
    return toPeople(ctx, way, goesOn, { remarks: [], keep });
  }
  const limitMs = Math.min(leftMs, MACHINE_MS);
  const entered = await verbs.enterStage(ctx, ask, {
    stage: "runner",
    stages: [...stages],
    respondInMs: limitMs + AFTER_RUN_MS,
    decisionKey: keep?.key ?? null,
    policyTrace: judged.trace,
  });
  if (!entered) return true;
  const rounds = await verbs.readRounds(ctx, ask);
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, ctx.stopping]);
  const made = await machine.runner
    .respond(
      { ask: entered.ask, job: job.job, options: held.options, trace: judged.trace, leftMs: limitMs, rounds },
      signal,
    )
    .finally(() => abort.abort());
  // A server that stops leaves the ask to the next one.
  if (ctx.stopping.aborted && made.is === "pass") return true;
  pass("runner", made.is === "answer" ? made.because : `passed: ${made.because}`);
  // A machine may only give an opinion on a decision: people decide, whatever the machine returned.
  if (isDecision(ask)) return toPeople(ctx, way, goesOn, { remarks: opinionRemarks(made), keep: null });
  if (made.is === "pass") return passedOn(ctx, way, { ...goesOn, keep, rounds }, made);
  // A tool's failure ends the ask: the executor can ask for less (spec/relay 7).
  if (made.status !== "ERROR" && made.askBack !== undefined && followsPeople(ctx, rounds)) {
    return toPeople(ctx, way, goesOn, { remarks: [askBackRemark(made.askBack)], keep });
  }
  return end(ctx, way, { stage: "runner", answer: fromRunner(made, judged.trace), judged, keep });
}

/** Whether a question back goes to people first; with too many rounds behind it, it always does (spec/relay 7). */
function followsPeople(ctx: Context, rounds: readonly FollowUpRound[]): boolean {
  return (
    ctx.relay.people !== null && (ctx.relay.askBack === "people_first" || rounds.length > ctx.relay.maxAskBackRounds)
  );
}

const askBackRemark = (askBack: string): string => `A model asks: ${askBack}`;

function opinionRemarks(made: ResponderAnswer | ResponderPass): string[] {
  return made.is === "pass" && made.opinion !== undefined
    ? [`Machine opinion, which decides nothing: ${made.opinion}`]
    : [];
}

function fromRunner(made: ResponderAnswer, policyTrace: PolicyTrace): NewAskAnswer {
  const { status, text, json, artifacts, cacheable, askBack, error, attestation, truncated = false } = made;
  return {
    status,
    cacheable,
    truncated,
    policyTrace,
    source: "runner",
    principal: attestation?.model ?? "",
    ...(text !== undefined && { text }),
    ...(json !== undefined && { json }),
    ...(artifacts && { artifacts }),
    ...(askBack !== undefined && { askBack }),
    ...(attestation && { attestation }),
    ...(error && { errorCode: error.code, error: errorText(error.code, error.text) }),
  };
}

/** The runner gave no answer: a question back may be for the executor, everything else is for people. */
async function passedOn(
  ctx: Context,
  way: Way,
  goesOn: GoesOn & { keep: Kept | null; rounds: readonly FollowUpRound[] },
  { askBack, error, because }: ResponderPass,
): Promise<boolean> {
  const { judged, keep, rounds } = goesOn;
  const { trace: policyTrace } = judged;
  if (askBack !== undefined && !followsPeople(ctx, rounds)) {
    const answer: NewAskAnswer = {
      status: "ANSWERED",
      cacheable: false,
      truncated: false,
      source: "runner",
      principal: "",
      policyTrace,
      askBack,
      // Clients that know nothing of questions back would else have nothing at all (spec/relay 21).
      text: `Question back: ${askBack}`,
    };
    return end(ctx, way, { stage: "runner", answer, judged });
  }
  if (ctx.relay.people === null) {
    const { code, text } = error ?? { code: "E_NO_ANSWERER" as const, text: because };
    return end(ctx, way, { stage: "runner", answer: { ...failed(code, text), policyTrace }, judged });
  }
  const remarks = [
    ...(askBack === undefined ? [] : [askBackRemark(askBack)]),
    ...(error ? [`A model was asked first and failed: ${error.code}.`] : []),
  ];
  return toPeople(ctx, way, goesOn, { remarks, keep });
}

/** Puts an ask to people; what they answer may be kept where nothing but a machine's silence brought it there. */
async function toPeople(
  ctx: Context,
  way: Way,
  goesOn: GoesOn,
  { remarks, keep }: { remarks: readonly string[]; keep: Kept | null },
): Promise<boolean> {
  const { held, stages, pass } = way;
  const { ask } = held;
  const { judged, input, role } = goesOn;
  if (ctx.relay.people === null) {
    pass("people", "skipped: nobody is asked here");
    const isEscalated = judged.decision === "ESCALATE" || isDecision(ask);
    const answer = isEscalated
      ? {
          ...failed("E_NO_ANSWERER", judged.because),
          status: "REJECTED" as const,
          askBack: `Policy puts this to people, and none are asked here: ${judged.trace.policy}`,
        }
      : failed("E_NO_ANSWERER", "no machine could answer, and nobody is asked here");
    return end(ctx, way, { stage: "people", answer: { ...answer, policyTrace: judged.trace }, judged });
  }
  if (ask.constraints.timeoutS !== undefined && ask.expiresAt <= (await storeNow(ctx.db))) {
    const answer = { ...failed("E_TIMEOUT", timeoutText(ask)), status: "TIMEOUT" as const };
    return end(ctx, way, { stage: "people", answer: { ...answer, policyTrace: judged.trace }, judged });
  }
  if (goesToPublic(ctx, ask, judged)) {
    const plan = { stages: [...stages], schema: peopleSchema(ask, role), trace: judged.trace };
    await verbs.handToPublic(ctx, ask, plan);
    return true;
  }
  const asked = await peopleFor(ctx, ask, judged);
  const unknown =
    asked.unknown === null ? [] : [`Nobody here is called ${asked.unknown}, so everybody who sees all is asked.`];
  await verbs.handToPeople(
    ctx,
    ask,
    {
      asked,
      guarded: await guardedOf(ctx, held),
      input,
      stages: [...stages],
      schema: peopleSchema(ask, role),
      isGrantable: judged.isGrantable,
      trace: judged.trace,
      keep: keep && { key: keep.personKey(asked.audience), role: keep.role, policyVersion: keep.policyVersion },
      remarks: [...remarks, ...unknown],
    },
    { judged },
  );
  return true;
}

/** Returns the people an ask would be put to: those whom policy names, else the ask, else the usual ones. */
async function peopleFor(ctx: Context, ask: Ask, judged: PolicyDecision): Promise<ResolvedAudience> {
  const { to, audience } = ask.meta;
  const group = typeof audience === "string" && ctx.addressed.groups.has(audience) ? audience : undefined;
  const names = [judged.to, typeof to === "string" ? to : undefined, group, ctx.relay.people?.default ?? undefined];
  return relayAudience(ctx, { to: names, need: judged.need ?? 1 });
}

/**
 * Returns whether the public is asked. Decisions never go to the public, nor do asks for which policy or the ask itself
 * names a person.
 */
function goesToPublic({ relay }: Context, ask: Ask, judged: PolicyDecision): boolean {
  if (relay.people?.public !== true || !isForPublic(ask) || isDecision(ask)) return false;
  return judged.decision !== "ESCALATE" && !isForNamed(ask);
}

/** Returns the schema that an answer of people or services has to fit: the ask's own, else that of its role. */
function peopleSchema(ask: Ask, role: MachineRole | null): ForeignSchema | null {
  const overrides = ask.meta["prompt_overrides"] as { output_schema?: unknown } | undefined;
  const wanted = overrides?.output_schema ?? (ask.roleId === null ? null : role?.outputSchema);
  return typeof wanted === "object" && wanted !== null ? (wanted as ForeignSchema) : null;
}

function failed(code: ErrorCode, text: string): NewAskAnswer {
  const error = { errorCode: code, error: errorText(code, text) };
  return { ...error, status: "ERROR", cacheable: false, truncated: false, source: "server", principal: "" };
}

interface End {
  stage: Stage;
  answer: NewAskAnswer;
  judged: PolicyDecision | null;
  keep?: Keep | null;
  repeats?: string;
}

async function end(ctx: Context, { held, stages }: Way, { answer, ...how }: End): Promise<boolean> {
  return verbs.endByMachine(ctx, held.ask, answer, { ...how, stages: [...stages] });
}
