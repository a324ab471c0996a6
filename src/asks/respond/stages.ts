import { tellFact } from "../end/tell-fact.ts";
import type { Context } from "../../context.ts";
import { seedKey } from "../model/decision-key.ts";
import { mayBeJoined } from "../model/job-rules.ts";
import type { PolicyDecision } from "../../policy/model/policy.ts";
import type { Ask, Stage, StageRecord } from "../model/ask.ts";
import { countHit, findDecisions, keepDecision, type CachedDecision } from "../store/decision-cache.ts";
import { findJob, lockJob, type JobAt } from "../store/jobs.ts";
import { findAnswer, findAnswers } from "../store/answers.ts";
import {
  advanceAsk,
  claimAsk,
  findAsk,
  findSameOfEarlierEpoch,
  findUnresponded,
  lockAsk,
  moveJoined,
  type Advance,
  type AskAt,
} from "../store/asks.ts";
import { transact } from "../../core/store/transact.ts";
import { noteObserved, noteSpared } from "../../policy/grants.ts";
import { askerOf, mayNotAllow, taskOfJob } from "../jobs/asker.ts";
import { askPeopleIn, type PeoplePlan } from "./put-to-people.ts";
import { askPublicIn, type PublicPlan } from "./put-to-public.ts";
import { settleAskIn, type EndedIn, type NewAskAnswer } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

export type { AskAt } from "../store/asks.ts";
export type { CachedDecision } from "../store/decision-cache.ts";
export type { JobAt } from "../store/jobs.ts";

/** Returns an ask with its job, as they stand. */
export async function readTask(ctx: Context, id: string): Promise<{ held: AskAt; job: JobAt } | undefined> {
  const held = await findAsk(ctx.db, id);
  const job = held && (await findJob(ctx.db, held.ask.jobId));
  return held && job && { held, job };
}

/** Returns asks that somebody should see to who has not. */
export async function findNeglected(ctx: Context, limit: number): Promise<string[]> {
  return findUnresponded(ctx.db, limit);
}

/** Takes an ask that nobody sees to, for so long; nothing when somebody else has. */
export async function takeAsk(ctx: Context, id: string, forMs: number): Promise<AskAt | undefined> {
  return transact(ctx, (tx) => claimAsk(tx, id, forMs));
}

/** The key under which an answer is cached, so that it may be given again. */
export interface Keep {
  key: string;
  role: string | null;
  policyVersion: string;
}

/** How an ask ends before people are asked. */
export interface MachineEnd extends EndedIn {
  /** The policy's decision, which is counted where it spared people a question. */
  judged: PolicyDecision | null;
  /** The answer is kept for asks that are the same. */
  keep?: Keep | null;
  /** It is the repetition of this decision. */
  repeats?: string;
}

/**
 * Ends an ask with what a machine answered, unless it is over. Returns false where a grant that allowed it was revoked
 * meanwhile: then nothing has happened, and it has to be judged again. An ask whose asker was frozen meanwhile waits
 * for the thaw.
 */
export async function endByMachine(ctx: Context, ask: Ask, given: NewAskAnswer, end: MachineEnd): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const [job, held] = await Promise.all([lockJob(tx, ask.jobId), lockAsk(tx, ask.id)]);
    if (!job || held?.ask.status !== "PENDING") return true;
    if (given.status === "ANSWERED" && (await mayNotAllow(tx, held, job.job))) return true;
    const { judged, keep, repeats, ...ended } = end;
    if (judged && given.source === "policy" && !(await noteSpared(tx, judged))) return false;
    if (judged && isFirst(held)) await noteObserved(tx, judged);
    const settled = await settleAskIn(tx, { job, ask: held }, given, ended);
    if (keep && given.status === "ANSWERED" && given.cacheable && !given.truncated && !given.error && !given.askBack) {
      await keepDecision(tx, {
        key: keep.key,
        role: keep.role,
        source: given.source,
        ttlS: ctx.relay.cacheTtlS,
        text: given.text ?? null,
        json: given.json,
        policyTrace: given.policyTrace ?? null,
        attestation: given.attestation ?? null,
        answeredBy: given.answeredBy ?? null,
        seedKey: seedKey(ask, keep.policyVersion),
      });
    }
    if (repeats !== undefined) await countHit(tx, repeats);
    await writeNotes(tx, settled.notes);
    return true;
  });
}

/** Writes down that an ask has come to its next stage, and has it offered again if that is not finished by then. */
export async function enterStage(ctx: Context, ask: Ask, to: Advance): Promise<AskAt | undefined> {
  return transact(ctx, async (tx) => {
    const held = await lockAsk(tx, ask.id);
    return held?.ask.status === "PENDING" ? advanceAsk(tx, held, to) : undefined;
  });
}

