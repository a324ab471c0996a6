import { Connection, follow } from "@parley/sdk/connection";
import { watchedFetch } from "../api.ts";
import type { AskPage, NewDecision, Wanted, WholeAsk } from "./wire.ts";

/** The inbox under this browser's session. The SDK has its types, and no client for it. */
export const connection = new Connection({ url: location.origin, retries: 1, fetch: watchedFetch }, () => ({}));

const pathOf = (id: string): string => `/people/me/asks/${encodeURIComponent(id)}`;

export async function listAsks(
  state: "open" | "over",
  wanted: Wanted,
  options: { before?: string | undefined; signal?: AbortSignal },
): Promise<AskPage> {
  const { before, signal } = options;
  return connection.call("GET", "/people/me/asks", { query: { state, ...wanted, before }, signal });
}

export async function readAsk(id: string, signal?: AbortSignal): Promise<WholeAsk> {
  return connection.call("GET", pathOf(id), { signal });
}

/** The decision is recorded. Sending the same again changes nothing, so a lost reply costs nothing. */
export async function decide(id: string, decision: NewDecision): Promise<WholeAsk> {
  return connection.call("POST", `${pathOf(id)}/decision`, { body: decision, repeatable: true });
}

/** Yields the id of each ask that has changed, or null for any of them. */
export async function* inboxEvents(options: { signal: AbortSignal }): AsyncGenerator<string | null> {
  for await (const { event, data } of follow(connection, "/people/me/events", options)) {
    if (event === "changed") yield (JSON.parse(data) as { id?: string }).id ?? null;
  }
}
