import type { TaskOfRequest } from "../../requests/model/task-of-request.ts";
import type { Context } from "../../context.ts";
import { stringsOf } from "../../lib/json/strings-of.ts";
import type { Request, Decision } from "../../requests/model/request.ts";
import { answerFrom, isDecision, RELAY_DOOR } from "../model/people.ts";
import type { Ask } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import type { Requester } from "../../requester.ts";
import { frozenRefusal } from "../../policy/freezes.ts";
import { Refusal } from "../../refusals.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { keepDecision } from "../store/decision-cache.ts";
import { findHumans } from "../../access/store/humans.ts";
import { findOrphans } from "../store/ended.ts";
import { lockJob } from "../store/jobs.ts";
import { findAskOfRequest, lockAsk } from "../store/asks.ts";
import type { Keeping } from "./put-to-people.ts";
import { settleAskIn } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

/** The context that requests on behalf of executors' asks need. */
export type OwningAsks = Pick<Context, "secrets">;

/**
 * Executors, whose asks are put to people by `askPeopleIn`. They hear of the end as of any answer to their ask, and at no
 * webhook endpoint; what a person allows for good is learned from later, with what the job says (`learnFrom`).
 * `taskOfJob` knows the task whose agent works on a job, if it is one.
 */
export function relayRequester(
  ctx: OwningAsks,
  taskOfJob: (on: Queryable, jobId: string) => Promise<TaskOfRequest | null>,
): Requester {
  return {
    door: RELAY_DOOR,
    listUnwanted: (on, limit) => findOrphans(on, RELAY_DOOR, limit),
    isWanted: (tx, { id }) => stillWanted(tx, id),
    check: (_, decision) => secretIn(ctx, decision),
    ended: settleFromPeople,
    taskOf(on, { wire: { job_id: job } }) {
      return typeof job === "string" ? taskOfJob(on, job) : Promise.resolve(null);
    },
  };
}

/** Returns whether what an ask to people stands for is still pending; its job is held from then on. */
async function stillWanted(tx: Tx, addressedId: string): Promise<boolean> {
  const found = await findAskOfRequest(tx, addressedId);
  if (!found || !(await lockJob(tx, found.ask.jobId))) return false;
  const held = await lockAsk(tx, found.ask.id);
  return held?.ask.status === "PENDING";
}

/**
 * Gives an executor the decision of people, in the transaction that ends the ask to them: either both end or neither.
 * An ask that has already ended stays as it is.
 *
 * @throws {Refusal} `frozen` for an approval while the executor is frozen
 */
async function settleFromPeople(tx: Tx, over: Request): Promise<void> {
  const found = await findAskOfRequest(tx, over.id);
  const job = found && (await lockJob(tx, found.ask.jobId));
  const held = found && (await lockAsk(tx, found.ask.id));
  if (!job || held?.ask.status !== "PENDING" || !over.outcome) return;
  const { ask, options } = held;
  // The request of an attempt is its agent's, and the ask its executor's.
  if (over.outcome.approved === true && held.isFrozen) throw await frozenRefusal(tx, ask.principal);
  const { by } = over.outcome;
  const answer = answerFrom(ask, options, over.outcome);
  const name = by?.kind === "person" ? (await findHumans(tx, [by.id])).get(by.id)?.name : by && `somebody by ${by.via}`;
  const stages = [
    ...ask.stages,
    { stage: "people" as const, outcome: stageOutcome(over), ms: job.now - over.createdAt },
  ];
  const keep = over.outcome.sameNextTime ? (over.wire["keep"] as Keeping | undefined) : undefined;
  // Only a named person's own, whole answer is given again in that name.
  if (keep && by?.kind === "person" && name !== undefined && isWhole(answer)) {
    await keepDecision(tx, {
      key: keep.key,
      role: keep.role,
      seedKey: keep.seed_key,
      ttlS: keep.ttl_s,
      attestation: null,
      text: answer.text ?? null,
      json: answer.json,
      source: "person",
      answeredBy: name,
      policyTrace: over.wire["policy_trace"] as PolicyTrace,
    });
  }
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

function isWhole({ status, truncated, askBack, error }: ReturnType<typeof answerFrom>): boolean {
  return status === "ANSWERED" && !truncated && askBack === undefined && error === undefined;
}

/** Only a decision teaches anything: answers to questions are repeated by the cache, if at all. */
function isTeaching(ask: Pick<Ask, "type">): boolean {
  return isDecision(ask);
}

function stageOutcome({ outcome, state }: Request): string {
  if (state !== "answered" || !outcome) return state;
  if (outcome.approved === undefined) return "answered";
  return outcome.approved ? "approved" : "rejected";
}

/** An executor would get what somebody says, so it must hold no secret (spec/relay 15). */
async function secretIn({ secrets }: Pick<Context, "secrets">, decision: Decision): Promise<Refusal | null> {
  // A value that is its own text is looked at once.
  const scanned = { ...decision, ...("text" in decision && isOwnText(decision) && { text: undefined }) };
  const { finds } = await secrets.find([...stringsOf(scanned, (name) => secrets.isSuspect(name))]);
  const [find] = finds;
  if (!find) return null;
  const places = finds.map(({ path, rule, from, to }) => ({ path, rule, from, to }));
  const says = `What stands in ${find.path} looks like a secret (${find.rule}). Take it out, or name it as secret://name.`;
  return new Refusal("secret_detected", { finds: places }, says);
}

function isOwnText({ text, value }: { text?: string; value?: unknown }): boolean {
  return value !== undefined && (text === value || text === JSON.stringify(value));
}
