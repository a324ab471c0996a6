import type { AskId, QuestionId, RequestId } from "../model/ids.ts";
import { onAbort } from "../../lib/abort-hub.ts";
import type { Clock } from "../../lib/clock.ts";

/**
 * Wake-ups are hints: a waiter subscribes, reads, waits, and reads again. Losing every wake-up costs time, never truth
 * (spec/invariants C5).
 */
export interface Wake {
  /** Calls `look` whenever `topic` may have changed, until the returned function is called. */
  subscribe(topic: string, look: () => void): () => void;
  /** Wakes the waiters on these topics, on every node. */
  publish(topics: Iterable<string>): void;
  /** Wakes waiters of this node only: for a change that another node, or the polling fallback, has reported. */
  wakeHere(topic: string): void;
  /** The topics somebody waits on. */
  topics(): Iterable<string>;
  close(): Promise<void>;
}

/** How a wake-up leaves this node; nothing where there is only one. */
export interface WakeCarrier {
  send(topics: readonly string[]): void;
  close(): Promise<void>;
}

/** Opens the wake-ups of one node, and of others where a carrier is given. */
export function openWake(carrier?: WakeCarrier): Wake {
  const looking = new Map<string, Set<() => void>>();

  function wakeHere(topic: string): void {
    const waiters = looking.get(topic);
    if (waiters) for (const look of [...waiters]) look();
  }

  return {
    subscribe(topic, look) {
      let waiters = looking.get(topic);
      if (!waiters) looking.set(topic, (waiters = new Set()));
      waiters.add(look);
      return () => {
        waiters.delete(look);
        if (waiters.size === 0 && looking.get(topic) === waiters) looking.delete(topic);
      };
    },
    publish(topics) {
      const list = [...topics];
      if (list.length === 0) return;
      for (const topic of list) wakeHere(topic);
      carrier?.send(list);
    },
    wakeHere,
    topics: () => looking.keys(),
    close: async () => carrier?.close(),
  };
}

/** Wakes the readers of the feed of open questions. */
export const FEED_TOPIC = "feed";

/** Wakes the viewers of an inbox. */
export const INBOX_TOPIC = "inbox";

/** Wakes the callers that wait for somebody who is frozen. */
export const FREEZES_TOPIC = "freezes";

/** Wakes the loop that sends due messages. */
export const DELIVERIES_TOPIC = "deliveries";

/** Wakes the loop that notifies agents of events. */
export const WEBHOOKS_TOPIC = "webhooks";

/** Wakes the callers that wait for messages from people to an agent. */
export const conversationTopic = (agent: string): string => `said:${agent}`;

/** Wakes the callers that wait for notes of people to the agent of one run. */
export const notesTopic = (agent: string, run: string): string => `notes:${agent}${run}`;

/** Wakes the callers that wait for one question. */
export const questionTopic = (questionId: QuestionId): string => `question:${questionId}`;

/** Wakes the callers that wait for one request. */
export const requestTopic = (requestId: RequestId): string => `request:${requestId}`;

/** Wakes the callers that wait for the answer to one ask of an executor. */
export const askTopic = (askId: AskId): string => `ask:${askId}`;

/** Wakes the callers that wait for one job, or follow it. */
export const jobTopic = (jobId: string): string => `job:${jobId}`;

/** Wakes the streams and waits that depend on a key or a session, named by its hash. */
export const credentialTopic = (hash: string): string => `credential:${hash}`;

/** Wakes the workers that wait for a job to claim. */
export const CLAIMS_TOPIC = "claims";

/** Wakes the callers that wait for one task of a coding agent, or follow it. */
export const taskTopic = (repo: string, id: string): string => `task:${repo}/${id}`;

/** Wakes the callers that follow all tasks of a repository. */
export const boardTopic = (repo: string): string => `board:${repo}`;

/** Wakes the loops that start tasks, or do the work that a review has left. */
export const TASKS_TOPIC = "tasks";

/** Wakes the callers that follow a numbered stream. */
export const streamTopic = (stream: string): string => `stream:${stream}`;

/** A waiter on some topics, who misses no wake-up between two waits. */
export interface Watch extends Disposable {
  /** Resolves when a topic was woken since the last call, after `ms`, or when one of the signals is aborted. */
  next(ms: number): Promise<void>;
}

/** Starts to watch. A caller that reads the rows after this and then calls `next` sees every later change. */
export function watch(
  ctx: { wake: Wake; clock: Clock },
  topics: readonly string[],
  signals: readonly AbortSignal[],
): Watch {
  // One commit may wake ten thousand waiters, and the abort of a signal costs several times as much.
  let wake: (() => void) | null = null;
  const bell = {
    aborted: false,
    addEventListener: (_: string, listener: () => void) => void (wake = listener),
    removeEventListener: () => void (wake = null),
  };
  const ring = () => {
    bell.aborted = true;
    wake?.();
  };
  const stops = [
    ...topics.map((topic) => ctx.wake.subscribe(topic, ring)),
    ...signals.map((signal) => onAbort(signal, ring)),
  ];

  return {
    async next(ms) {
      if (signals.some((signal) => signal.aborted)) return;
      await ctx.clock.sleep(ms, bell);
      bell.aborted = false;
    },
    [Symbol.dispose]() {
      for (const stop of stops) stop();
    },
  };
}
