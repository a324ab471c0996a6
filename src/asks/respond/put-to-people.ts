import type { Context } from "../../context.ts";
import { sha256Digest } from "../../lib/json/exact-json.ts";
import type { Request, Audience, ForeignSchema, GuardedArguments } from "../../requests/model/request.ts";
import { TASK_OF_JOB } from "../../requests/model/run.ts";
import { consentText } from "../../requests/model/consent.ts";
import { seedKey } from "../model/decision-key.ts";
import type { PolicyInput } from "../../policy/model/policy.ts";
import type { AskAnswer, Ask, StageRecord } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { beforeText, formOf, RELAY_DOOR } from "../model/people.ts";
import { titleOf } from "../../core/model/title.ts";
import type { Tx } from "../../core/store/db.ts";
import { listHumans } from "../../access/store/humans.ts";
import { advanceAsk, type AskAt } from "../store/asks.ts";
import { secretsOfArguments } from "../../requests/create/guard-arguments.ts";
import { createRequestIn } from "../../requests/create/create-request.ts";
import { resolveRecipient, type Recipient, type Looking } from "../../access/resolve-recipient.ts";
import { audienceOfRecipient, personLeaf } from "../../requests/create/audience-of-recipient.ts";

const INBOX: Audience = { kind: "leaf", target: { via: "inbox" } };
const MOST_NAMED = 24;
const LOOKED_AT = 1000;

/** The audience of an ask, and the name that was not found, if any. */
export interface ResolvedAudience {
  audience: Audience;
  /** The first name that nobody has, where one was given. */
  unknown: string | null;
}

/**
 * Returns whom an ask is put to: the person or group a rule names, narrowed by whom the ask names, else the usual one,
 * else everybody who sees all there is. A name that nobody has reaches those, so that nothing is decided by silence
 * alone. Where several must agree, a group of so many is enough; else those who see all fill the other places.
 */
export async function relayAudience(
  ctx: Looking,
  { to, need }: { to: readonly (string | undefined)[]; need: number },
): Promise<ResolvedAudience> {
  const name = to.find((one) => one !== undefined && one.trim() !== "");
  const recipient: Recipient = name === undefined ? { kind: "nobody" } : await resolveRecipient(ctx, name);
  const isKnown = recipient.kind === "human" || recipient.kind === "group";
  const unknown = name !== undefined && !isKnown ? name : null;
  if (need <= 1) return { audience: isKnown ? audienceOfRecipient(recipient) : INBOX, unknown };
  // Several must agree: each of them fills one place.
  const group = recipient.kind === "group" ? recipient.group : undefined;
  const named = recipient.kind === "human" ? [recipient.human] : recipient.kind === "group" ? recipient.humans : [];
  const all = named.length >= need ? [] : await listHumans(ctx.db, 0, LOOKED_AT);
  const others = all.filter(({ seesAll, person }) => seesAll && !named.some((one) => one.person === person));
  const of = [
    ...named.map((human) => personLeaf(human, group)),
    ...others.slice(0, MOST_NAMED).map((human) => personLeaf(human)),
  ];
  // With too few of them it stays open: fewer than were wanted never decide.
  const places = of.length >= need ? of : [...of, ...Array.from({ length: need - of.length }, () => INBOX)];
  return { audience: { kind: "quorum", min: need, of: places }, unknown };
}

/** The data that an ask to people is made from. */
export interface PeoplePlan {
  asked: ResolvedAudience;
  input: PolicyInput;
  schema: ForeignSchema | null;
  stages: readonly StageRecord[];
  /** Below the prompt: what was tried, what a model asks back or thinks. */
  remarks: readonly string[];
  /** An earlier answer to the same; people see it. */
  before: AskAnswer | null;
  /** True where the approver may allow the same call permanently. */
  isGrantable: boolean;
  /** The policy's decision and its reasons. */
  trace: PolicyTrace;
  /** Under which key an answer may be given again; null where it may not. */
  keep: { key: string; role: string | null; policyVersion: string } | null;
  /** The asker's name, as people know it. */
  asker: string;
  /** The task whose agent asks; null for any other executor. */
  task: { repo: string; id: string } | null;
  /** The arguments of its call that hold a secret. */
  guarded: Awaited<ReturnType<typeof guardedOf>>;
}

