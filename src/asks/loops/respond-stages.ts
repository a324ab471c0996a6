import { policyInputOf } from "../model/policy-input.ts";
import { isPresetFor } from "../model/policy-input.ts";
import type { Context } from "../../context.ts";
import type { Audience, ForeignSchema } from "../../requests/model/request.ts";
import { decisionText, isCacheable, personDecisionText } from "../model/decision-key.ts";
import type { PolicyInput, PolicyVerdict } from "../../policy/model/policy.ts";
import { errorText, type ErrorCode, type RelayAsk, type Stage, type StageRecord } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { isDecision, timeoutText } from "../model/people.ts";
import { isForNamed, isForPublic } from "../model/public.ts";
import { MACHINE_MS } from "../model/rules.ts";
import type { ResponderAnswer, ResponderPass } from "../../responders/responder.ts";
import { judge } from "../../policy/judge.ts";
import { guardedOf, relayAudience, type ResolvedAudience } from "../people.ts";
import type { NewAskAnswer } from "../settle.ts";
import * as verbs from "../respond.ts";
import type { JobAt, Keep, RelayAskAt, FollowUpRound } from "../respond.ts";
import type { Machine, MachineRole } from "./machine.ts";

/** A responder that was at it so often is not asked again. */
const MOST_TRIES = 5;
const AFTER_RUN_MS = 5000;

/** One ask on its way through the stages. */
export interface Way {
  held: RelayAskAt;
  job: JobAt;
  stages: StageRecord[];
  /** Closes a stage's line. */
  pass(stage: Stage, outcome: string): void;
}

/**
 * Takes an ask through its stages (spec/relay 7): to an end, or to people. What is wrong with it ends it
 * at once; policy, cache and runner are asked in that order.
 */
export async function throughStages(ctx: Context, machine: Machine, way: Way): Promise<void> {
  const { ask } = way.held;
  const role = machine.role(ask.roleId, ask.type);
  const fault = await faultOf(ctx, way, role);
  if (fault) {
    way.pass("intake", fault.code);
    await end(ctx, way, { stage: "intake", answer: failed(fault.code, fault.text), verdict: null });
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

/** What is wrong with an ask that was accepted all the same, so that it is in the history (spec/relay 7). */
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
  const verdict = await judge(ctx.db, { policy, preset: isPresetFor(ask, job.job) ? machine.preset : null }, input);
  machine.observe?.({ is: "policy", decision: verdict.decision, defaulted: verdict.trace.defaulted });
  const ruled = byPolicy(ask, verdict);
  if (ruled) {
    stages.splice(1);
    pass("policy", ruled.status.toLowerCase());
    return end(ctx, way, { stage: "policy", answer: { ...ruled, policyTrace: verdict.trace }, verdict });
  }
  pass("policy", `${verdict.decision}: ${verdict.because}`);
  const goesOn = { machine, input, verdict, role };
  const isAdvised = ask.type === "POLICY_DECISION" && ctx.relay.policyAdvice && ctx.relay.people !== null;
  if (isAdvised) return run(ctx, way, goesOn, null);
  if (isDecision(ask) || verdict.decision === "ESCALATE")
    return toPeople(ctx, way, goesOn, { remarks: [], keep: null });

  const { trace, key } = await lookUp(ctx, way, goesOn);
  if (!key.found) return run(ctx, way, { ...goesOn, verdict: { ...verdict, trace } }, key.keep);
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
  return end(ctx, way, { stage: "cache", answer: repeated, verdict, repeats: key.found.key });
}

/** What policy alone makes of an ask, where it ends it (spec/relay 7). */
function byPolicy(ask: RelayAsk, verdict: PolicyVerdict): NewAskAnswer | null {
  const base = { cacheable: false, truncated: false, source: "policy", principal: verdict.trace.policy } as const;
  if (verdict.decision === "DENY") {
    const error = { errorCode: "E_POLICY_DENY", error: errorText("E_POLICY_DENY", verdict.because) } as const;
    return { ...base, ...error, status: "REJECTED" };
  }
  if (verdict.decision === "ESCALATE") return null;
  if (ask.type === "POLICY_DECISION") {
    return { ...base, status: "ANSWERED", json: { decision: "ALLOW", rules: verdict.rules } };
  }
  // What no rule speaks of is never approved.
  if (ask.type !== "APPROVAL" || !verdict.matchedRule) return null;
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
  { machine, role, verdict }: GoesOn,
): Promise<{ trace: PolicyTrace; key: Looked }> {
  const { ask } = held;
  const { trace } = verdict;
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
  const found = isMachines ? made : await findPersonal(ctx, ask, verdict, personKey);
  result(found ? "hit" : "miss");
  if (!found) pass("cache", "missed");
  const keep: Kept = { key, personKey, role: role?.name ?? null, policyVersion };
  return { trace: { ...trace, cache: found ? "hit" : "miss" }, key: { keep, ...(found && { found }) } };
}

/** Returns the answer that the people who would be asked gave this asker before; nothing where nobody is asked. */
async function findPersonal(
  ctx: Context,
  ask: RelayAsk,
  verdict: PolicyVerdict,
  personKey: Kept["personKey"],
): Promise<verbs.CachedDecision | undefined> {
  if (ctx.relay.people === null) return undefined;
  const { audience } = await peopleFor(ctx, ask, verdict);
  return verbs.readDecision(ctx, personKey(audience));
}

interface GoesOn {
  machine: Machine;
  input: PolicyInput;
  verdict: PolicyVerdict;
  role: MachineRole | null;
}

async function run(ctx: Context, way: Way, goesOn: GoesOn, keep: Kept | null): Promise<boolean> {
  const { held, job, pass, stages } = way;
  const { ask, tries } = held;
  const { machine, verdict } = goesOn;
  const leftMs = ask.expiresAt - (await verbs.readNow(ctx));
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
    policyTrace: verdict.trace,
  });
  if (!entered) return true;
  const rounds = await verbs.readRounds(ctx, ask);
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, ctx.stopping]);
  const made = await machine.runner
    .respond(
      { ask: entered.ask, job: job.job, options: held.options, trace: verdict.trace, leftMs: limitMs, rounds },
      signal,
    )
    .finally(() => abort.abort());
  // A server that stops leaves the ask to the next one.
  if (ctx.stopping.aborted && made.is === "pass") return true;
  pass("runner", made.is === "answer" ? made.because : `passed: ${made.because}`);
  // Of a decision no machine has more than an opinion, whatever came of asking it.
  if (isDecision(ask)) return toPeople(ctx, way, goesOn, { remarks: opinionRemarks(made), keep: null });
  if (made.is === "pass") return passedOn(ctx, way, { ...goesOn, keep, rounds }, made);
  // What a tool failed at ends the ask: the executor can ask for less (spec/relay 7).
  if (made.status !== "ERROR" && made.askBack !== undefined && toldToPeople(ctx, rounds)) {
    return toPeople(ctx, way, goesOn, { remarks: [askBackRemark(made.askBack)], keep });
  }
  return end(ctx, way, { stage: "runner", answer: fromRunner(made, verdict.trace), verdict, keep });
}

