import type { AskId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { membersOf } from "../../lib/json/exact-json.ts";
import type { Request, Decision, ForeignSchema } from "../../requests/model/request.ts";
import { chosenBy } from "../model/choice-options.ts";
import { isDecision } from "../model/people.ts";
import { codeIn, errorText, type AnswerStatus, type AskAnswer, type Ask } from "../model/ask.ts";
import { Refusal } from "../../refusals.ts";
import { findRequest, lockRequest } from "../../requests/store/requests.ts";
import { lockQuestion, type QuestionAt } from "../../questions/store/questions.ts";
import type { Tx } from "../../core/store/db.ts";
import { appendJobEvents, lockJob } from "../store/jobs.ts";
import { ownsKeyOf } from "../../access/store/keys.ts";
import { findAnswer, insertLateAnswer } from "../store/answers.ts";
import { findAsk, lockAsk, type AskAt } from "../store/asks.ts";
import { transact } from "../../core/store/transact.ts";
import { cleanWords, exposeIn } from "../../requests/create/clean-words.ts";
import { decideRequest } from "../../requests/decide/decide.ts";
import { responderOf } from "../../requests/decide/decider.ts";
import { closeRequestIn } from "../../requests/end/close.ts";
import { cancelHeld } from "../../questions/expire.ts";
import { expireAsk } from "../read/read-ask.ts";
import { logOf, settleAskIn } from "./settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

/** A checked answer of a person or a service. */
export interface AskAnswerInput {
  askId: AskId;
  jobId: string;
  stepId: string;
  status: AnswerStatus;
  text?: string;
  json?: unknown;
  artifacts?: readonly string[];
  askBack?: string;
  error?: string;
  /** By which the same request is known when it comes again. */
  bodyHash: string;
}

/** The answerer: a person, or a service. */
export interface AskAnswerer {
  principal: string;
  name: string;
  person: string | null;
}

/**
 * Records the answer of a person or a service. The first one that is committed is the answer. If the same answerer
 * repeats it, nothing changes. An answer that comes too late is stored, and announced as late (spec/relay 5).
 *
 * A person's answer to an ask that went to people is a decision like any other, with the digest of the text shown.
 *
 * @throws {Refusal} `ask_not_found`, `answer_mismatch`, `self_response`, `person_needed`, `answer_misfit`,
 *   `unknown_option`, `already_decided`, `ask_closed`
 */
export async function postAnswer(ctx: Context, who: AskAnswerer, input: AskAnswerInput): Promise<AskAnswer | null> {
  const found = await findAsk(ctx.db, input.askId);
  if (!found) throw new Refusal("ask_not_found");
  const { ask } = found;
  if (
    ask.principal === who.principal ||
    (who.person !== null && (await ownsKeyOf(ctx.db, who.person, ask.principal)))
  ) {
    throw new Refusal("self_response");
  }
  if (ask.jobId !== input.jobId || ask.stepId !== input.stepId) throw new Refusal("answer_mismatch");
  if (who.person === null && isDecision(ask)) throw new Refusal("person_needed");
  const isDue = ask.status === "PENDING" && found.now >= ask.expiresAt && !found.isFrozen;
  if (isDue) await expireAsk(ctx, ask.id);

  // A pending ask has no answer.
  const before = ask.status !== "PENDING" || isDue ? await findAnswer(ctx.db, ask.id) : undefined;
  const wasPeoples = who.person !== null && ask.addressedId !== null;
  if (before && !wasPeoples) return again(ctx, who, input, { held: found, ...before });
  try {
    const addressed = ask.addressedId === null ? undefined : (await findRequest(ctx.db, ask.addressedId))?.request;
    const fitting = await fittingAnswer(ctx, { ...found, addressed }, input);
    if (who.person === null) return await settleByService(ctx, who, fitting, ask);
    return await decideByKey(ctx, { ...who, person: who.person }, fitting, { ask, addressed });
  } catch (error) {
    // A person's repeated answer is the same decision. Any other answer is too late, whatever else is wrong with it.
    if (!before || !(error instanceof Refusal)) throw error;
    return again(ctx, who, input, { held: found, ...before });
  }
}

/**
 * Returns the existing answer where this one repeats it. Otherwise refuses: somebody else answered, or time ran out. An
 * answer after that time is stored as a late answer.
 */
async function again(
  ctx: Context,
  who: AskAnswerer,
  input: AskAnswerInput,
  { held, answer, bodyHash }: { held: AskAt; answer: AskAnswer; bodyHash: string | null },
): Promise<AskAnswer> {
  if (answer.principal === who.principal && bodyHash === input.bodyHash) return answer;
  const isNobodys = answer.source === "server";
  if (!isNobodys) {
    const { status, answeredBy = answer.source, createdAt } = answer;
    throw new Refusal("already_decided", { status, answered_by: answeredBy, at: createdAt });
  }
  const speaker = { person: who.person, identities: [], requestId: held.ask.addressedId };
  const words = await cleanWords(ctx, { text: input.text, json: input.json }, speaker);
  await transact(ctx, async (tx) => {
    const job = await lockJob(tx, held.ask.jobId);
    if (!job) return;
    const { status } = input;
    const { text, json } = words.words;
    await exposeIn(ctx, tx, words);
    const isNew = await insertLateAnswer(tx, {
      askId: input.askId,
      principal: who.person ?? who.principal,
      status,
      ...(text !== undefined && { text }),
      ...(json !== undefined && { json }),
    });
    if (!isNew) return;
    await appendJobEvents(tx, job, [
      logOf(job, "answer.late", held, { level: "warn", message: `an answer came after ${answer.status}` }),
    ]);
  });
  throw new Refusal("ask_closed", { status: answer.status, at: answer.createdAt });
}

type ToAnswer = Pick<AskAt, "ask" | "options"> & Pick<Asked, "addressed">;

/** Returns the answer as it is recorded, where it fits what was asked for. @throws {Refusal} `answer_misfit` */
async function fittingAnswer(ctx: Context, { ask, options, addressed }: ToAnswer, input: AskAnswerInput) {
  if (input.status !== "ANSWERED" || isDecision(ask)) return input;
  // A question back is not an answer yet.
  if (input.askBack !== undefined && input.text === undefined && input.json === undefined) return input;
  if (options.length > 0) {
    const words = choiceOf(input.json) ?? input.text ?? "";
    const chosen = chosenBy(options, words);
    if (!chosen) {
      const names = options.map(({ id, label }) => id ?? label);
      throw misfit("/choice", `must be one of ${names.join(", ")}`);
    }
    return { ...input, text: chosen.text, json: { ...membersOf(input.json), ...chosen.json } };
  }
  const schema = schemaOf(ask, addressed?.form);
  if (schema) {
    const errors = await ctx.schemas.validate(schema, input.json);
    if (errors.length > 0) throw new Refusal("answer_misfit", { errors });
  } else if (input.text === undefined && input.json === undefined) {
    throw misfit("", "must hold answer_text, answer_json or ask_back");
  }
  return input;
}

function misfit(path: string, message: string): Refusal {
  return new Refusal("answer_misfit", { errors: [{ path, message }] });
}

function choiceOf(json: unknown): string | undefined {
  if (typeof json === "string") return json;
  const { choice } = membersOf(json);
  return typeof choice === "string" ? choice : undefined;
}

/** Returns what an answer has to fit: what the asker wants, or what people are shown because a role wants it. */
function schemaOf({ meta }: Ask, form: Request["form"] | undefined): ForeignSchema | null {
  if (form?.kind === "value") return form.schema;
  const overrides = meta["prompt_overrides"] as { output_schema?: unknown } | undefined;
  const schema = overrides?.output_schema;
  return typeof schema === "object" && schema !== null ? (schema as ForeignSchema) : null;
}

async function decideByKey(
  ctx: Context,
  who: AskAnswerer & { person: string },
  input: AskAnswerInput,
  { ask, addressed }: Omit<ToAnswer, "options">,
): Promise<AskAnswer | null> {
  if (!addressed) throw new Refusal("ask_not_found");
  const responder = await responderOf(ctx.db, who.person, "api");
  const decision = decisionOf(ask, addressed.form.kind, input, addressed.digest);
  try {
    await decideRequest(ctx, { requestId: addressed.id, read: addressed, responder, decision, byKey: true });
  } catch (error) {
    const after = error instanceof Refusal && isTooLate(error) ? await findAnswer(ctx.db, ask.id) : undefined;
    const held = after && (await findAsk(ctx.db, ask.id));
    if (!after || !held) throw error;
    return again(ctx, who, input, { held, ...after });
  }
  return (await findAnswer(ctx.db, ask.id))?.answer ?? null;
}

function isTooLate({ code }: Refusal): boolean {
  return code === "already_decided" || code === "request_expired" || code === "request_cancelled";
}

function decisionOf(
  ask: Ask,
  kind: "approval" | "reply" | "value",
  { status, text, json, artifacts, askBack, error }: AskAnswerInput,
  digest: string | null,
): Decision {
  const comment = error ?? text;
  const beside = {
    ...(json !== undefined && { value: json }),
    ...(artifacts && { artifacts }),
    ...(askBack !== undefined && { askBack }),
  };
  const parts = { ...(comment !== undefined && { comment }), ...(digest !== null && { digest }), ...beside };
  if (status === "REJECTED") return { kind: "reject", ...parts };
  if (status !== "ANSWERED") throw misfit("/status", "must be ANSWERED or REJECTED");
  if (kind === "approval") {
    const { approved, decision } = (json ?? {}) as { approved?: unknown; decision?: unknown };
    const allows = ask.type === "APPROVAL" ? approved === true : decision === "ALLOW";
    const denies = ask.type === "APPROVAL" ? approved === false : decision === "DENY";
    if (!allows && !denies) {
      throw ask.type === "APPROVAL"
        ? misfit("/approved", "must be true or false")
        : misfit("/decision", "must be ALLOW or DENY");
    }
    return { kind: allows ? "approve" : "reject", ...parts };
  }
  if (kind === "value") {
    if (json === undefined) throw misfit("/answer_json", "is what was asked for");
    return { kind: "value", text: text ?? JSON.stringify(json), ...beside };
  }
  return { kind: "reply", ...(text !== undefined && { text }), ...beside };
}

async function settleByService(ctx: Context, who: AskAnswerer, input: AskAnswerInput, ask: Ask): Promise<AskAnswer> {
  const settled = await transact(
    ctx,
    async (tx) => {
      // The request to people is held first: a decision takes the rows in the same order. An ask that went to people
      // since it was read is found so here, too.
      const before = (await findAsk(tx, ask.id))?.ask ?? ask;
      if (before.addressedId ?? before.questionId) tx.runAlone?.();
      const asked = await lockAsked(tx, before);
      const [job, held] = await Promise.all([lockJob(tx, ask.jobId), lockAsk(tx, ask.id)]);
      if (!job || held?.ask.status !== "PENDING") return null;
      if (held.ask.addressedId !== before.addressedId || held.ask.questionId !== before.questionId) return null;
      const done = await settleAskIn(tx, { job, ask: held }, serviceAnswer(who, input), {
        stage: held.ask.stage,
        bodyHash: input.bodyHash,
        stages: [...held.ask.stages, { stage: held.ask.stage, outcome: `answered by ${who.name}`, ms: 0 }],
      });
      await closeAsked(ctx, tx, asked, { at: job.now, principal: who.principal });
      await writeNotes(tx, done.notes);
      return done.answer;
    },
    { rows: [`ask ${ask.id}`, `job ${ask.jobId}`] },
  );
  if (settled) return settled;
  const [held, before] = [await findAsk(ctx.db, ask.id), await findAnswer(ctx.db, ask.id)];
  // It went to people at this very moment: now it is there to be held.
  if (held && !before) return settleByService(ctx, who, input, held.ask);
  if (!held || !before) throw new Refusal("ask_not_found");
  return again(ctx, who, input, { held, ...before });
}

function serviceAnswer(who: AskAnswerer, { status, text, json, artifacts, askBack, error }: AskAnswerInput) {
  return {
    status,
    cacheable: false,
    truncated: false,
    source: "service" as const,
    principal: who.principal,
    answeredBy: who.name,
    ...(text !== undefined && { text }),
    ...(json !== undefined && { json }),
    ...(artifacts && { artifacts }),
    ...(askBack !== undefined && { askBack }),
    ...failureOf(status, error ?? text),
  };
}

const USUAL_CODE = { REJECTED: "E_HUMAN_REJECT", TIMEOUT: "E_TIMEOUT", ERROR: "E_INTERNAL" } as const;

/** Returns the error and code of an answer that failed: the code in its text, else the usual code of its status. */
function failureOf(status: AnswerStatus, words: string | undefined): Pick<AskAnswer, "error" | "errorCode"> {
  if (status === "ANSWERED") return {};
  const given = words === undefined ? null : codeIn(words);
  if (words !== undefined && given) return { error: words, errorCode: given };
  const errorCode = USUAL_CODE[status];
  return { errorCode, error: errorText(errorCode, words ?? status) };
}

/**
 * Withdraws a pending ask; one that is over stays as it is (spec/relay 5).
 *
 * @throws {Refusal} `ask_not_found` also for somebody else's
 */
export async function withdrawAsk(ctx: Context, id: string, principal: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const found = await findAsk(tx, id);
    if (!found || found.ask.principal !== principal) throw new Refusal("ask_not_found");
    const asked = await lockAsked(tx, found.ask);
    const job = await lockJob(tx, found.ask.jobId);
    const held = await lockAsk(tx, id);
    if (!job || held?.ask.status !== "PENDING") return;
    const done = await settleAskIn(
      tx,
      { job, ask: held },
      {
        status: "ERROR",
        cacheable: false,
        truncated: false,
        source: "server",
        principal: "",
        errorCode: "E_CANCELED",
        error: "E_CANCELED: the asker withdrew it",
      },
      { stage: held.ask.stage, stages: held.ask.stages },
    );
    await closeAsked(ctx, tx, asked, { at: job.now, principal });
    await writeNotes(tx, done.notes);
  });
}

/** The ask to people and the question to the public that an executor's ask led to. */
interface Asked {
  addressed: Request | undefined;
  question: QuestionAt | undefined;
}

async function lockAsked(tx: Tx, { addressedId, questionId }: Ask): Promise<Asked> {
  const addressed = addressedId === null ? undefined : await lockRequest(tx, addressedId);
  return {
    addressed: addressed?.request,
    question: questionId === null ? undefined : await lockQuestion(tx, questionId),
  };
}

async function closeAsked(
  ctx: Context,
  tx: Tx,
  { addressed, question }: Asked,
  { at, principal }: { at: number; principal: string },
): Promise<void> {
  if (question?.question.state === "open") await cancelHeld(ctx, tx, question, principal);
  if (addressed?.state !== "open") return;
  const how = { by: { kind: "agent", id: principal }, action: "cancelled" } as const;
  const approved = addressed.form.kind === "approval" ? { approved: false } : {};
  // The ask has ended by itself: nothing follows for it from the end of the request.
  await closeRequestIn(tx, addressed, { outcome: { status: "cancelled", ...approved }, at, ...how });
}
