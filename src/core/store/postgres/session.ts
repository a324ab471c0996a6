import type pg from "pg";
import { afterThisTurn } from "../../../lib/event-loop.ts";
import { sendTogether, type SentStatement, type StatementResult } from "./statement-batch.ts";

/** A lent connection. Statements that are asked for in one turn leave together. */
export interface Session {
  /**
   * Runs a statement after those that were asked for before. After one that failed nothing else runs.
   *
   * @throws the database's or the wire's error; `SkippedStatement` for a statement that was not run because one before it
   *   failed
   */
  run(statement: SentStatement): Promise<StatementResult>;
  /** Nothing more runs: every further statement is skipped. */
  fail(error: unknown): void;
  /** Why nothing more runs, if something failed. */
  failure(): { error: unknown } | null;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

/** A statement that was not run, because one before it on the same connection failed; `cause` is why. */
export class SkippedStatement extends Error {}

/** Returns the rest of a wait, in ms. @throws {Refusal} `store_unavailable` when no time is left */
export type TimeLeft = () => number;

interface Asked {
  statement: SentStatement;
  resolve: (result: StatementResult) => void;
  reject: (error: unknown) => void;
}

/** Opens a session on a connection, which begins with these statements; they leave with the first that is run. */
export function openSession(client: pg.ClientBase, left: TimeLeft, begin: readonly SentStatement[] = []): Session {
  let waiting: Asked[] = begin.map((statement) => ({ statement, resolve: () => {}, reject: () => {} }));
  let sending: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;

  async function send(): Promise<void> {
    await afterThisTurn();
    while (waiting.length > 0) {
      const asked = waiting;
      waiting = [];
      await sendAll(asked);
      // Callers that were told go on first: the statements that they ask for leave together.
      await afterThisTurn();
    }
    sending = null;
  }

  async function sendAll(asked: readonly Asked[]): Promise<void> {
    try {
      if (failure) throw failure.error;
      const { results, error } = await sendTogether(
        client,
        asked.map(({ statement }) => statement),
        left(),
      );
      results.forEach((result, i) => asked[i]?.resolve(result));
      if (!error) return;
      failure = { error };
      asked[results.length]?.reject(error);
      skip(asked.slice(results.length + 1), error);
    } catch (error) {
      const first = failure ? 0 : 1;
      failure ??= { error };
      if (first > 0) asked[0]?.reject(error);
      skip(asked.slice(first), error);
    }
  }

  return {
    run(statement) {
      return new Promise((resolve, reject) => {
        waiting.push({ statement, resolve, reject });
        sending ??= send();
      });
    },
    fail: (error) => void (failure ??= { error }),
    failure: () => failure,
    async settled() {
      while (sending) await sending;
    },
  };
}

function skip(asked: readonly Asked[], cause: unknown): void {
  for (const { reject } of asked) reject(new SkippedStatement("a statement before this one failed", { cause }));
}
