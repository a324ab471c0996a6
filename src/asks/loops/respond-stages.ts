import { policyInputOf } from "../model/policy-input.ts";
import { isPresetFor } from "../model/policy-input.ts";
import type { Context } from "../../context.ts";
import { storeNow } from "../../core/store-now.ts";
import type { Audience, ForeignSchema } from "../../requests/model/request.ts";
import { decisionTexts, isCacheable } from "../model/decision-key.ts";
import type { PolicyInput, PolicyDecision } from "../../policy/model/policy.ts";
import type { ErrorCode, Ask, Stage, StageRecord } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { MACHINE_MS } from "../model/rules.ts";
import { judge } from "../../policy/judge.ts";
import { guardedOf, relayAudience, type ResolvedAudience } from "../respond/put-to-people.ts";
import { mayNotAllow } from "../jobs/asker.ts";
import * as verbs from "../respond/stages.ts";
import type { JobAt, Keep, AskAt } from "../respond/stages.ts";
import type { Machine, MachineRole } from "./machine.ts";
import { afterCache, afterFault, afterPolicy, afterRunner, amongPeople, MOST_TRIES, skippedBecause } from "./route.ts";
import type { Step } from "./route.ts";

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
 * `route.ts` says after each stage which one is next.
 */
export async function throughStages(ctx: Context, machine: Machine, way: Way): Promise<void> {
  const { ask } = way.held;
  const role = machine.role(ask.roleId, ask.type);
  const fault = await faultOf(ctx, way, role);
  if (fault) {
    way.pass("intake", fault.code);
    const { stage, answer } = afterFault(fault);
    await verbs.endByMachine(ctx, ask, answer, { stage, judged: null, stages: [...way.stages] });
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

/** Goes the route of an ask to its end, or to people. False where it has to be judged again. */
async function decide(ctx: Context, machine: Machine, way: Way, role: MachineRole | null): Promise<boolean> {
  const { held, job, pass, stages } = way;
  const { ask } = held;
  const policy = machine.policy();
  const input = policyInputOf(ask, job.job, role ? { role: role.name } : {});
  let judged = await judge(ctx.db, { policy, preset: isPresetFor(ask, job.job) ? machine.preset : null }, input);
  machine.observe?.({ kind: "policy", decision: judged.decision, defaulted: judged.trace.defaulted });
  let step = afterPolicy(ask, judged, ctx.relay);
  // Only a denial ends it, and people may have it; machines see to the rest after the thaw.
  const isDenied = step.to === "end" && step.answer.status === "REJECTED";
  if (step.to !== "people" && !isDenied && (await mayNotAllow(ctx.db, held, job.job))) return true;
  if (step.to === "end") stages.splice(1);
  pass("policy", step.to === "end" ? step.answer.status.toLowerCase() : `${judged.decision}: ${judged.because}`);

  let keep: Kept | null = null;
  let found: verbs.CachedDecision | undefined;
  if (step.to === "cache") {
    const looked = await lookUp(ctx, way, { machine, judged, role });
    judged = { ...judged, trace: { ...judged.trace, cache: looked.result } };
    ({ found } = looked);
    keep = found ? null : looked.keep;
    step = afterCache(found, judged.trace);
  }
  if (step.to === "runner") {
    const ran = await run(ctx, way, { machine, judged, decisionKey: keep?.key ?? null });
    if (!ran) return true;
    step = ran;
  }
  if (step.to === "people") {
    const isLate = ask.constraints.timeoutS !== undefined && ask.expiresAt <= (await storeNow(ctx.db));
    step = amongPeople(ask, judged, { rules: ctx.relay, remarks: step.remarks, isLate });
    if (ctx.relay.people === null) pass("people", "skipped: nobody is asked here");
  }
  if (step.to === "end") {
    const { stage, answer } = step;
    const repeats = found && { repeats: found.key };
    return verbs.endByMachine(ctx, ask, answer, { stage, judged, keep, stages: [...stages], ...repeats });
  }
  const plan = { stages: [...stages], schema: peopleSchema(ask, role), trace: judged.trace };
  if (step.to === "people") await toPeople(ctx, way, { ...plan, input, judged, keep, remarks: step.remarks });
  else await verbs.handToPublic(ctx, ask, plan, { judged });
  return true;
}

/** The keys of the decision cache: `key` for a machine's answer, `personKey` for a person's, which names who was asked. */
interface Kept extends Keep {
  personKey(audience: Audience): string;
}

interface Looked {
  result: "hit" | "miss" | "bypass";
  found?: verbs.CachedDecision;
  keep: Kept | null;
}

/** Looks the ask up in the decision cache. */
async function lookUp(
  ctx: Context,
  { held, pass }: Way,
  { machine, role, judged }: { machine: Machine; role: MachineRole | null; judged: PolicyDecision },
): Promise<Looked> {
  const { ask } = held;
  const observe = (result: Looked["result"]) => machine.observe?.({ kind: "cache", result, type: ask.type });
  if (!isCacheable(ask)) {
    observe("bypass");
    pass("cache", "bypassed");
    return { result: "bypass", keep: null };
  }
  const policyVersion = judged.trace.policy_version;
  const on = { policyVersion, role, model: machine.model() };
  const texts = decisionTexts(ask, on);
  const key = ctx.keyring.decisionMac(texts.ofMachine());
  const personKey = (audience: Audience) => ctx.keyring.decisionMac(texts.ofPerson(audience));
  const asked = ctx.relay.people === null ? null : await peopleFor(ctx, ask, judged);
  const found = await verbs.readDecision(ctx, key, asked && personKey(asked.audience));
  const result = found ? "hit" : "miss";
  observe(result);
  pass("cache", found ? "hit" : "missed");
  return { result, keep: { key, personKey, role: role?.name ?? null, policyVersion }, ...(found && { found }) };
}

/** Asks the runner. Null where the ask is over, or is left to another server because this one stops. */
async function run(
  ctx: Context,
  way: Way,
  { machine, judged, decisionKey }: { machine: Machine; judged: PolicyDecision; decisionKey: string | null },
): Promise<Step | null> {
  const { held, job, pass, stages } = way;
  const { ask, tries } = held;
  const hasModel = machine.model() !== null;
  const leftMs = hasModel ? ask.expiresAt - (await storeNow(ctx.db)) : 0;
  const skipped = skippedBecause(ask, { hasModel, tries, leftMs });
  if (skipped !== null) {
    pass("runner", `skipped: ${skipped}`);
    return { to: "people", remarks: [] };
  }
  const limitMs = Math.min(leftMs, MACHINE_MS);
  const entered = await verbs.enterStage(ctx, ask, {
    stage: "runner",
    stages: [...stages],
    respondInMs: limitMs + AFTER_RUN_MS,
    decisionKey,
    policyTrace: judged.trace,
  });
  if (!entered) return null;
  const rounds = await verbs.readRounds(ctx, ask);
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, ctx.stopping]);
  const made = await machine.runner
    .respond(
      { ask: entered.ask, job: job.job, options: held.options, trace: judged.trace, leftMs: limitMs, rounds },
      signal,
    )
    .finally(() => abort.abort());
  if (ctx.stopping.aborted && made.kind === "pass") return null;
  pass("runner", made.kind === "answer" ? made.because : `passed: ${made.because}`);
  return afterRunner(ask, made, { rules: ctx.relay, rounds: rounds.length, policyTrace: judged.trace });
}