/** Whether a question back goes to people first; with too many rounds behind it, it always does (spec/relay 7). */
function toldToPeople(ctx: Context, rounds: readonly FollowUpRound[]): boolean {
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
  const { verdict, keep, rounds } = goesOn;
  const { trace: policyTrace } = verdict;
  if (askBack !== undefined && !toldToPeople(ctx, rounds)) {
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
    return end(ctx, way, { stage: "runner", answer, verdict });
  }
  if (ctx.relay.people === null) {
    const { code, text } = error ?? { code: "E_NO_ANSWERER" as const, text: because };
    return end(ctx, way, { stage: "runner", answer: { ...failed(code, text), policyTrace }, verdict });
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
  const { verdict, input, role } = goesOn;
  if (ctx.relay.people === null) {
    pass("people", "skipped: nobody is asked here");
    const isEscalated = verdict.decision === "ESCALATE" || isDecision(ask);
    const answer = isEscalated
      ? {
          ...failed("E_NO_ANSWERER", verdict.because),
          status: "REJECTED" as const,
          askBack: `Policy puts this to people, and none are asked here: ${verdict.trace.policy}`,
        }
      : failed("E_NO_ANSWERER", "no machine could answer, and nobody is asked here");
    return end(ctx, way, { stage: "people", answer: { ...answer, policyTrace: verdict.trace }, verdict });
  }
  if (ask.constraints.timeoutS !== undefined && ask.expiresAt <= (await verbs.readNow(ctx))) {
    const answer = { ...failed("E_TIMEOUT", timeoutText(ask)), status: "TIMEOUT" as const };
    return end(ctx, way, { stage: "people", answer: { ...answer, policyTrace: verdict.trace }, verdict });
  }
  if (goesToPublic(ctx, ask, verdict)) {
    const plan = { stages: [...stages], schema: peopleSchema(ask, role), trace: verdict.trace };
    await verbs.handToPublic(ctx, ask, plan);
    return true;
  }
  const asked = await peopleFor(ctx, ask, verdict);
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
      standing: verdict.standing,
      trace: verdict.trace,
      keep: keep && { key: keep.personKey(asked.audience), role: keep.role, policyVersion: keep.policyVersion },
      remarks: [...remarks, ...unknown],
    },
    { verdict },
  );
  return true;
}

/** Returns the people an ask would be put to: those whom policy names, else the ask, else the usual ones. */
async function peopleFor(ctx: Context, ask: RelayAsk, verdict: PolicyVerdict): Promise<ResolvedAudience> {
  const { to, audience } = ask.meta;
  const group = typeof audience === "string" && ctx.addressed.groups.has(audience) ? audience : undefined;
  const names = [verdict.to, typeof to === "string" ? to : undefined, group, ctx.relay.people?.default ?? undefined];
  return relayAudience(ctx, { to: names, need: verdict.need ?? 1 });
}

/** Whom policy or the ask itself names is asked, and never the public instead; nor is the public ever asked to decide. */
function goesToPublic({ relay }: Context, ask: RelayAsk, verdict: PolicyVerdict): boolean {
  if (relay.people?.public !== true || !isForPublic(ask) || isDecision(ask)) return false;
  return verdict.decision !== "ESCALATE" && !isForNamed(ask);
}

/** What an answer of people or services has to fit: what the asker wants, or the role it named. */
function peopleSchema(ask: RelayAsk, role: MachineRole | null): ForeignSchema | null {
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
  verdict: PolicyVerdict | null;
  keep?: Keep | null;
  repeats?: string;
}

async function end(ctx: Context, { held, stages }: Way, { answer, ...how }: End): Promise<boolean> {
  return verbs.endByMachine(ctx, held.ask, answer, { ...how, stages: [...stages] });
}
