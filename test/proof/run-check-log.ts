import type { Site } from "./kill-process.ts";
import type { Card } from "./run-plan.ts";
import { PARALLEL, REPOS } from "./run-site.ts";

/** A task's new state, as the board of its repository tells it, in the order of commits. */
export interface Move {
  repo: string;
  id: string;
  seq: number;
  attempt: number;
  from: string | null;
  to: string;
  commit: string | null;
  /** The commits of its dependencies at that moment. */
  dependencies: Readonly<Record<string, string | null>>;
}

/** Where a task may go from each state (spec/assignment 3); the same id again may come from any. */
const MOVES: Readonly<Record<string, string>> = {
  blocked: "queued canceled",
  queued: "blocked preparing canceled",
  conflict: "queued preparing failed canceled blocked",
  preparing: "running conflict interrupted queued failed canceled",
  running: "awaiting_answer committing interrupted failed canceled",
  awaiting_answer: "running committing interrupted failed canceled",
  interrupted: "running preparing failed canceled",
  committing: "review failed interrupted",
  review: "approved queued rejected",
  approved: "",
  rejected: "queued",
  failed: "queued",
  canceled: "queued",
};
const AT_WORK = new Set(["preparing", "running", "awaiting_answer", "interrupted", "committing"]);

/** Returns everything that the boards tell. */
export const readRows = (site: Site): Promise<Record<string, unknown>[]> =>
  site.query("SELECT * FROM task_board_events ORDER BY repo, seq");

/**
 * Goes through a board from its first event: numbers without a gap, only the contract's moves, starts only with all
 * dependencies there, no more at work than may be, and one review of each attempt (J4, J8, S1).
 */
export function readBoard(
  rows: readonly Record<string, unknown>[],
  cards: readonly Card[],
  problem: (says: string) => void,
): Move[] {
  const moves: Move[] = [];
  for (const repo of REPOS) {
    const stands = new Map<string, { state: string; commit: string | null }>();
    const reviewed = new Set<string>();
    let next = 1;
    for (const row of rows.filter((one) => one["repo"] === repo)) {
      const { id, seq, attempt } = { id: String(row["id"]), seq: Number(row["seq"]), attempt: Number(row["attempt"]) };
      if (seq !== next) problem(`S1: event ${next} of ${repo} is missing, or there twice`);
      next = seq + 1;
      if (row["type"] !== "state") continue;
      const data = JSON.parse(String(row["data_json"])) as { state: string; from?: string; commit?: string };
      const before = stands.get(id);
      const move: Move = {
        repo,
        id,
        seq,
        attempt,
        from: before?.state ?? null,
        to: data.state,
        commit: data.commit ?? null,
        dependencies: Object.fromEntries(
          (cards.find((card) => card.id === id)?.dependencies ?? []).map((one) => [
            one,
            stands.get(one)?.commit ?? null,
          ]),
        ),
      };
      const says = (what: string) => problem(`${what} (event ${seq} of ${repo}: ${id} ${move.from} -> ${move.to})`);
      if (data.from !== undefined && data.from !== before?.state) says(`J4: ${id} was said to come from ${data.from}`);
      const isAgain = move.to === "queued" || move.to === "blocked";
      if (before && data.from !== undefined && !isAgain && !MOVES[before.state]?.split(" ").includes(move.to)) {
        says(`J4: a task does not move so`);
      }
      if (move.to === "preparing") {
        for (const one of cards.find((card) => card.id === id)?.dependencies ?? []) {
          const state = stands.get(one)?.state;
          const isThere = state === "approved" || (state === "review" && isEarly(cards, one));
          if (!isThere) says(`J8: ${id} was started while ${one}, which it depends on, was ${state ?? "not known"}`);
        }
      }
      if (move.to === "review" && before?.state !== "review") {
        if (reviewed.has(`${id} ${attempt}`)) says(`G1: attempt ${attempt} of ${id} was completed twice`);
        reviewed.add(`${id} ${attempt}`);
      }
      stands.set(id, { state: data.state, commit: data.commit ?? null });
      const atWork = [...stands.values()].filter(({ state }) => AT_WORK.has(state)).length;
      if (repo === "shop" && atWork > PARALLEL) says(`J7: ${atWork} tasks are at work where ${PARALLEL} may be`);
      moves.push(move);
    }
  }
  return moves;
}

function isEarly(cards: readonly Card[], id: string): boolean {
  return cards.find((card) => card.id === id)?.startDependentsOn === "completed";
}
