import { fromEnvironment } from "../environment.ts";
import { ParleyError } from "../errors.ts";
import { contextEnvelope, contextHash } from "./context.ts";
import { AskFailed, AskRejected, AskTimedOut, LeaseLost } from "./errors.ts";
import { connect, type JobOptions, named, PATIENCE_MS } from "./place.ts";
import type { Answer, AnswerStatus, AskKind } from "./wire.ts";
import { pause, platformClock } from "../clock.ts";
import type { Connection } from "../http.ts";
import { newKey } from "../idempotency-key.ts";
import { AWAY_MS, backOffMs, persist } from "../persist.ts";

/** How to ask; what is left out is taken from the environment, or from the server's settings. */
export interface AskOptions extends JobOptions {
  /** The deadline of the whole ask, in seconds; left out, a minute for machines and a day for people. */
  timeout_s?: number;
  max_tokens?: number;
  /** The tools that a model may use to answer; `[]`: none. */
  allowed_tools?: string[];
  role_id?: string;
  prompt_overrides?: { system_append?: string; output_schema?: unknown };
  /** The options of a CHOICE. */
  choices?: string[];
  /** The action that the policy judges, together with `resource` and `env`. */
  action?: string;
  resource?: string;
  env?: string;
  /** The arguments of the call that an APPROVAL is for. */
  args?: unknown;
  meta?: Record<string, unknown>;
  /** Under the same id the same ask is made once, however often it is sent. */
  ask_id?: string;
  /** Else `PARLEY_STEP_ID`, else `TASK_RELAY_STEP_ID`. */
  step_id?: string;
  /** Withdraws the ask when it is aborted. */
  signal?: AbortSignal;
  /** Receives the stage that has the ask, once it takes longer, and whenever that changes. */
  onPending?: (stage: string) => void;
  /** Answers a question that came back; undefined leaves it be. It is followed up once. */
  onAskBack?: (question: string) => string | undefined | Promise<string | undefined>;
}

/** The answer to an ask. */
export interface AskResult<T> {
  text?: string;
  json?: T;
  ask_back?: string;
  askId: string;
  source: string;
  consent_digest?: string;
  artifacts?: string[];
}

/** The time that people get when the caller gives none, in seconds. */
const PEOPLE_S = 86_400;
const WAIT_S = 25;
/** The first look is short where somebody wants to know the stage. */
const FIRST_WAIT_S = 2;
const WITHDRAW_WITHIN_MS = 5000;
const STATUSES: readonly AnswerStatus[] = ["ANSWERED", "REJECTED", "TIMEOUT", "ERROR"];

/**
 * Resolves with the first answer: from policy, an earlier decision, a model, or people.
 *
 * A server that goes away meanwhile is tried again every 1 to 4 seconds and asked the same ask, so that it is asked once;
 * a refusal is final. An aborted `signal` withdraws the ask, unless its job is lost: then it waits for the next holder.
 *
 * @throws {AskRejected | AskTimedOut | AskFailed} with `code` and `answer`
 * @throws {ParleyError} the server's refusal of the request itself, `BAD_REPLY` for what is no answer to it, or the
 *   signal's reason
 */
export async function ask<T = unknown>(type: AskKind, prompt: string, options: AskOptions = {}): Promise<AskResult<T>> {
  const answer = await answerTo<T>(type, prompt, options);
  if (answer.ask_back === undefined || !options.onAskBack) return resultOf(answer);
  const reply = await options.onAskBack(answer.ask_back);
  if (reply === undefined) return resultOf(answer);
  const meta = { ...options.meta, in_reply_to: answer.ask_id };
  return resultOf(await answerTo<T>(type, reply, { ...options, meta, ask_id: newId() }));
}

