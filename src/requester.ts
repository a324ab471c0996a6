import type { TaskOfRequest } from "./requests/model/task-of-request.ts";
import type { Request, Decision } from "./requests/model/request.ts";
import type { Answer, Question } from "./questions/model/question.ts";
import type { Refusal } from "./refusals.ts";
import type { AuditNote } from "./core/store/audit.ts";
import type { Queryable, Tx } from "./core/store/db.ts";

/** The parts of a request that its requester may add to. */
export type RequestWords = Pick<Request, "asker" | "title" | "words" | "wire">;

/**
 * The module that asked people through this server, and that acts on their decision.
 *
 * To end a request, lock its row first and then call its requester: rows that a requester locks come after the request.
 */
export interface Requester {
  /** The door of the requests that are its own. */
  readonly door: string;
  /**
   * Returns a new request as it is put to people, where the requester adds to it. It is called before the transaction,
   * because it may take a while.
   */
  present?<T extends RequestWords>(on: Queryable, asked: T): Promise<T>;
  /** Does what a new request means to this requester, in the transaction that stores it. */
  stored?(tx: Tx, request: Request): Promise<void>;
  /** Returns up to `limit` ids of open requests whose answer nobody waits for any more. */
  listUnwanted?(on: Queryable, limit: number): Promise<string[]>;
  /**
   * Whether a request of its own changes no row but those of the request, and new ones: what stores or decides it may
   * then share a commit.
   */
  changesNoOtherRows?(request: RequestWords): boolean;
  /** Returns whether what it asked for still waits for an answer; that is held from then on. */
  isWanted(tx: Tx, request: Request): Promise<boolean>;
  /**
   * Returns why this requester cannot take a decision, though the request's form may allow it. It is called before the
   * transaction, because it may take a while.
   */
  check?(request: Request, decision: Decision): Promise<Refusal | null>;
  /**
   * Does what the end of the request means to this requester, in the transaction that ends it: either both stand or
   * neither.
   *
   * @throws {Refusal} why the decision cannot stand; then the request stays open
   */
  ended(tx: Tx, over: Request): Promise<void>;
  /** Returns the task that the request is about; null where it is about none. */
  taskOf(on: Queryable, request: Request): Promise<TaskOfRequest | null>;
}

/**
 * The module that put a question to the crowd on behalf of something else. It differs from a `Requester` in two
 * ways. Nobody asks beforehand whether the question is still wanted: the statement that counts an answer is the lock of
 * the question, so only its end can tell. And the record is written last, by the caller that ends the question.
 */
export interface QuestionRequester {
  /** The door of the questions that are its own. */
  readonly door: string;
  /** Reads a text as the answer that is asked for, before the transaction, because it may take a while. */
  judge(question: Question, text: string): Promise<JudgedText>;
  /** Does what the end of the question means to this owner, in the transaction that ends it. */
  ended(tx: Tx, over: Question, end: QuestionEnd): Promise<QuestionEnded>;
}

/** The result of reading a text as an answer. */
export interface JudgedText {
  /** The value it is, where one is asked for. */
  value?: unknown;
  /** Why it is no answer. */
  refusal?: Refusal;
}

/** How a question to the crowd ended: with its answer, or without one. */
export type QuestionEnd = { kind: "answered"; answer: Answer; value: unknown } | { kind: "expired" | "cancelled" };

/** The effect of a question's end on whatever the question stood for. */
export interface QuestionEnded {
  /** False where that was over before: an answer must then not count. */
  isWanted: boolean;
  /** Entries of the record, not yet written. */
  notes: readonly AuditNote[];
}

/** Who asked. A request is looked up by nothing but its door. */
export interface Requesters {
  /** Returns the owner of a request. Behind a door that nobody has registered it is the agent that asked. */
  ofRequest(request: Pick<Request, "door">): Requester;
  /** Returns ids of open requests whose answer nobody waits for any more: up to `limit` of each owner. */
  listUnwanted(on: Queryable, limit: number): Promise<string[]>;
  /** Returns the owner of a question to the crowd; undefined where the question stands for nothing but itself. */
  ofQuestion(question: Pick<Question, "door">): QuestionRequester | undefined;
}
