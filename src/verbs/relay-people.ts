import type { Context } from "../context.ts";
import { sha256Digest } from "../lib/exact-json.ts";
import type { AddressedAsk, Audience, ForeignSchema } from "../model/addressed-ask.ts";
import { reminderSeconds } from "../model/addressed-rules.ts";
import { consentText } from "../model/consent.ts";
import type { PolicyInput } from "../model/policy.ts";
import type { PolicyTrace, RelayAnswer, RelayAsk, StageRecord } from "../model/relay.ts";
import { answerFrom, beforeText, formOf, isDecision } from "../model/relay-people.ts";
import { titleOf } from "../model/title.ts";
import type { Queryable, Tx } from "../store/db.ts";
import { findHumans, listHumans, type Human } from "../store/humans.ts";
import { lockJob } from "../store/jobs.ts";
import { advanceRelayAsk, findByAddressed, lockRelayAsk, moveJoined, type RelayAskAt } from "../store/relay-asks.ts";
import { addressAskIn } from "./address-ask.ts";
import { searchHumans } from "./enroll-human.ts";
import { settleAskIn, writeNotes } from "./relay-settle.ts";

/** The door of asks to people that stand for an executor's. */
export const RELAY_DOOR = "relay";
const INBOX: Audience = { is: "leaf", target: { via: "inbox" } };
const MOST_NAMED = 24;
const SAME_NAME_MOST = 1000;

/** Whom an ask goes to, and whether that is whom somebody named. */
export interface Asked {
  audience: Audience;
  /** The first name that nobody has, where one was given. */
  unknown: string | null;
}

/**
 * Returns whom an ask is put to: the person a rule names, narrowed by whom the ask names, else the usual one, else
 * everybody who sees all there is. A name that nobody has reaches those, so that nothing is decided by silence alone.
 */
export async function relayAudience(
  ctx: { db: Queryable },
  { to, need }: { to: readonly (string | undefined)[]; need: number },
): Promise<Asked> {
  const named = to.find((name) => name !== undefined && name.trim() !== "");
  const human = named === undefined ? undefined : await humanCalled(ctx, named);
  const unknown = named !== undefined && !human ? named : null;
  if (need <= 1) return { audience: human ? leafOf(human) : INBOX, unknown };
  // Several must agree: each of them fills one place.
  const all = (await listHumans(ctx.db, 0, SAME_NAME_MOST)).filter(({ seesAll }) => seesAll).slice(0, MOST_NAMED);
  const others = all.filter(({ person }) => person !== human?.person);
  const of = [...(human ? [human] : []), ...others].map(leafOf);
  // With too few of them it stays open: fewer than were wanted never decide.
  const places = of.length >= need ? of : [...of, ...Array.from({ length: need - of.length }, () => INBOX)];
  return { audience: { is: "quorum", min: need, of: places }, unknown };
}

const leafOf = ({ person }: Human): Audience => ({ is: "leaf", target: { via: "person", person } });

async function humanCalled(ctx: { db: Queryable }, name: string): Promise<Human | undefined> {
  const isNumber = /^[1-9]\d{0,14}$/.test(name);
  if (isNumber) {
    const [human] = await listHumans(ctx.db, Number(name) - 1, 1);
    if (human?.number === Number(name)) return human;
  }
  const found = (await searchHumans(ctx, name, SAME_NAME_MOST)).filter((human) => human.name === name);
  return found.length === 1 ? found[0] : undefined;
}

/** What is needed to put an ask to people. */
export interface PeoplePlan {
  asked: Asked;
  input: PolicyInput;
  schema: ForeignSchema | null;
  stages: readonly StageRecord[];
  /** Below the prompt: what was tried, what a model asks back or thinks. */
  remarks: readonly string[];
  /** How the same was answered before; people are told. */
  before: RelayAnswer | null;
  /** Whoever approves may allow the same for good. */
  standing: boolean;
  /** What policy said. */
  trace: PolicyTrace;
  /** Who asks, as people know them. */
  asker: string;
}

/**
 * Puts a pending ask, held with its job, to people: the ask to them and the ask's own stage change together. Its deadline
 * is theirs from now on: the asker's own, else the one that people usually have.
 */
