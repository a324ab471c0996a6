import { tellFact } from "../end/tell-fact.ts";
import type { Context } from "../../context.ts";
import { uuidV7 } from "../../lib/uuid.ts";
import { repoOfKind } from "../../core/model/attempt-kind.ts";
import { choiceOptionsOf } from "../model/choice-options.ts";
import { sameAskHash } from "../model/decision-key.ts";
import { EXTERNAL_IDLE_MS } from "../model/job-rules.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import { isOver, type ChoiceOption, type AskAnswer, type Ask } from "../model/ask.ts";
import { isDecision } from "../model/people.ts";
import { shownToAsker } from "../model/still.ts";
import { isForNamed, isForPublic, publicProblems } from "../model/public.ts";
import { isServed, MACHINE_MS } from "../model/rules.ts";
import { Refusal } from "../../refusals.ts";
import type { AuditNote } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { hasHeld } from "../store/job-claims.ts";
import { appendJobEvents, extendExternal, insertJobIfNew, lockJob, noteReports, type JobAt } from "../store/jobs.ts";
import { findAnswer, wasDelivered } from "../store/answers.ts";
import { countPending, findAsk, findSameOfEarlierEpoch, insertAskIfNew, type AskAt } from "../store/asks.ts";
import { transact } from "../../core/store/transact.ts";
import { checkLease, fenced } from "../jobs/check-lease.ts";
import { chargeQuestion } from "../../questions/store-new.ts";
import { logOf, moveNote, recountIn, settleAskIn, statusOf } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

/** A checked ask, but for what the store gives it. */
export type AskInput = Pick<
  Ask,
  | "jobId"
  | "stepId"
  | "type"
  | "prompt"
  | "contextHash"
  | "envelope"
  | "constraints"
  | "roleId"
  | "meta"
  | "principal"
  | "traceparent"
  | "reports"
> & {
  /** Absent: it gets one. */
  id?: string;
  bodyHash: string;
  /** The places where text was removed because it looked like a secret. */
  warnings: readonly { path: string; rule: string }[];
  /** Its hash did not fit its envelope. */
  mismatch: boolean;
  /**
   * The very call that is approved, where that is not the ask's own `{args, env, prompt, resource}`: a function's name and
   * canonical arguments. It may hold secrets, which the ask's other texts may not: it is sealed until people are asked.
   */
  call?: { fn: string; kwargs: string };
  /** It comes from this server itself, and not through the relay's door: whether that is open does not matter. */
  isOwn?: boolean;
  /** Proof that it comes from whoever holds the job; without it the present holder counts. */
  lease?: string;
};

/** For so long whoever stores an ask has it to itself; then anybody may answer it. */
const OWN_MS = 5000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/**
 * Stores an ask, and its job with it where that is unknown and may be; or returns the one its id already stands for.
 *
 * A replay comes before the job and the limits, so that a retry always succeeds. An ask of a later epoch that asks the
 * same as one before joins it, so that people are not asked twice (spec/relay 2 and 5).
 *
 * @throws {Refusal} `ref_taken`, `feature_disabled`, `job_not_found`, `job_closed`, `fenced`, `invalid_input`,
 *   `quota_exceeded`, and for the public `rate_limited`
 */
export async function postAsk(ctx: Context, input: AskInput): Promise<{ held: AskAt; replayed: boolean }> {
  if (ctx.relay.feature === false && !input.isOwn) throw new Refusal("feature_disabled");
  const id = input.id ?? `ask_${uuidV7(ctx.clock.now(), ctx.random)}`;
  const store = async (tx: Tx): Promise<{ held: AskAt; replayed: boolean }> => {
    const existing = input.id === undefined ? undefined : await findAsk(tx, id);
    if (existing) return replay(existing, input);

    const notes: AuditNote[] = [];
    const job = await holdJob(ctx, tx, input, notes);
    if (input.lease !== undefined) checkLease(job, input.lease);
    const options = input.type === "CHOICE" ? choiceOptionsOf(input) : [];
    if (isForPublic(input)) checkPublic(ctx, job, input, options);
    await checkQuota(ctx, tx, input);

    const earlier = await findEarlier(tx, job, input);
    // The crowd is asked no more by an executor than by any other agent.
    if (isForPublic(input) && !isForNamed(input) && !earlier) await chargeQuestion(ctx, tx, input.principal);
    const inserted = await insertAskIfNew(tx, {
      ...input,
      id,
      epoch: job.job.epoch,
      sameHash: sameAskHash(input),
      sealedCall: input.call ? ctx.keyring.seal(JSON.stringify(input.call), id) : null,
      options,
      joinedTo: earlier?.ask.id ?? null,
      leader: earlier && !earlier.answer ? earlier.ask : null,
      timeoutMs: input.constraints.timeoutS === undefined ? MACHINE_MS : input.constraints.timeoutS * 1000,
      respondInMs: earlier ? null : OWN_MS,
    });
    if (!inserted) {
      // Somebody committed the same id for another job while this one's was held.
      const other = await findAsk(tx, id);
      if (!other) throw new Error("an ask's id is taken by nothing");
      return replay(other, input);
    }
    if (input.reports) await noteReports(tx, job.job);
    // point: ask-stored
    tellFact(tx, { kind: "asked", ask: inserted.ask, job: job.job });
    const waiting = await recountIn(tx, job);
    await appendJobEvents(tx, waiting.job, [
      logOf(job, "ask.created", inserted, { message: `${input.type} asked`, fields: { ask_type: input.type } }),
      ...waiting.events,
    ]);
    notes.push(...waiting.notes);
    if (earlier?.answer) {
      const held = { job: waiting.job, ask: inserted };
      const settled = await settleAskIn(tx, held, earlier.answer, { stage: earlier.ask.stage, stages: [] });
      notes.push(...settled.notes);
    }
    await writeNotes(tx, notes);
    return { held: inserted, replayed: false };
  };
  const posted = await transact(ctx, store, isForPublic(input) ? {} : { rows: [`job ${input.jobId}`] });
  // point: ask-before-offer
  if (!posted.replayed && posted.held.ask.joinedTo === null) ctx.offer(id);
  return posted;
}

