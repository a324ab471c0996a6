import { ParleyError } from "@parley/sdk/errors";
import type { FeedItem, FeedPage, HumanQuestion, Leaderboard, Period, QuestionResults, Stats } from "@parley/sdk/wire";
import { QueryClient, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { people } from "./api.ts";
import { recall, remember } from "./device.ts";
import { allWritten, onNews, type Written } from "./outbox.ts";
import { announce } from "./parts/announcer.tsx";
import { audience } from "./settings.ts";
import { text } from "./text.ts";

/** A question in the list that has closed since it was loaded: it stays in its place, so that nothing jumps. */
export type ListedQuestion = FeedItem & { gone?: true };
export type ListedPage = Omit<FeedPage, "questions"> & {
  questions: ListedQuestion[];
};

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The server may be on this very computer, so the browser's idea of being offline must not hold a request back.
      networkMode: "always",
      staleTime: 30_000,
      gcTime: Infinity,
      retry: false,
    },
    mutations: { networkMode: "always" },
  },
});

onNews(() => void queries.invalidateQueries({ queryKey: ["written"] }));

/** Set while the list is read anew without anybody having asked for it. */
let keepPlaces = false;

/** The list is read anew, but what is on screen stays where it is: new questions come last, closed ones are marked. */
export async function refreshFeedInPlace(): Promise<void> {
  keepPlaces = true;
  await queries.invalidateQueries({ queryKey: ["feed"] });
  keepPlaces = false;
}

function inPlace(shown: ListedPage | undefined, page: ListedPage): ListedPage {
  if (!keepPlaces || !shown) return page;
  const fresh = new Map(page.questions.map((one) => [one.question_id, one]));
  const known = shown.questions.map((one): ListedQuestion => fresh.get(one.question_id) ?? { ...one, gone: true });
  const added = page.questions.filter((one) => !known.some((old) => old.question_id === one.question_id));
  if (added.length > 0) announce(text.feed.opened);
  return { ...page, questions: [...known, ...added] };
}

/** What waits for answers, without what this device has already written. */
export function useFeed(): UseQueryResult<ListedPage> {
  const topic = audience.use();
  const written = useWritten();
  return useQuery({
    queryKey: ["feed", topic],
    queryFn: async ({ signal }): Promise<ListedPage> => {
      const page = await people.feed({
        audience: topic === "all" ? [] : [topic],
        limit: 50,
        signal,
      });
      if (topic === "all") remember("feed", JSON.stringify(page));
      return inPlace(queries.getQueryData(["feed", topic]), page);
    },
    // What was seen last can be answered without a connection.
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
export function useQuestion(id: string): UseQueryResult<HumanQuestion> & { known: HumanQuestion | undefined } {
  const result = useQuery({ queryKey: ["question", id], queryFn: ({ signal }) => people.question(id, { signal }) });
  return { ...result, known: result.data ?? listed(id) };
}

function listed(id: string): HumanQuestion | undefined {
  const pages = queries.getQueriesData<ListedPage>({ queryKey: ["feed"] });
  const found = pages.flatMap(([, page]) => page?.questions ?? []).find((one) => one.question_id === id);
  return found && { ...found, can_answer: true };
}

export function useResults(id: string, enabled: boolean): UseQueryResult<QuestionResults> {
  return useQuery({
    queryKey: ["results", id],
    queryFn: ({ signal }) => people.results(id, { signal }),
    enabled,
  });
}

export function useStats(): UseQueryResult<Stats> {
  return useQuery({
    queryKey: ["stats"],
    queryFn: ({ signal }) => people.stats({ signal }),
  });
}

export function useLeaderboard(period: Period): UseQueryResult<Leaderboard> {
  return useQuery({
    queryKey: ["leaderboard", period],
    queryFn: ({ signal }) => people.leaderboard(period, { limit: 20, signal }),
  });
}

/** The answers this device has written, newest first. */
export function useWritten(): Written[] {
  return (
    useQuery({
      queryKey: ["written"],
      queryFn: allWritten,
      staleTime: Infinity,
    }).data ?? []
  );
}

/** After an answer, a skip or a report, everything that counts or lists is read anew, by a hidden page when it is seen. */
export function refreshFigures(): void {
  const refetchType = document.visibilityState === "visible" ? "active" : "none";
  for (const kind of ["feed", "stats", "leaderboard"]) {
    void queries.invalidateQueries({ queryKey: [kind], refetchType });
  }
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof ParleyError && error.isPassing;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof ParleyError ? error.code : undefined;
}
