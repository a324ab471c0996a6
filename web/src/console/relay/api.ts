import { queries, useQuery } from "../../query/query.ts";
import { useInfiniteQuery } from "../../query/pages.ts";
import { useEffect, useRef } from "preact/hooks";
import { follow } from "@parley/sdk/connection";
import { connection } from "../api.ts";
import type * as wire from "./wire.ts";

const FRESH_MS = 5000;
const id = encodeURIComponent;

export type AskFilter = "all" | "open";
export type JobFilter = "all" | "open" | "over";

/**
 * A list of the server's, page after page: each has its rows in `member`, and in `next` or `next_cursor` where the next
 * one begins.
 */
export function usePages<Row, Page extends object = object>(
  queryKey: readonly string[],
  path: string,
  member: string,
  query: Readonly<Record<string, string | undefined>> = {},
) {
  const result = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: cursor, signal }) =>
      connection.call<Readonly<Record<string, readonly Row[]>> & Next & Page>("GET", path, {
        query: { ...query, cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? page.next ?? undefined,
    staleTime: FRESH_MS,
    // A number beside the name of a page and the rows of that page are of the same reading.
    refetchInterval: FRESH_MS,
  });
  const pages = result.data?.pages;
  const first: Page | undefined = pages?.[0];
  return { ...result, first, rows: pages?.flatMap((page) => page[member] ?? []) };
}

interface Next {
  next?: string | null;
  next_cursor?: string;
}

/** Everybody's, and not only one's own. */
const ALL = { view: "admin" } as const;

/** Everybody's asks. */
export function useAskList(which: AskFilter) {
  const query = { ...ALL, status: which === "open" ? "PENDING" : undefined };
  return usePages<wire.AskLine, { open: number; oldest_ms: number }>(
    ["console", "asks", which],
    "/asks",
    "asks",
    query,
  );
}

export function useWholeAsk(ask: string) {
  return useQuery({
    queryKey: ["console", "ask", ask],
    queryFn: ({ signal }) => connection.call<wire.WholeAsk>("GET", `/asks/${id(ask)}`, { query: ALL, signal }),
  });
}

/** The answers that came too late for an ask. */
export function useLate(ask: string) {
  return usePages<wire.LateAnswer>(["console", "ask", ask, "late"], `/asks/${id(ask)}/late`, "late");
}

/** The asks that share an ask's answer. */
export function useSharedBy(ask: string) {
  return usePages<string>(["console", "ask", ask, "shared"], `/asks/${id(ask)}/shared_by`, "shared_by");
}

const STATES: Readonly<Record<Exclude<JobFilter, "all">, readonly wire.JobState[]>> = {
  open: ["QUEUED", "RUNNING", "WAITING_ON_ANSWER"],
  over: ["SUCCEEDED", "FAILED", "CANCELED", "EXPIRED"],
};

export const isOver = (state: wire.JobState): boolean => STATES.over.includes(state);

/** Everybody's jobs. */
export function useJobList(which: JobFilter) {
  const query = { ...ALL, state: which === "all" ? undefined : STATES[which].join() };
  return usePages<wire.JobLine, { open: number }>(["console", "jobs", which], "/jobs", "jobs", query);
}

const jobPath = (job: string): string => `/jobs/${id(job)}`;

export function useJob(job: string) {
  return useQuery({
    queryKey: ["console", "job", job],
    queryFn: ({ signal }) => connection.call<wire.Job>("GET", jobPath(job), { query: ALL, signal }),
  });
}

export function useAsksOfJob(job: string) {
  const path = `${jobPath(job)}/asks`;
  return usePages<wire.AskHistory["asks"][number]>(["console", "job", job, "asks"], path, "asks", ALL);
}

/** The events of a job that are still kept, the newest first. */
export function useHistory(job: string) {
  return usePages<wire.JobEvent>(["console", "history", job], `${jobPath(job)}/history`, "events");
}

/** The address at which a job is followed from after an event. */
export const eventsPath = (job: string, after: number): string => `${jobPath(job)}/events?view=admin&after=${after}`;

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

/** The grants that are in force now. */
export function useGrants() {
  return usePages<wire.Grant>(["console", "policy", "grants"], "/admin/policy/grants", "grants", { live: "true" });
}

/** Rules that wait for a decision. */
export function useProposals() {
  const query = { state: "open" };
  return usePages<wire.Proposal>(["console", "policy", "proposals"], "/admin/policy/proposals", "proposals", query);
}

export async function replayPolicy(body: wire.PolicyReplay): Promise<wire.PolicyReplayed> {
  return connection.call("POST", "/admin/policy/replay", { body });
}

/** The rules of the policy file as they stand in it. */
export function usePolicyFile() {
  return useQuery({
    queryKey: ["console", "policy", "file"],
    queryFn: ({ signal }) => connection.call<wire.PolicyFile>("GET", "/admin/policy/file", { signal }),
    staleTime: FRESH_MS,
  });
}

export async function previewRule(body: wire.RulePreview): Promise<wire.RulePreviewed> {
  return connection.call("POST", "/admin/policy/file/preview", { body });
}

export async function saveRule(body: wire.RuleSave): Promise<wire.RuleSaved> {
  return connection.call("POST", "/admin/policy/file", { body });
}

export async function suggestRules(body: wire.PolicySuggest): Promise<wire.PolicySuggested> {
  return connection.call("POST", "/admin/policy/suggest", { body });
}

export async function tryPolicy(words: wire.PolicyWords): Promise<wire.PolicyVerdict> {
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

/** Decisions that are repeated, page after page, and how many there are of them all. */
export function useCache() {
  const result = useInfiniteQuery({
    queryKey: ["console", "cache"],
    queryFn: ({ pageParam: cursor, signal }) =>
      connection.call<wire.CachePage>("GET", "/admin/decisions", { query: { cursor }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: FRESH_MS,
  });
  const pages = result.data?.pages;
  return { ...result, decisions: pages?.flatMap((page) => page.decisions), count: pages?.[0]?.count ?? 0 };
}

export async function forgetDecision(key: string): Promise<void> {
  return connection.call("DELETE", `/admin/decisions/${id(key)}`);
}

export async function forgetDecisions(role: string | undefined): Promise<{ forgotten: number }> {
  return connection.call("DELETE", "/admin/decisions", { query: { role } });
}

/** Reads the data of a page again. */
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
