import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "preact/hooks";
import { follow } from "../../../sdk/src/sse.ts";
import { queries } from "../queries.ts";
import { connection } from "./api.ts";
import type * as wire from "./relay-wire.ts";

const FRESH_MS = 5000;
const id = encodeURIComponent;
type Signal = AbortSignal | undefined;

export type AskFilter = "all" | "open";
export type JobFilter = "all" | "open" | "over";

/** Everybody's asks, page after page. */
export function useAskList(which: AskFilter) {
  const status = which === "open" ? "PENDING" : undefined;
  const result = useInfiniteQuery({
    queryKey: ["console", "asks", which],
    queryFn: ({ pageParam: cursor, signal }) =>
      connection.call<{ asks: wire.AskLine[]; next: string | null }>("GET", "/admin/asks", {
        query: { status, cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: FRESH_MS,
  });
  return { ...result, asks: result.data?.pages.flatMap((page) => page.asks) };
}

export function useWholeAsk(ask: string) {
  return useQuery({
    queryKey: ["console", "ask", ask],
    queryFn: ({ signal }) => connection.call<wire.WholeAsk>("GET", `/admin/asks/${id(ask)}`, { signal }),
  });
}

/** Everybody's jobs, page after page. */
export function useJobList(which: JobFilter) {
  const state = which === "all" ? undefined : which;
  const result = useInfiniteQuery({
    queryKey: ["console", "jobs", which],
    queryFn: ({ pageParam: cursor, signal }) =>
      connection.call<{ jobs: wire.JobLine[]; next: string | null }>("GET", "/admin/jobs", {
        query: { state, cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: FRESH_MS,
  });
  return { ...result, jobs: result.data?.pages.flatMap((page) => page.jobs) };
}

const jobPath = (job: string): string => `/admin/jobs/${id(job)}`;

export function useJob(job: string) {
  return useQuery({
    queryKey: ["console", "job", job],
    queryFn: ({ signal }) => connection.call<wire.Job>("GET", jobPath(job), { signal }),
  });
}

export function useAsksOfJob(job: string) {
  const result = useInfiniteQuery({
    queryKey: ["console", "job", job, "asks"],
    queryFn: ({ pageParam: cursor, signal }) =>
      connection.call<{ asks: wire.AskInJob[]; next: string | null }>("GET", `${jobPath(job)}/asks`, {
        query: { cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  return { ...result, asks: result.data?.pages.flatMap((page) => page.asks) };
}

/** The signed receipt of what people decided. */
export function receiptPath(addressed: string): string {
  return `/receipts/${id(addressed)}`;
}

export function usePolicy() {
  return useQuery({
    queryKey: ["console", "policy"],
    queryFn: ({ signal }) => connection.call<wire.Policy>("GET", "/admin/policy", { signal }),
    staleTime: FRESH_MS,
  });
}

export async function tryPolicy(
  words: wire.PolicyWords,
): Promise<{ trace: { decision: wire.Decision }; words: string[] }> {
  return connection.call("POST", "/admin/policy/test", { body: words });
}

export async function reloadPolicy(): Promise<void> {
  return connection.call("POST", "/admin/policy/reload");
}

export async function decideProposal(proposal: string, verb: "accept" | "dismiss"): Promise<void> {
  return connection.call("POST", `/admin/policy/proposals/${id(proposal)}/${verb}`);
}

export async function revokeRule(rule: string): Promise<void> {
  return connection.call("DELETE", `/admin/policy/rules/${id(rule)}`);
}

export async function revokeGrant(grant: string): Promise<void> {
  return connection.call("DELETE", `/admin/policy/grants/${id(grant)}`);
}

export function useCache() {
  return useQuery({
    queryKey: ["console", "cache"],
    queryFn: async ({ signal }: { signal: Signal }) =>
      (await connection.call<{ decisions: wire.Cached[] }>("GET", "/admin/decisions", { signal })).decisions,
    staleTime: FRESH_MS,
  });
}

export async function forgetDecision(key: string): Promise<void> {
  return connection.call("DELETE", `/admin/decisions/${id(key)}`);
}

export async function forgetDecisions(role: string | undefined): Promise<{ forgotten: number }> {
  return connection.call("DELETE", "/admin/decisions", { query: { role } });
}

/** What a page shows is read anew. */
export async function refreshRelay(...which: readonly string[]): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["console", ...which] });
}

/** Follows a stream while the page is looked at: browsers allow only six connections to one server, for all tabs together. */
export function useStream(
  path: string | undefined,
  hears: { onEvent: (event: string, data: unknown, id: number) => void; isOver?: () => boolean },
): void {
  const latest = useRef(hears);
  latest.current = hears;
  useEffect(() => {
    if (path === undefined) return;
    let stop = new AbortController();
    const listen = (): void => {
      stop.abort();
      if (document.visibilityState !== "visible") return;
      stop = new AbortController();
      void followStream(path, stop, latest);
    };
    document.addEventListener("visibilitychange", listen);
    listen();
    return () => {
      document.removeEventListener("visibilitychange", listen);
      stop.abort();
    };
  }, [path]);
}

async function followStream(
  path: string,
  stop: AbortController,
  latest: { current: Parameters<typeof useStream>[1] },
): Promise<void> {
  const onDisconnect = (): void => {
    if (latest.current.isOver?.()) stop.abort();
  };
  try {
    for await (const { event, data, id: number } of follow(connection, path, { signal: stop.signal, onDisconnect })) {
      latest.current.onEvent(event, JSON.parse(data), Number(number ?? 0));
    }
  } catch {
    // Let go of, or no admin any more: what is on screen is read again when it is looked at.
  }
}
