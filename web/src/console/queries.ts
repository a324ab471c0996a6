import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { queries } from "../queries.ts";
import * as api from "./api.ts";
import type { AuditFilter, Human, Person } from "./wire.ts";

/** Everything of the console is read anew when it is looked at again after a moment. */
const FRESH_MS = 5000;

/** A person, and what is written down of them. */
export type Known = Person & { written: Human | undefined };

async function readPeople(signal: AbortSignal): Promise<Known[]> {
  const [people, humans] = await Promise.all([api.listPeople(signal), api.listHumans(signal)]);
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
    queryFn: ({ signal }) => api.listKeys(signal),
    staleTime: FRESH_MS,
  });
}

export function useChannels() {
  return useQuery({
    queryKey: ["console", "channels"],
    queryFn: ({ signal }) => api.listChannels(signal),
    staleTime: FRESH_MS,
  });
}

export function useEndpoints() {
  return useQuery({
    queryKey: ["console", "webhooks"],
    queryFn: ({ signal }) => api.listEndpoints(signal),
    staleTime: FRESH_MS,
  });
}

export function useDeliveries(endpoint: string) {
  const result = useInfiniteQuery({
    queryKey: ["console", "webhooks", endpoint],
    queryFn: ({ pageParam, signal }) => api.listDeliveries(endpoint, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: FRESH_MS,
  });
  return { ...result, deliveries: result.data?.pages.flatMap((page) => page.items) };
}

export function useAudit(filter: AuditFilter) {
  const result = useInfiniteQuery({
    queryKey: ["console", "audit", filter],
    queryFn: ({ pageParam, signal }) => api.readAudit(filter, pageParam, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.has_more ? page.items.at(-1)?.seq : undefined),
    staleTime: FRESH_MS,
  });
  return { ...result, entries: result.data?.pages.flatMap((page) => page.items) };
}

export function useChain() {
  return useQuery({
    queryKey: ["console", "chain"],
    queryFn: ({ signal }) => api.readChain(signal),
    staleTime: FRESH_MS,
  });
}

export function useHealth(full: boolean) {
  return useQuery({
    queryKey: ["console", "health", full],
    queryFn: ({ signal }) => api.readHealth(full, signal),
    staleTime: FRESH_MS,
  });
}

/** What a section shows is read anew. */
export async function refresh(section: "people" | "keys" | "channels" | "webhooks"): Promise<void> {
  await queries.invalidateQueries({ queryKey: ["console", section] });
}