function replay(existing: AskAt, input: AskInput): { held: AskAt; replayed: boolean } {
  if (existing.ask.principal !== input.principal || existing.bodyHash !== input.bodyHash) {
    throw new Refusal("ref_taken", { ask_id: existing.ask.id });
  }
  return { held: shownToAsker(existing), replayed: true };
}

/** Holds the job of an ask, which is registered with its first one where that is allowed. */
async function holdJob(ctx: Context, tx: Tx, input: AskInput, notes: AuditNote[]): Promise<JobAt> {
  const { principal, jobId } = input;
  const known = await lockJob(tx, jobId);
  if (known) return checkJob(ctx, tx, known, input);
  if (!isServed(ctx.relay, { id: jobId, labels: {} })) throw new Refusal("feature_disabled");
  if (ctx.relay.strictJobs) throw new Refusal("job_not_found");
  const made = await insertJobIfNew(tx, {
    id: jobId,
    kind: "default",
    external: true,
    owner: principal,
    spec: undefined,
    env: null,
    repo: null,
    labels: {},
    priority: "P1",
    maxAttempts: 1,
    bodyHash: "",
    ttlMs: Math.max(EXTERNAL_IDLE_MS, DAY_MS),
  });
  if (!made) {
    const other = await lockJob(tx, jobId);
    if (!other) throw new Error("a job's id is taken by nothing");
    return checkJob(ctx, tx, other, input);
  }
  await appendJobEvents(tx, made, [statusOf(made, null)]);
  notes.push(moveNote(made, null, { kind: "agent", id: principal }));
  return made;
}

async function checkJob(ctx: Context, tx: Tx, held: JobAt, { principal, isOwn = false }: AskInput): Promise<JobAt> {
  const { id, owner, holder, state, labels, external, ttlUntil } = held.job;
  if (owner !== principal && holder !== principal) {
    // A former holder learns that it lost the job. For anybody else the job does not exist.
    if (!external && (await hasHeld(tx, id, principal))) throw fenced(held);
    throw new Refusal("job_not_found");
  }
  if (!isOwn && !isServed(ctx.relay, { id, labels })) throw new Refusal("feature_disabled");
  if (isOver(state)) throw new Refusal("job_closed", { id, state });
  // Nobody holds it: whoever asks has lost it.
  if (state === "QUEUED") throw fenced(held);
  // Once a minute will do.
  if (external && ttlUntil < held.now + EXTERNAL_IDLE_MS - MINUTE_MS) await extendExternal(tx, id, EXTERNAL_IDLE_MS);
  return held;
}

/**
 * Refuses to ask the public what it may not be asked (spec/relay 13). An agent that may run unsandboxed
 * gets no anonymous text (spec/security 8).
 *
 * @throws {Refusal} `invalid_input`
 */
function checkPublic(
  { relay, addressed: { groups } }: Pick<Context, "relay" | "addressed">,
  { job }: JobAt,
  input: AskInput,
  options: readonly ChoiceOption[],
): void {
  const isAllowed = relay.people?.public === true && repoOfKind(job.kind) === null;
  const problems = publicProblems(input, options, { isAllowed, audiences: ["team", ...groups.keys()] });
  if (problems.length > 0) throw refuseFields(problems);
}

async function checkQuota(ctx: Context, tx: Tx, { jobId, principal }: AskInput): Promise<void> {
  const { pendingPerJob, pendingPerAgent } = ctx.relay;
  const { ofJob, ofPrincipal } = await countPending(tx, jobId, principal);
  const over = ofJob >= pendingPerJob ? [pendingPerJob, ofJob] : [pendingPerAgent, ofPrincipal];
  const [limit = 0, open = 0] = over;
  if (open >= limit) throw new Refusal("quota_exceeded", { limit, open, retry_after: 5 });
}

/** Returns the same ask of an earlier epoch: one that is pending, or one whose answer can be used again. */
async function findEarlier(tx: Tx, { job }: JobAt, input: AskInput): Promise<{ ask: Ask; answer?: AskAnswer } | null> {
  const earlier = await findSameOfEarlierEpoch(tx, job.id, job.epoch, sameAskHash(input));
  if (!earlier) return null;
  const { ask } = earlier;
  if (ask.status === "PENDING") return { ask };
  const found = await findAnswer(tx, ask.id);
  if (!found || !isAnswered(found.answer)) return null;
  // A delivered decision may have been carried out already: only an undelivered one is used again.
  if (isDecision(input) && (await wasDelivered(tx, ask.id))) return null;
  return { ask, answer: found.answer };
}

/** A person's or a service's refusal is an answer too; what policy refused is judged again. */
function isAnswered({ status, source }: AskAnswer): boolean {
  return status === "ANSWERED" || (status === "REJECTED" && (source === "person" || source === "service"));
}
