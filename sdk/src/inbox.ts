import type { CallOptions, Connection } from "./http.ts";
import { keyedConnection, type KeyedOptions } from "./keyed.ts";
import { follow } from "./sse.ts";
import type {
  Absence,
  Alike,
  Away,
  Batch,
  BatchDecision,
  ConversationMessage,
  ConversationStart,
  DecidedBatch,
  EditedCall,
  Freeze,
  Freezes,
  HandedAsk,
  HandOn,
  InboxAsk,
  InboxAskLine,
  InboxCounts,
  InboxDecision,
  InboxPage,
  AgentNotes,
  InquiredAsk,
  NewFreeze,
  OwnConversation,
  OwnConversationPage,
  Precedents,
  Receivers,
  Run,
  Snoozed,
  StandIns,
  TaskReview,
  Undone,
  WholeTask,
} from "./wire-schemas.ts";

export type {
  Absence,
  Alike,
  Away,
  ArgumentRow,
  AskToPeople,
  Batch,
  BatchDecision,
  ConversationMessage,
  ConversationStart,
  DecidedBatch,
  DecidedBy,
  DiffLine,
  EditedCall,
  Freeze,
  Freezes,
  HandedAsk,
  HandOn,
  InboxAsk,
  InboxAskLine,
  InboxCounts,
  InboxDecision,
  InboxOption,
  InboxPage,
  AgentNote,
  AgentNotes,
  InquiredAsk,
  NewFreeze,
  OwnConversation,
  OwnConversationPage,
  PlanEvidence,
  Precedents,
  Receivers,
  Run,
  RunEntry,
  Snoozed,
  StandIns,
  TypedArgument,
  Undone,
} from "./wire-schemas.ts";

/** The part of an inbox to read; empty for all of it. */
export interface InboxFilter {
  kind?: InboxAskLine["kind"] | undefined;
  /** When it is due: of what waits. */
  due?: keyof InboxCounts["due"] | undefined;
  /** The name of the agent that asks; for waiting asks. */
  agent?: string | undefined;
  /** Words that must all occur. */
  q?: string | undefined;
  /** Of what waits: the first to be due, which is the usual order, what has waited longest, or the riskiest first. */
  order?: "deadline" | "asked" | "risk" | undefined;
  /** Of what waits: only what this person has put aside or handed on; without it, all that they have not. */
  snoozed?: boolean | undefined;
}

/** Where a page begins: `next` of the page before. */
type Before = CallOptions & { before?: string | undefined };

const ASKS = "/people/me/asks";
const CONVERSATIONS = "/people/me/conversations";

/**
 * The inbox of one person: what they are asked by name, and their conversations with agents; for their key of scope
 * `answer`, or their session.
 *
 * Every method throws a {@link ParleyError}: `UNAUTHORIZED` where nobody is signed in, and the codes that it names.
 */
export class Inbox {
  readonly #connection: Connection;

  constructor(options: KeyedOptions) {
    this.#connection = keyedConnection(options);
  }

  /** Reads one page of what waits, the first to be due first; or of what is over, the newest first. */
  async asks({ signal, ...query }: Before & InboxFilter & { state?: "open" | "over" } = {}): Promise<InboxPage> {
    return this.#connection.call("GET", ASKS, { query, signal });
  }

  /** Reads one ask in full. @throws {ParleyError} `NOT_FOUND` */
  async ask(id: string, options: CallOptions = {}): Promise<InboxAsk> {
    return this.#connection.call("GET", askPath(id), options);
  }

  /**
   * The decision is recorded, and the ask is as it is after it. The same again changes nothing.
   *
   * @throws {ParleyError} `NOT_FOUND`, `VALIDATION_ERROR`; `NOT_ASKED` or `NOT_COUNTED` where this person may not decide;
   *   `DIGEST_MISMATCH`, `ALREADY_DECIDED`, `EXPIRED`, `CANCELLED`
   */
  async decide(id: string, decision: InboxDecision, options: CallOptions = {}): Promise<InboxAsk> {
    return this.#connection.call("POST", `${askPath(id)}/decision`, { ...options, body: decision, repeatable: true });
  }

  /**
   * Reads a call as an approval with these arguments would run it; nothing is decided.
   *
   * @throws {ParleyError} `NOT_FOUND`, `VALIDATION_ERROR`
   */
  async edited(id: string, kwargs: string, options: CallOptions = {}): Promise<EditedCall> {
    return this.#connection.call("POST", `${askPath(id)}/edited`, { ...options, body: { kwargs }, repeatable: true });
  }

  /**
   * An ask leaves this person's list until then, or until half of the time to its deadline has passed. Nobody else's list
   * changes, nor does its deadline.
   *
   * @throws {ParleyError} `NOT_FOUND`; `VALIDATION_ERROR` for a time that has passed or is more than 30 days away;
   *   `ALREADY_DECIDED`, `EXPIRED`, `CANCELLED`
   */
  async snooze(id: string, until: Date, options: CallOptions = {}): Promise<Snoozed> {
    const body = { until: until.toISOString() };
    return this.#connection.call("POST", `${askPath(id)}/snooze`, { ...options, body, repeatable: true });
  }

