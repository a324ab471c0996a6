import type { AuditFilter, EnrolledHuman, Person } from "@parley/sdk/admin";
import { queries, useQuery } from "../query/query.ts";
import { useInfiniteQuery } from "../query/pages.ts";
import { admin } from "./api.ts";

/** Everything of the console is read anew when it is looked at again after a moment. */
const FRESH_MS = 5000;
const PAGE = 50;

/** A person, and what is written down of them. */
export type Known = Person & { written: EnrolledHuman | undefined };

async function readPeople(signal: AbortSignal): Promise<Known[]> {
  const [people, humans] = await Promise.all([admin.people({ signal }), admin.humans({ signal })]);
  const written = new Map(humans.map((human) => [human.id, human]));
  return people.map((person) => ({ ...person, written: written.get(person.id) }));
}

export function usePeople() {
  return useQuery({
    queryKey: ["console", "people"],
    queryFn: ({ signal }) => readPeople(signal),
    staleTime: FRESH_MS,
  });
}

/** Returns what to call a person, where they are known. */
export function useNames(): (id: string) => string | undefined {
  const { data } = usePeople();
  return (id) => data?.find((one) => one.id === id)?.name;
}

export function useKeyList() {
  return useQuery({
    queryKey: ["console", "keys"],
    queryFn: ({ signal }) => admin.keys({ signal }),
    staleTime: FRESH_MS,
  });
}

export function useAgents() {
  return useQuery({
    queryKey: ["console", "agents"],
    queryFn: ({ signal }) => admin.agents({ signal }),
    staleTime: FRESH_MS,
  });
}

export function useChannels() {
  return useQuery({
    queryKey: ["console", "channels"],
    queryFn: ({ signal }) => admin.channels({ signal }),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
}

export function useEndpoints() {
  return useQuery({
    queryKey: ["console", "webhooks"],
    queryFn: ({ signal }) => admin.webhooks({ signal }),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
}

export function useDeliveries(endpoint: string) {
  const result = useInfiniteQuery({
    queryKey: ["console", "webhooks", endpoint],
    queryFn: ({ pageParam, signal }) => admin.webhookDeliveries(endpoint, { limit: PAGE, cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: FRESH_MS,
  });
  return { ...result, deliveries: result.data?.pages.flatMap((page) => page.items) };
}

export function useAudit(filter: AuditFilter) {
  const result = useInfiniteQuery({
    queryKey: ["console", "audit", filter],
    queryFn: ({ pageParam, signal }) => admin.audit({ ...filter, limit: PAGE, before: pageParam, signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.has_more ? page.items.at(-1)?.seq : undefined),
    staleTime: FRESH_MS,
  });
  return { ...result, entries: result.data?.pages.flatMap((page) => page.items) };
}

export function useChain() {
  return useQuery({
    queryKey: ["console", "chain"],
    queryFn: ({ signal }) => admin.auditChain({ signal }),
    staleTime: FRESH_MS,
  });
}

export function useHealth(full: boolean) {
  return useQuery({
    queryKey: ["console", "health", full],
    queryFn: ({ signal }) => admin.health({ full, signal }),
    staleTime: FRESH_MS,
  });
}

/** Reads the data of a section again. */
export async function refresh(section: "people" | "keys" | "channels" | "webhooks"): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["console", section] });
}

/** Reads everything that the console shows again. */
export async function refreshAll(): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["console"] });
}