async function answerTo<T>(type: AskKind, prompt: string, options: AskOptions): Promise<Answer<T>> {
  const { signal } = options;
  signal?.throwIfAborted();
  const envelope = contextEnvelope(options.role_id ?? "default");
  const hash = await contextHash(envelope);
  const id = options.ask_id ?? newId();
  const body = {
    type: "Ask",
    ask_id: id,
    ask_type: type,
    prompt,
    job_id: named("job_id", options.job_id, "PARLEY_JOB_ID", "TASK_RELAY_JOB_ID"),
    step_id: named("step_id", options.step_id, "PARLEY_STEP_ID", "TASK_RELAY_STEP_ID"),
    context_hash: hash,
    context_envelope: envelope,
    role_id: options.role_id,
    constraints: {
      timeout_s: options.timeout_s,
      max_tokens: options.max_tokens,
      allowed_tools: options.allowed_tools,
    },
    meta: metaOf(options),
  };

  let stage: string | null = null;
  const connection = connect(options, (reply) => {
    stage = reply.headers.get("parley-ask-stage");
  });
  let reportedStage: string | null = null;
  const tell = () => {
    if (stage === null || stage === reportedStage) return;
    reportedStage = stage;
    options.onPending?.(stage);
  };
  let isPosted = false;
  const startedAt = Date.now();
  try {
    await persist(() => connection.call("POST", "/asks", { signal, body }), {
      signal,
      giveUpAt: startedAt + Math.min(PATIENCE_MS, (options.timeout_s ?? PEOPLE_S) * 1000),
    });
    isPosted = true;
    const giveUpAt = startedAt + (options.timeout_s ?? PEOPLE_S) * 1000 + AWAY_MS;
    const answer = await wait<T>(connection, id, { signal, giveUpAt, ...(options.onPending && { tell }) });
    const attested = answer.attestation?.context_hash;
    if (hash !== undefined && attested !== undefined && attested !== hash) {
      const message = "E_CONTEXT_MISMATCH: the answer was made for other circumstances";
      throw new AskFailed(answer, "E_CONTEXT_MISMATCH", message);
    }
    return answer;
  } catch (error) {
    if (signal?.aborted && !(signal.reason instanceof LeaseLost)) await withdraw(connection, id, isPosted);
    throw error;
  }
}

function metaOf({ meta, choices, prompt_overrides, action, resource, env, args }: AskOptions): Record<string, unknown> {
  const own = { options: choices, prompt_overrides, action, resource, env, args };
  return { ...meta, ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)) };
}

async function wait<T>(
  connection: Connection,
  id: string,
  { signal, giveUpAt, tell }: { signal: AbortSignal | undefined; giveUpAt: number; tell?: () => void },
): Promise<Answer<T>> {
  const set = Number.parseInt(fromEnvironment("ASK_ANSWER_WAIT_SECONDS") ?? "", 10);
  const usualS = set > 0 ? set : WAIT_S;
  for (let waitS = tell ? Math.min(FIRST_WAIT_S, usualS) : usualS; ; waitS = usualS) {
    const askedAt = Date.now();
    const query = { wait: `${waitS}s` };
    const timeoutMs = waitS * 1000 + 15_000;
    const look = () => connection.call<Answer<T> | undefined>("GET", answerPath(id), { signal, query, timeoutMs });
    const answer = await persist(look, { signal, giveUpAt });
    if (answer !== undefined) return ofThis(answer, id);
    tell?.();
    if (Date.now() > giveUpAt) throw new ParleyError("TIMED_OUT", "The server did not say how the ask ended.");
    // A server that replies at once, instead of holding the wait, must not be asked in a tight loop.
    if (Date.now() - askedAt < 500) await pause(platformClock, backOffMs(), signal);
  }
}

/** Returns the answer. @throws {ParleyError} `BAD_REPLY` unless it is of this ask, in a word that is known */
function ofThis<T>(answer: Answer<T> | null, id: string): Answer<T> {
  if (answer?.ask_id === id && STATUSES.includes(answer.status)) return answer;
  throw new ParleyError("BAD_REPLY", "The reply is no answer to this ask.", { status: 200 });
}

const answerPath = (id: string): string => `/asks/${encodeURIComponent(id)}/answer`;

/** Takes the ask back, as well as that goes; the request that was cut off may still be on its way. */
async function withdraw(connection: Connection, id: string, isPosted: boolean): Promise<void> {
  const path = `/asks/${encodeURIComponent(id)}`;
  const send = () => connection.call("DELETE", path, { timeoutMs: WITHDRAW_WITHIN_MS });
  try {
    await send().catch(async (error: unknown) => {
      if (isPosted || !(error instanceof ParleyError) || error.status !== 404) throw error;
      await platformClock.sleep(300);
      return send();
    });
  } catch {
    // Its deadline ends it.
  }
}

function resultOf<T>(answer: Answer<T>): AskResult<T> {
  switch (answer.status) {
    case "REJECTED":
      throw new AskRejected(answer);
    case "TIMEOUT":
      throw new AskTimedOut(answer);
    case "ERROR":
      throw new AskFailed(answer);
    case "ANSWERED": {
      const { answer_text, answer_json, ask_back, ask_id, source, consent_digest, artifacts } = answer;
      return {
        ...(answer_text !== undefined && { text: answer_text }),
        ...(answer_json !== undefined && { json: answer_json }),
        ...(ask_back !== undefined && { ask_back }),
        askId: ask_id,
        source,
        ...(consent_digest !== undefined && { consent_digest }),
        ...(artifacts !== undefined && { artifacts }),
      };
    }
  }
}

const newId = (): string => `ask_${newKey()}`;