  /** An ask that was put aside is in the list again. @throws {ParleyError} `NOT_FOUND` */
  async endSnooze(id: string, options: CallOptions = {}): Promise<Snoozed> {
    return this.#connection.call("DELETE", `${askPath(id)}/snooze`, options);
  }

  /** Reads to whom this person may hand an ask on: others who may decide it. @throws {ParleyError} `NOT_FOUND` */
  async receivers(id: string, options: CallOptions = {}): Promise<Receivers> {
    return this.#connection.call("GET", `${askPath(id)}/receivers`, options);
  }

  /**
   * An ask leaves this person's list and stands first in those of the receivers, who are told. The same again changes
   * nothing and tells nobody.
   *
   * @throws {ParleyError} `NOT_FOUND`, `NOT_ASKED`; `VALIDATION_ERROR` for somebody who may not decide it, and for a note
   *   of more than 1,000 characters; `ALREADY_DECIDED`, `EXPIRED`, `CANCELLED`
   */
  async handOn(id: string, handOn: HandOn, options: CallOptions = {}): Promise<HandedAsk> {
    return this.#connection.call("POST", `${askPath(id)}/hand-on`, { ...options, body: handOn, repeatable: true });
  }

  /** An ask that was handed on is in the list again. @throws {ParleyError} `NOT_FOUND` */
  async takeBack(id: string, options: CallOptions = {}): Promise<HandedAsk> {
    return this.#connection.call("DELETE", `${askPath(id)}/hand-on`, options);
  }

  /**
   * Puts a question to the agent of an ask, which stays open. A decision of this person that can still be undone is
   * undone. Whether its agent answers is its `answers_inquiries`.
   *
   * @throws {ParleyError} `NOT_FOUND`, `NOT_ASKED`, `CANNOT_ASK_BACK`; `CONFLICT` for the eleventh question;
   *   `VALIDATION_ERROR`; `ALREADY_DECIDED`, `EXPIRED`, `CANCELLED`
   */
  async askBack(id: string, question: string, options: CallOptions = {}): Promise<InquiredAsk> {
    return this.#connection.call("POST", `${askPath(id)}/inquiries`, { ...options, body: { text: question } });
  }

  /**
   * Sends a note to the agent of an open ask, which reads it at its next turn; it decides nothing. The `notes` of an ask
   * are null where its agent reads none.
   *
   * @throws {ParleyError} `NOT_FOUND`, `NOT_ASKED`; `READS_NO_NOTES`; `NOTE_LIMIT` where 20 notes wait;
   *   `VALIDATION_ERROR`; `ALREADY_DECIDED`, `EXPIRED`, `CANCELLED`
   */
  async note(id: string, words: string, options: CallOptions = {}): Promise<AgentNotes> {
    return this.#connection.call("POST", `${askPath(id)}/notes`, { ...options, body: { text: words } });
  }