/**
 * Puts a pending ask, held with its job, to people: the ask to them and the ask's own stage change together. Its deadline
 * is theirs from now on: the asker's own, else the one that people usually have.
 */
export async function askPeopleIn(
  ctx: Pick<Context, "newId" | "keyring" | "addressed" | "askerBounds" | "relay">,
  tx: Tx,
  held: AskAt,
  plan: PeoplePlan,
): Promise<AskAt | undefined> {
  const { ask, options } = held;
  const call = callOf(ctx, held);
  const form = call
    ? { kind: "approval" as const, ...call, rejectOptions: [], editable: false }
    : formOf(ask, { input: plan.input, options, schema: plan.schema });
  const digest = form.kind === "approval" ? sha256Digest(consentText(form.fn, form.kwargs)) : null;
  const leftMs =
    ask.constraints.timeoutS === undefined ? ctx.relay.peopleDeadlineMs : Math.max(1, ask.expiresAt - held.now);
  const timeoutSeconds = leftMs / 1000;
  const remarks = [...plan.remarks, ...(plan.before ? [beforeText(plan.before, digest)] : [])].join("\n");
  const { request: addressed } = await createRequestIn(ctx, tx, {
    door: RELAY_DOOR,
    asker: plan.asker,
    ref: `ask:${ask.id}`,
    sameHash: ask.id,
    form,
    digest,
    timeoutSeconds,
    title: form.kind === "approval" && !call ? form.fn : titleOf(ask.prompt),
    words: remarks === "" ? ask.prompt : `${ask.prompt}\n\n${remarks}`,
    audience: plan.asked.audience,
    wire: {
      run_id: `${ask.jobId} / ${ask.stepId}`,
      job_id: ask.jobId,
      step_id: ask.stepId,
      relay_ask: ask.id,
      ask_type: ask.type,
      ...(plan.task && { [TASK_OF_JOB]: plan.task }),
      standing: plan.isGrantable,
      ...(ask.reports && { reports: ask.reports }),
      policy_trace: plan.trace,
      ...(plan.keep && { keep: keepingOf(ctx, ask, plan.keep) }),
      // An approved text is never altered: one that holds a secret is shown only on Parley's own pages.
      ...plan.guarded,
    },
    uncharged: true,
  });
  return advanceAsk(tx, held, {
    stage: "people",
    stages: plan.stages,
    respondInMs: null,
    addressedId: addressed.id,
    consentDigest: digest,
    policyTrace: plan.trace,
    ...(ask.constraints.timeoutS === undefined && { expiresInMs: leftMs }),
  });
}

/** The data for storing an answer in the decision cache, as the ask to people carries it. */
export interface Keeping {
  key: string;
  role: string | null;
  seed_key: string;
  ttl_s: number;
}

function keepingOf(
  { relay }: Pick<Context, "relay">,
  ask: Ask,
  { key, role, policyVersion }: NonNullable<PeoplePlan["keep"]>,
): Keeping {
  return { key, role, seed_key: seedKey(ask, policyVersion), ttl_s: relay.cacheTtlS };
}

/** Returns for how many seconds an answer to an ask can be kept for the same question; null where it cannot. */
export function keptForS({ state, wire }: Pick<Request, "state" | "wire">): number | null {
  const keep = state === "open" ? (wire["keep"] as Keeping | undefined) : undefined;
  return keep?.ttl_s ?? null;
}

/**
 * Returns those arguments of the call that an ask came with that hold a secret; every argument where they were found at
 * intake and are not found again.
 */
export async function guardedOf(
  ctx: Pick<Context, "keyring" | "secrets">,
  held: AskAt,
): Promise<Partial<GuardedArguments> | { guarded: true }> {
  const call = held.warnings.length > 0 ? callOf(ctx, held) : null;
  if (call === null) return {};
  return (await secretsOfArguments(ctx, call.kwargs)) ?? { guarded: true };
}

/** Returns the call that an approval of the ask approves, where it came with one. */
export function callOf(
  { keyring }: Pick<Context, "keyring">,
  { ask, sealedCall }: Pick<AskAt, "ask" | "sealedCall">,
): { fn: string; kwargs: string } | null {
  return sealedCall === null ? null : (JSON.parse(keyring.open(sealedCall, ask.id)) as { fn: string; kwargs: string });
}
