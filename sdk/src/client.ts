import {
  approve,
  type ApprovalOptions,
  type ApprovalRequest,
  claim,
  type Decision,
  decision,
  type ReceiptRules,
  withdraw,
} from "./approvals.ts";
import {
  type AddressedQuestion,
  answer,
  asPersonQuestion,
  askPerson,
  type PersonAnswer,
  type PersonQuestion,
  withdrawQuestion,
} from "./ask-person.ts";
import { approveAll, type DecidedPlan, type PlannedCall, type PlanOptions, withdrawPlan } from "./plans.ts";
import { checkTexts } from "./consent.ts";
import { agentServer, agentsOf } from "./environment.ts";
import { ParleyError } from "./errors.ts";
import { type GuardedCall, type GuardOptions, requireApproval } from "./guard.ts";
import { type CallOptions, Connection, type ConnectionOptions } from "./http.ts";
import type { AnsweringOptions } from "./inquiries.ts";
import { newKey } from "./idempotency-key.ts";
import type { ReceiptKeys } from "./receipts.ts";
import { follow } from "./sse.ts";
import { questionPath, wait, type WaitOptions } from "./wait.ts";
import {
  isFinal,
  type NewQuestion,
  type Question,
  type QuestionBatch,
  type QuestionPage,
  type QuestionReceipt,
  type QuestionResponse,
  type QuestionStatus,
} from "./wire.ts";

export { ParleyError };
export { ApprovalMismatch, ApprovalRejected, ApprovalUndecided, NotAnswered, NotApproved } from "./request-errors.ts";
export type { ApprovalOptions, ApprovalRequest, ApprovedBy, Decision } from "./approvals.ts";
export type { CallReport, CallReports, EndReports } from "./call-report.ts";
export type { GuardedCall, GuardOptions } from "./guard.ts";
export type { WaitOptions } from "./wait.ts";
export type { AddressedQuestion, PersonAnswer, PersonQuestion } from "./ask-person.ts";
export type { AnswerInquiry, AnsweringOptions, AskedBack } from "./inquiries.ts";
export type { DecidedCall, DecidedPlan, PlannedCall, PlanOptions } from "./plans.ts";
export type { ReceiptKeys } from "./receipts.ts";
export type * from "./wire.ts";

export interface ParleyOptions extends Omit<ConnectionOptions, "url"> {
  /**
   * Where the server is, for example `http://127.0.0.1:3415`; a path prefix is kept. Else `PARLEY_URL`, else, where
   * `PARLEY_KEY` says nothing either, `A2H_BASE_URL`, else `http://127.0.0.1:3415`.
   */
  url?: string;
  /**
   * A key of scope `agent`; else the one in the environment, `PARLEY_KEY`, or `A2H_API_KEY` beside `A2H_BASE_URL`, which
   * goes only to the server that `url` would be if it were left out. Without one the server must be in open mode, as it
   * is on the same computer.
   */
  key?: string;
  /** Names this agent in open mode; `default` when left out. */
  agentId?: string;
  /**
   * The keys that must have signed receipts, as the server's `/.well-known/jwks.json` showed them at another time, or
   * by another way. Left out, the client fetches them from the server.
   */
  receiptKeys?: ReceiptKeys;
  /**
   * The agent that receipts must be of, as they say it: `agent:NAME` with the name that its key was made for. Left out, that
   * of any key where this client has one, else `open:` and the `agentId`.
   */
  receiptAgent?: string;
}

/**
 * The agent's side of a Parley server: ask people, wait, read their answers.
 *
 * ```ts
 * const parley = new Parley({ url: "http://127.0.0.1:3415" });
 * const { question_id } = await parley.ask({ prompt: "Which label is clearer?", options: ["Send", "Submit"] });
 * const { summary } = await parley.wait(question_id);
 * ```
 */
export class Parley {
  readonly #connection: Connection;
  readonly #receipts: ReceiptRules;