  /** Reads what is frozen: for an admin all, for others everything, their own agents, and agents that wait for them. */
  async freezes(options: CallOptions = {}): Promise<Freezes["freezes"]> {
    return (await this.#connection.call<Freezes>("GET", "/freezes", options)).freezes;
  }

  /**
   * Nothing is approved from now on to whom it covers, and their deadlines stand still. The same again returns the freeze
   * that is in force.
   *
   * @throws {ParleyError} `FORBIDDEN` for the agents of others, unless this person is an admin; `VALIDATION_ERROR`
   */
  async freeze(freeze: NewFreeze, options: CallOptions = {}): Promise<Freeze> {
    return this.#connection.call("POST", "/freezes", { ...options, body: freeze, repeatable: true });
  }

  /** Ends a freeze. @throws {ParleyError} `NOT_FOUND`; `FORBIDDEN` where this person may not thaw it */
  async thaw(id: string, options: CallOptions = {}): Promise<Freeze> {
    return this.#connection.call("DELETE", `/freezes/${encodeURIComponent(id)}`, options);
  }

  /** Reads whether this person is away; the members are null where they are not. */
  async away(options: CallOptions = {}): Promise<Away> {
    return this.#connection.call("GET", "/people/me/away", options);
  }

  /**
   * This person is away until then. Messages about what the stand-in may decide anyway go to the stand-in meanwhile, in
   * whose list it stands first.
   *
   * @throws {ParleyError} `VALIDATION_ERROR` for a time in the past or more than 366 days away, and for a stand-in who is
   *   not enrolled, or is this person
   */
  async goAway(absence: Absence, options: CallOptions = {}): Promise<Away> {
    return this.#connection.call("PUT", "/people/me/away", { ...options, body: absence, repeatable: true });
  }

  /** This person is back. */
  async comeBack(options: CallOptions = {}): Promise<Away> {
    return this.#connection.call("DELETE", "/people/me/away", options);
  }

  /** Reads who may be of use as a stand-in: those of this person's groups, and who sees every ask. */
  async standIns(options: CallOptions = {}): Promise<StandIns> {
    return this.#connection.call("GET", "/people/me/stand-ins", options);
  }

  /** Reads what an admin may allow beside a call. @throws {ParleyError} `NOT_FOUND` */
  async alike(id: string, options: CallOptions = {}): Promise<Alike> {
    return this.#connection.call("GET", `${askPath(id)}/alike`, options);
  }

  /** Reads earlier decisions on the function of a call, and what differs now. @throws {ParleyError} `NOT_FOUND` */
  async precedents(id: string, options: CallOptions = {}): Promise<Precedents> {
    return this.#connection.call("GET", `${askPath(id)}/precedents`, options);
  }

  /**
   * Reads one page of the run or task that an ask is part of, the newest entry first: of the asks that this person may
   * read alone. It is empty for an ask that is part of no run.
   *
   * @throws {ParleyError} `NOT_FOUND`
   */
  async run(id: string, { signal, ...query }: Before & { limit?: number | undefined } = {}): Promise<Run> {
    return this.#connection.call("GET", `${askPath(id)}/run`, { query, signal });
  }

  /** Reads waiting calls of one agent and function; `id` is that of `alike`. @throws {ParleyError} `NOT_FOUND` */
  async batch(id: string, options: CallOptions = {}): Promise<Batch> {
    return this.#connection.call("GET", `/people/me/batches/${encodeURIComponent(id)}`, options);
  }

  /**
   * Each call is decided by its own digest, all or none. The same again changes nothing. The `ask_id` of an error is that
   * of the call for which nothing was decided.
   *
   * @throws {ParleyError} the codes of {@link decide}
   */
  async decideBatch(decision: BatchDecision, options: CallOptions = {}): Promise<DecidedBatch> {
    return this.#connection.call("POST", "/people/me/decisions", { ...options, body: decision, repeatable: true });
  }

  /**
   * Decisions of low or normal risk that this session made can be taken back for a few seconds, until they leave. What
   * has left stays as it is.
   *
   * @throws {ParleyError} `NOT_FOUND`
   */
  async undo(ids: readonly string[], options: CallOptions = {}): Promise<Undone> {
    const body = { asks: ids };
    return this.#connection.call("POST", "/people/me/undo", { ...options, body, repeatable: true });
  }

  /** Reads the task of a coding agent that an ask is about. @throws {ParleyError} `NOT_FOUND` */
  async task(ask: string, options: CallOptions = {}): Promise<WholeTask> {
    return this.#connection.call("GET", `${askPath(ask)}/task`, options);
  }

  /**
   * The work is reviewed, which decides the ask; the task is as it is after it.
   *
   * @throws {ParleyError} `NOT_FOUND`, `VALIDATION_ERROR`, `REVIEW_CONFLICT`
   */
  async reviewTask(ask: string, review: TaskReview, options: CallOptions = {}): Promise<WholeTask> {
    return this.#connection.call("POST", `${askPath(ask)}/task/review`, { ...options, body: review });
  }

  /** Yields the id of each ask that has changed, or null for any of them; live only. */
  async *events(options: CallOptions & { onConnect?: () => void } = {}): AsyncGenerator<string | null> {
    for await (const { event, data } of follow(this.#connection, "/people/me/events", options)) {
      if (event === "changed") yield (JSON.parse(data) as { id?: string }).id ?? null;
    }
  }

  /** Reads where conversations may be begun, and one page of those that were, the newest first. */
  async conversations({ signal, ...query }: Before = {}): Promise<OwnConversationPage> {
    return this.#connection.call("GET", CONVERSATIONS, { query, signal });
  }

  /** Reads the newest page of one conversation, or the page before. @throws {ParleyError} `NOT_FOUND` */
  async conversation(id: number, { signal, ...query }: Before = {}): Promise<OwnConversation> {
    return this.#connection.call("GET", `${CONVERSATIONS}/${id}`, { query, signal });
  }

  /** A conversation is begun. The same `id` again is the same words. @throws {ParleyError} `NOT_FOUND` */
  async beginConversation(start: ConversationStart, options: CallOptions = {}): Promise<OwnConversation> {
    return this.#connection.call("POST", CONVERSATIONS, { ...options, body: start, repeatable: true });
  }

  /**
   * The words answer the one question that waits in the conversation, or else go to its agent. The same `id` again is the
   * same words.
   *
   * @throws {ParleyError} `NOT_FOUND`; `VALIDATION_ERROR` where it answers nothing that waits
   */
  async say(conversation: number, message: ConversationMessage, options: CallOptions = {}): Promise<OwnConversation> {
    const call = { ...options, body: message, repeatable: true };
    return this.#connection.call("POST", `${CONVERSATIONS}/${conversation}/messages`, call);
  }
}

const askPath = (id: string): string => `${ASKS}/${encodeURIComponent(id)}`;