/** Puts an ask to people, unless it is over. */
export async function handToPeople(
  ctx: Context,
  ask: Ask,
  plan: Omit<PeoplePlan, "asker" | "task" | "before">,
  { judged }: { judged: PolicyDecision },
): Promise<void> {
  await transact(ctx, async (tx) => {
    const [job, held] = await Promise.all([lockJob(tx, ask.jobId), lockAsk(tx, ask.id)]);
    if (!job || held?.ask.status !== "PENDING" || held.ask.addressedId !== null) return;
    const before = await findSameOfEarlierEpoch(tx, ask.jobId, ask.epoch, held.sameHash);
    const decided = before && (await findAnswer(tx, before.ask.id));
    const whose = { asker: askerOf(ask, job.job), task: taskOfJob(job.job) };
    const whole = { ...plan, before: decided?.answer ?? null, ...whose };
    const handed = await askPeopleIn(ctx, tx, held, whole);
    if (handed && mayBeJoined(ask, job.job)) await moveJoined(tx, handed);
    if (handed) tellFact(tx, { kind: "escalated", ask: handed.ask, job: job.job });
    if (handed && isFirst(held)) await noteObserved(tx, judged);
    if (judged.decision !== "ESCALATE") return;
    await writeNotes(tx, [
      {
        actor: { kind: "policy", id: judged.trace.policy },
        action: "relay.escalated",
        agent: ask.principal,
        subjectId: ask.id,
        callId: ask.jobId,
        data: { policy_version: judged.trace.policy_version },
      },
    ]);
  });
}

/** Puts an ask to the public, unless it is over or its time is: that is seen to next. */
export async function handToPublic(
  ctx: Context,
  ask: Ask,
  plan: PublicPlan,
  { judged }: { judged: PolicyDecision },
): Promise<void> {
  await transact(ctx, async (tx) => {
    const [job, held] = await Promise.all([lockJob(tx, ask.jobId), lockAsk(tx, ask.id)]);
    if (!job || held?.ask.status !== "PENDING" || held.ask.questionId !== null) return;
    if (held.ask.constraints.timeoutS !== undefined && held.now >= held.ask.expiresAt && !held.isFrozen) return;
    const handed = await askPublicIn(ctx, tx, held, plan);
    if (!handed) return;
    await noteObserved(tx, judged);
    if (mayBeJoined(ask, job.job)) await moveJoined(tx, handed.advanced);
    tellFact(tx, { kind: "escalated", ask: handed.advanced.ask, job: job.job });
    await writeNotes(tx, [handed.note]);
  });
}

/** Whether an ask is with nobody yet. One that was with the public is judged again before people have it. */
function isFirst({ ask }: AskAt): boolean {
  return ask.questionId === null && ask.addressedId === null;
}

/**
 * Returns a decision that may be repeated: a machine's, else the answer that the people who would be asked gave this asker
 * before. `personKey` is null where nobody is asked.
 */
export async function readDecision(
  ctx: Context,
  key: string,
  personKey: string | null,
): Promise<CachedDecision | undefined> {
  const found = await findDecisions(ctx.db, personKey === null ? [key] : [key, personKey]);
  return found.find((one) => one.key === key && one.source !== "person") ?? found.find((one) => one.key === personKey);
}

/** One earlier question and its answer in a chain of follow-ups; the oldest comes first. */
export interface FollowUpRound {
  prompt: string;
  askBack?: string;
  text?: string;
  json?: unknown;
}

const MOST_ROUNDS = 10;

/** Returns the rounds before a follow-up; only the asker's own count. */
export async function readRounds(ctx: Context, ask: Ask): Promise<FollowUpRound[]> {
  const chain: Ask[] = [];
  let before = ask.meta["in_reply_to"];
  while (typeof before === "string" && chain.length < MOST_ROUNDS) {
    const found = await findAsk(ctx.db, before);
    if (!found || found.ask.principal !== ask.principal || chain.some(({ id }) => id === found.ask.id)) break;
    chain.unshift(found.ask);
    before = found.ask.meta["in_reply_to"];
  }
  const answers = await findAnswers(
    ctx.db,
    chain.map(({ id }) => id),
  );
  return chain.map(({ id, prompt }) => {
    const { askBack, text, json } = answers.get(id) ?? {};
    return {
      prompt,
      ...(askBack !== undefined && { askBack }),
      ...(text !== undefined && { text }),
      ...(json !== undefined && { json }),
    };
  });
}

/** Returns a stage's line for the history of an ask. */
export function stageLine(stage: Stage, outcome: string, ms: number): StageRecord {
  return { stage, outcome, ms: Math.max(0, Math.round(ms)) };
}
