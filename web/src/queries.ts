import { ParleyError } from "@parley/sdk/errors";
import type {
  Audience,
  FeedItem,
  FeedPage,
  HumanQuestion,
  Leaderboard,
  Period,
  QuestionResults,
  Stats,
} from "@parley/sdk/wire";
import type { QueryObserverResult } from "@tanstack/query-core";
import { queries, useQuery } from "./query/query.ts";
import { people } from "./api.ts";
import { recall, remember } from "./device.ts";
import { onNews, ownWritten, type Written } from "./outbox.ts";
import { announce } from "./parts/announcer.tsx";
import { audience } from "./settings.ts";
import { text } from "./text.ts";

/** A question in the list that has closed since it was loaded: it stays in its place, so that nothing jumps. */
export type ListedQuestion = FeedItem & { gone?: true };
export type ListedPage = Omit<FeedPage, "questions"> & { questions: ListedQuestion[] };

onNews(() => void queries.invalidateQueries({ queryKey: ["written"] }));

/**
 * The rows of the list that stay when it is read again. `places` keeps every row in its place, when nobody asked for
 * the reading. `rest` keeps the rows below the first page, after one's own answer. Otherwise as many pages are read as
 * were shown.
 */
let keep: "places" | "rest" | undefined;

/** The list is read anew, but what is on screen stays where it is: new questions come last, closed ones are marked. */
export async function refreshFeedInPlace(): Promise<void> {
  keep = "places";
  const read = queries.invalidateQueries({ queryKey: ["feed"] });
  keep = undefined;
  await read;
}

/**
 * Puts the first page into the shown rows. A row that it lacks may stand further down: the row has closed only where
 * there is no other page.
 */
function inPlace(shown: ListedPage, page: ListedPage): ListedPage {
  const fresh = new Map(page.questions.map((one) => [one.question_id, one]));
  const isAll = page.next_cursor === null;
  const known = shown.questions.map((one) => fresh.get(one.question_id) ?? (isAll ? { ...one, gone: true } : one));
  const all = joined({ ...page, questions: known as ListedQuestion[] }, page);
  const before = shown.last_created_at ?? "";
  if (all.questions.slice(known.length).some((one) => one.created_at > before)) announce(text.feed.opened);
  return all;
}

/** One page and what of the next it does not hold already. */
function joined(page: ListedPage, next: ListedPage): ListedPage {
  const known = new Set(page.questions.map((one) => one.question_id));
  return { ...next, questions: [...page.questions, ...next.questions.filter((one) => !known.has(one.question_id))] };
}

const PAGE = 50;
type ReadOptions = { signal?: AbortSignal; cursor?: string };

function readPage(topic: string, options: ReadOptions): Promise<ListedPage> {
  return people.feed({ audience: topic === "all" ? [] : [topic as Audience], limit: PAGE, ...options });
}

/** The list of a topic as it is now. */
function listedIn(topic: string): ListedPage | undefined {
  return queries.getQueryData(["feed", topic]);
}

async function readFeed(topic: string, signal: AbortSignal): Promise<ListedPage> {
  const kept = keep;
  let page = await readPage(topic, { signal });
  // The list may have grown on screen while this was read.
  const shown = listedIn(topic);
  if (shown && kept === "places") return inPlace(shown, page);
  if (shown && kept === "rest" && page.next_cursor !== null) {
    return joined(page, { ...page, questions: shown.questions.filter((one) => !one.gone) });
  }
  while (page.next_cursor !== null && page.questions.length < (listedIn(topic)?.questions.length ?? 0)) {
    page = joined(page, await readPage(topic, { signal, cursor: page.next_cursor }));
  }
  return page;
}

/** The list shows one page more, where there is one. */
export async function readOn(): Promise<void> {
  const topic = audience.get();
  const length = listedIn(topic)?.questions.length ?? 0;
  for (let cursor = listedIn(topic)?.next_cursor; cursor && listedIn(topic)?.questions.length === length;) {
    const next = await readPage(topic, { cursor }).catch(async (error: unknown) => {
      // Where a page ended is known for an hour.
      if (codeOf(error) !== "VALIDATION_ERROR") throw error;
      await refreshFeedInPlace();
      return readPage(topic, { cursor: listedIn(topic)?.next_cursor ?? "" });
    });
    queries.setQueryData<ListedPage>(["feed", topic], (page) => page && joined(page, next));
    cursor = next.next_cursor;
  }
}

/** The questions that wait for answers, without those that this device has already answered. */
export function useFeed(): QueryObserverResult<ListedPage> {
  const topic = audience.use();
  const written = useWritten();
  return useQuery({
    queryKey: ["feed", topic],
    queryFn: async ({ signal }): Promise<ListedPage> => {
      const page = await readFeed(topic, signal);
      const questions = page.questions.slice(0, PAGE);
      if (topic === "all") remember("feed", JSON.stringify({ ...page, questions }));
      return page;
    },
    // The questions that were seen last can be answered without a connection.
    initialData: () =>
      (topic === "all" ? (JSON.parse(recall("feed") ?? "null") as ListedPage | null) : null) ?? undefined,
    initialDataUpdatedAt: 0,
    select: (page) => ({
      ...page,
      questions: page.questions.filter((one) => !written.some((entry) => entry.answer.question_id === one.question_id)),
    }),
  });
}

/** One question; until it is loaded, and where it cannot be, as the list knows it. */
export function useQuestion(id: string): QueryObserverResult<HumanQuestion> & { known: HumanQuestion | undefined } {
  const result = useQuery({ queryKey: ["question", id], queryFn: ({ signal }) => people.question(id, { signal }) });
  return { ...result, known: result.data ?? listed(id) };
}

function listed(id: string): HumanQuestion | undefined {
  const pages = queries.getQueriesData<ListedPage>({ queryKey: ["feed"] });
  const found = pages.flatMap(([, page]) => page?.questions ?? []).find((one) => one.question_id === id);
  return found && { ...found, can_answer: true };
}

export function useResults(id: string, enabled: boolean): QueryObserverResult<QuestionResults> {
  return useQuery({ queryKey: ["results", id], queryFn: ({ signal }) => people.results(id, { signal }), enabled });
}

export function useStats(): QueryObserverResult<Stats> {
  return useQuery({ queryKey: ["stats"], queryFn: ({ signal }) => people.stats({ signal }) });
}

export function useLeaderboard(period: Period): QueryObserverResult<Leaderboard> {
  return useQuery({
    queryKey: ["leaderboard", period],
    queryFn: ({ signal }) => people.leaderboard(period, { limit: 20, signal }),
  });
}

/** The answers this device has written, newest first. */
export function useWritten(): Written[] {
  return useQuery({ queryKey: ["written"], queryFn: ownWritten, staleTime: Infinity }).data ?? [];
}

/**
 * Everything that counts or lists is read anew, by a hidden page when it is seen; after an answer, a skip or a report of
 * one's own with the `rest` of the list kept.
 */
export function refreshFigures(kept?: "rest"): void {
  const refetchType = document.hidden ? "none" : "active";
  keep = kept;
  for (const kind of ["feed", "stats", "leaderboard"]) {
    void queries.invalidateQueries({ queryKey: [kind], refetchType });
  }
  keep = undefined;
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof ParleyError && error.isPassing;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof ParleyError ? error.code : undefined;
}