interface ToPeople {
  stages: readonly StageRecord[];
  schema: ForeignSchema | null;
  trace: PolicyTrace;
  input: PolicyInput;
  judged: PolicyDecision;
  /** People's answer is kept where nothing but a machine's silence brought the ask to them. */
  keep: Kept | null;
  remarks: readonly string[];
}

/** Puts an ask to people. */
async function toPeople(ctx: Context, { held }: Way, { judged, keep, remarks, ...plan }: ToPeople): Promise<void> {
  const { ask } = held;
  const asked = await peopleFor(ctx, ask, judged);
  const unknown =
    asked.unknown === null ? [] : [`Nobody here is called ${asked.unknown}, so everybody who sees all is asked.`];
  await verbs.handToPeople(
    ctx,
    ask,
    {
      ...plan,
      asked,
      guarded: await guardedOf(ctx, held),
      isGrantable: judged.isGrantable,
      keep: keep && { key: keep.personKey(asked.audience), role: keep.role, policyVersion: keep.policyVersion },
      remarks: [...remarks, ...unknown],
    },
    { judged },
  );
}

/** Returns the people an ask would be put to: those whom policy names, else the ask, else the usual ones. */
async function peopleFor(ctx: Context, ask: Ask, judged: PolicyDecision): Promise<ResolvedAudience> {
  const { to, audience } = ask.meta;
  const group = typeof audience === "string" && ctx.addressed.groups.has(audience) ? audience : undefined;
  const names = [judged.to, typeof to === "string" ? to : undefined, group, ctx.relay.people?.default ?? undefined];
  return relayAudience(ctx, { to: names, need: judged.need ?? 1 });
}

/** Returns the schema that an answer of people or services has to fit: the ask's own, else that of its role. */
function peopleSchema(ask: Ask, role: MachineRole | null): ForeignSchema | null {
  const overrides = ask.meta["prompt_overrides"] as { output_schema?: unknown } | undefined;
  const wanted = overrides?.output_schema ?? (ask.roleId === null ? null : role?.outputSchema);
  return typeof wanted === "object" && wanted !== null ? (wanted as ForeignSchema) : null;
}