  constructor(options: ParleyOptions = {}) {
    const { url, key } = agentServer(options);
    const headers = {
      authorization: key === undefined ? undefined : `Bearer ${key}`,
      "x-agent-id": options.agentId,
    };
    this.#connection = new Connection({ ...options, url }, () => headers);
    this.#receipts = { receiptKeys: options.receiptKeys, agents: agentsOf({ ...options, url, key }) };
  }

  /**
   * The question is stored and open to people.
   *
   * It carries an idempotency key, yours or a fresh one, so that repeating a request whose reply was lost asks once.
   * With `to` it goes to one person, and this resolves with the answer, as `askPerson` does.
   *
   * @throws {ParleyError} `VALIDATION_ERROR`, `UNAUTHORIZED`, `RATE_LIMITED`, `AGENT_QUOTA_EXCEEDED`, `IDEMPOTENCY_MISMATCH`
   */
  async ask<const Option extends string>(
    question: AddressedQuestion & { options: readonly Option[] },
    options?: CallOptions,
  ): Promise<PersonAnswer<Option>>;
  async ask(
    question: AddressedQuestion & { options?: undefined; schema?: undefined },
    options?: CallOptions,
  ): Promise<PersonAnswer<string>>;
  async ask<Value = unknown>(question: AddressedQuestion, options?: CallOptions): Promise<PersonAnswer<Value>>;
  async ask(question: NewQuestion & { to?: undefined }, options?: CallOptions): Promise<QuestionReceipt>;
  async ask(
    question: AddressedQuestion | (NewQuestion & { to?: undefined }),
    options: CallOptions = {},
  ): Promise<QuestionReceipt | PersonAnswer> {
    checkTexts(question);
    if (question.to !== undefined) return askPerson(this.#connection, asPersonQuestion(question, options));
    const type = question.type ?? (question.options === undefined ? "text" : "multiple_choice");
    const body = {
      ...question,
      type,
      idempotency_key: question.idempotency_key ?? newKey(),
    };
    return this.#connection.call("POST", "/agent/questions", {
      ...options,
      body,
      repeatable: true,
    });
  }

  /** Reads the question and its answers so far. @throws {ParleyError} `QUESTION_NOT_FOUND` */
  async check(id: string, options: CallOptions & { expand?: "meta" } = {}): Promise<Question> {
    const { signal, expand } = options;
    return this.#connection.call("GET", questionPath(id), { signal, query: { expand } });
  }

  /** Reads up to 100 questions at once; ids the server does not know stand in `not_found`. */
  async checkAll(ids: readonly string[], options: CallOptions = {}): Promise<QuestionBatch> {
    return this.#connection.call("GET", "/agent/questions", {
      ...options,
      query: { ids: ids.join(",") },
    });
  }

  /** Reads one page of this agent's own questions, newest first. */
  async list(
    options: CallOptions & {
      status?: readonly QuestionStatus[];
      limit?: number;
      cursor?: string | null;
    } = {},
  ): Promise<QuestionPage> {
    const query = {
      status: options.status?.join(","),
      limit: options.limit,
      cursor: options.cursor ?? undefined,
    };
    return this.#connection.call("GET", "/agent/questions", {
      signal: options.signal,
      query,
    });
  }

  /** Cancels the question; answers already given stay. A final question is returned unchanged. */
  async cancel(id: string, options: CallOptions = {}): Promise<Question> {
    return this.#connection.call("DELETE", questionPath(id), options);
  }

  /**
   * Resolves with the question once it is final or has `untilResponses` answers, or when `timeoutMs` is over.
   *
   * Running out of time is not an error: look at `status`. A server that goes away meanwhile is tried again
   * until the question's deadline has passed.
   *
   * @throws {ParleyError} `QUESTION_NOT_FOUND`, `UNAUTHORIZED`, or the signal's reason
   */
  async wait(id: string, options: WaitOptions = {}): Promise<Question> {
    return wait(this.#connection, id, options);
  }

  /**
   * Resolves with people's answers once `wait` is over: all wanted answers, or those that are there by then.
   *
   * @throws {ParleyError} as `wait`
   */
  async waitForResponses(id: string, options: WaitOptions = {}): Promise<QuestionResponse[]> {
    return (await this.wait(id, options)).responses;
  }

  /**
   * Yields each answer as it arrives, none twice, and ends when the question is final.
   *
   * @throws {ParleyError} `QUESTION_NOT_FOUND`, `UNAUTHORIZED`, or the signal's reason
   */
  async *responses(id: string, options: CallOptions = {}): AsyncGenerator<QuestionResponse> {
    let yielded = 0;
    for await (const { responses } of this.events(id, options)) {
      yield* responses.slice(yielded);
      yielded = responses.length;
    }
  }

  /**
   * Yields the question now and at every change, and ends with its final state.
   *
   * @throws {ParleyError} `QUESTION_NOT_FOUND`, `UNAUTHORIZED`, or the signal's reason
   */
  async *events(id: string, options: CallOptions = {}): AsyncGenerator<Question> {
    for await (const { event, data } of follow(this.#connection, `${questionPath(id)}/events`, options)) {
      if (event !== "question") continue;
      const question = JSON.parse(data) as Question;
      yield question;
      if (isFinal(question.status)) return;
    }
  }

  /**
   * Resolves once a person, or a rule of policy, has approved this call: with the arguments to run, which are those that
   * were asked about or, where `editable` allows it, what the person made of them. Their digest has been compared with
   * what was shown and approved, and the signature of the receipt verified where the runtime knows Ed25519.
   *
   * `done`, `failed` and `withdrawn` of the decision tell people what became of the call.
   *
   * A server that is away is asked again under the same id for up to a minute, in silence; a `fetch` of your own sees each
   * try. An aborted `signal` ends the wait alone: `decision` takes it up again, and `withdraw` ends the request.
   *
   * @throws {ApprovalRejected} with the comment
   * @throws {ApprovalUndecided} `EXPIRED`, `CANCELLED`: nobody decided, and silence is never consent
   * @throws {ApprovalMismatch} what was approved is not what would run, nobody of `by` has approved it, or no key of the server's has signed its receipt
   * @throws {TypeError} for arguments that JSON cannot carry, and for `receiptKeys` where the runtime knows no Ed25519
   * @throws {ParleyError} `UNKNOWN_PERSON`, `validation_failed`, `call_id_conflict` for a key under which something else
   *   was asked, `unauthorized`, `rate_limited`, or the signal's reason
   */
  async approve<Args extends object>(request: ApprovalRequest<Args>): Promise<Decision<Args>> {
    return approve(this.#connection, request, this.#receipts);
  }

  /**
   * Asks people once about several calls that are to run in this order, and resolves once somebody has decided. They may
   * approve all calls or the first ones alone; nothing is thrown for a rejection. Before a call runs, its `use()` takes
   * it on the server, once and in order.
   *
   * @throws {TypeError} for arguments that JSON cannot carry
   * @throws {ParleyError} as `approve`, and `BAD_REPLY` for a reply about other calls
   */
  async approveAll(calls: readonly PlannedCall[], options: PlanOptions = {}): Promise<DecidedPlan> {
    return approveAll(this.#connection, calls, options, this.#receipts);
  }

  /** Nobody can approve the plan any more. @throws {ParleyError} `not_found`, `already_responded`, `expired` */
  async withdrawPlan(id: string, options: CallOptions & { reason?: string } = {}): Promise<void> {
    return withdrawPlan(this.#connection, id, options);
  }

  /**
   * Takes up the wait for an approval that was asked for before, perhaps by a process that is gone; the id is its
   * idempotency key.
   *
   * @throws what `approve` does, and {ParleyError} `not_found`
   */
  async decision(id: string, options: AnsweringOptions & Pick<ApprovalOptions, "by"> = {}): Promise<Decision> {
    return decision(this.#connection, id, options, this.#receipts);
  }

  /**
   * Nobody can approve any more; what `askPerson` asked is taken back by `withdrawQuestion`.
   *
   * @throws {ParleyError} `not_found`, `already_responded`, `expired`
   */
  async withdraw(id: string, options: CallOptions & { reason?: string } = {}): Promise<void> {
    return withdraw(this.#connection, id, options);
  }

  /**
   * Takes the decision for this run, which then goes on with it: of any number of processes one gets it. The same `run`
   * gets it again, so that a lost reply loses nothing. It is never given back: after a crash nobody knows whether the
   * run has acted.
   *
   * @throws {ParleyError} `already_claimed` by another run, `not_decided`, `not_found`, or the signal's reason
   */
  async claim(id: string, options: CallOptions & { run: string }): Promise<void> {
    return claim(this.#connection, id, options);
  }

  /**
   * Returns the function behind an approval: each call asks with exactly its arguments, waits, and runs the function
   * once, with what was approved. The arguments are one object of what JSON can carry, and are copied before anybody is
   * asked.
   *
   * The function runs at most once for an approval: it is claimed on the server right before. Of calls under one
   * `idempotencyKey` with the same arguments the first runs, and the others of its process have its result, for the
   * newest 1,000 results; an older key throws, and so does the call of another process.
   *
   * The end is reported: done with the digest of the result, or failed with the name of the error. A report that does not
   * arrive is tried for up to a minute while the process lives, and holds the result back for 2 seconds at most. A signal
   * that aborts between the approval and the start gives the approval back.
   *
   * @throws what `approve` does, and {ParleyError} `already_claimed`, `outcome_known` for an approval that another run
   *   has started or that has ended; the function has not run then
   */
  requireApproval<Args extends object, Result>(
    run: (args: Args) => Result | Promise<Result>,
    options: GuardOptions = {},
  ): (args: Args, call?: GuardedCall) => Promise<Result> {
    return requireApproval(this.#connection, run, options, this.#receipts);
  }

  /**
   * Asks one person, or a group whose first answer counts, and resolves with the answer: one of the `options`, a value
   * that fits the `schema`, or words.
   *
   * An approval must be bound to arguments: use `approve` for it. The rest is as with `approve`: an aborted `signal`
   * ends the wait alone, `answer` takes it up again, and `withdrawQuestion` takes the question back.
   *
   * @throws {NotAnswered} `EXPIRED`, `CANCELLED`
   * @throws {ParleyError} `UNKNOWN_PERSON`, `validation_failed`, `schema_invalid`, `uid_conflict`, `unauthorized`, or the
   *   signal's reason
   */
  async askPerson<const Option extends string>(
    question: PersonQuestion & { options: readonly Option[] },
  ): Promise<PersonAnswer<Option>>;
  async askPerson(
    question: PersonQuestion & { options?: undefined; schema?: undefined },
  ): Promise<PersonAnswer<string>>;
  async askPerson<Value = unknown>(question: PersonQuestion): Promise<PersonAnswer<Value>>;
  async askPerson(question: PersonQuestion): Promise<PersonAnswer> {
    return askPerson(this.#connection, question);
  }

  /** Takes up the wait for what a person was asked before. @throws what `askPerson` does, and {ParleyError} `not_found` */
  async answer<Value = unknown>(id: string, options: AnsweringOptions = {}): Promise<PersonAnswer<Value>> {
    return answer(this.#connection, id, options);
  }

  /**
   * Withdraws a question to a person: it leaves the inbox, nobody can answer it any more, and a caller that waits for
   * it gets `NotAnswered`. The id is its idempotency key. Withdrawing it again changes nothing.
   *
   * @throws {ParleyError} `not_found`, `already_responded`, `expired`, or the signal's reason
   */
  async withdrawQuestion(id: string, options: CallOptions & { reason?: string } = {}): Promise<void> {
    return withdrawQuestion(this.#connection, id, options);
  }
}