export async function askPeopleIn(
  ctx: Pick<Context, "newId" | "keyring" | "addressed" | "relay">,
  tx: Tx,
  held: RelayAskAt,
  plan: PeoplePlan,
): Promise<RelayAskAt | undefined> {
  const { ask, options } = held;
  const call = callOf(ctx, held);
  const form = call
    ? { kind: "approval" as const, ...call, rejectOptions: [], editable: false }
    : formOf(ask, { input: plan.input, options, schema: plan.schema });
  const digest = form.kind === "approval" ? sha256Digest(consentText(form.fn, form.kwargs)) : null;
  const leftMs =
    ask.constraints.timeoutS === undefined ? ctx.relay.peopleDeadlineMs : Math.max(1, ask.expiresAt - held.now);
  const timeoutSeconds = leftMs / 1000;
  const remindS = reminderSeconds(timeoutSeconds);
  const remarks = [...plan.remarks, ...(plan.before ? [beforeText(plan.before, digest)] : [])].join("\n");
  const { ask: addressed } = await addressAskIn(ctx, tx, {
    ...{ door: RELAY_DOOR, asker: plan.asker, ref: `ask:${ask.id}`, sameHash: ask.id, form, digest, timeoutSeconds },
    title: form.kind === "approval" && !call ? form.fn : titleOf(ask.prompt),
    words: remarks === "" ? ask.prompt : `${ask.prompt}\n\n${remarks}`,
    audience: plan.asked.audience,
    remindAfterMs: remindS === null ? null : Math.round(remindS * 1000),
    wire: {
      ...{ run_id: `${ask.jobId} / ${ask.stepId}`, job_id: ask.jobId, step_id: ask.stepId },
      ...{ relay_ask: ask.id, ask_type: ask.type, standing: plan.standing },
      policy_trace: plan.trace,
      // What is approved is never altered: where it holds a secret, it is shown on our own pages only.
      ...(call && held.warnings.length > 0 && { guarded: guardedIn(held.warnings) }),
    },
    uncharged: true,
  });
  const advanced = await advanceRelayAsk(tx, held, {
    ...{ stage: "people", stages: plan.stages, respondInMs: null, addressedId: addressed.id, consentDigest: digest },
    ...(ask.constraints.timeoutS === undefined && { expiresInMs: leftMs }),
  });
  if (advanced) await moveJoined(tx, advanced);
  return advanced;
}

const ARGUMENT = /^args(?:\.([\w$-]+)|\[("(?:[^"\\]|\\.)*")\])/;

/** Returns the names of those arguments of the call that hold a secret; true, for all, where that cannot be told. */
function guardedIn(warnings: RelayAskAt["warnings"]): true | readonly string[] {
  const found = warnings.flatMap(({ path }) => (path.startsWith("args") ? [ARGUMENT.exec(path)] : []));
  const names = found.map((match) => match && (match[1] ?? (JSON.parse(match[2] ?? '""') as string)));
  const known = names.filter((name) => name !== null);
  return known.length === 0 || known.length < names.length ? true : [...new Set(known)];
}

/** Returns the call that an approval of the ask approves, where it came with one. */
export function callOf(
  { keyring }: Pick<Context, "keyring">,
  { ask, sealedCall }: Pick<RelayAskAt, "ask" | "sealedCall">,
): { fn: string; kwargs: string } | null {
  return sealedCall === null ? null : (JSON.parse(keyring.open(sealedCall, ask.id)) as { fn: string; kwargs: string });
}

/** Returns whether what an ask to people stands for is still pending; its job is held from then on. */
export async function stillWanted(tx: Tx, addressedId: string): Promise<boolean> {
  const found = await findByAddressed(tx, addressedId);
  if (!found || !(await lockJob(tx, found.ask.jobId))) return false;
  const held = await lockRelayAsk(tx, found.ask.id);
  return held?.ask.status === "PENDING";
}

/**
 * Gives an executor what people decided, in the transaction that ends the ask to them: either both are over or neither.
 * What is over already stays as it is.
 */
export async function settleFromPeople(tx: Tx, over: AddressedAsk): Promise<void> {
  const found = await findByAddressed(tx, over.id);
  const job = found && (await lockJob(tx, found.ask.jobId));
  const held = found && (await lockRelayAsk(tx, found.ask.id));
  if (!job || held?.ask.status !== "PENDING" || !over.outcome) return;
  const { ask, options } = held;
  const { by } = over.outcome;
  const answer = answerFrom(ask, options, over.outcome);
  const name = by?.kind === "person" ? (await findHumans(tx, [by.id])).get(by.id)?.name : by && `somebody by ${by.via}`;
  const stages = [
    ...ask.stages,
    { stage: "people" as const, outcome: stageOutcome(over), ms: job.now - over.createdAt },
  ];
  const settled = await settleAskIn(
    tx,
    { job, ask: held },
    {
      ...answer,
      source: by ? "person" : "server",
      principal: by?.id ?? "",
      ...(name !== undefined && { answeredBy: name }),
      policyTrace: over.wire["policy_trace"] as PolicyTrace,
    },
    { stage: "people", stages, teaches: by !== undefined && isTeaching(ask) },
  );
  await writeNotes(tx, settled.notes);
}

/** Only a decision teaches anything: answers to questions are repeated by the cache, if at all. */
function isTeaching(ask: Pick<RelayAsk, "type">): boolean {
  return isDecision(ask);
}

function stageOutcome({ outcome, state }: AddressedAsk): string {
  if (state !== "answered" || !outcome) return state;
  if (outcome.approved === undefined) return "answered";
  return outcome.approved ? "approved" : "rejected";
}
