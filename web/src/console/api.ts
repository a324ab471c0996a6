import { Connection } from "@parley/sdk/connection";
import { watchedFetch } from "../api.ts";
import type * as wire from "./wire.ts";

/** Administration under this browser's session. The SDK has its types, and no client for it. */
export const connection = new Connection({ url: location.origin, retries: 1, fetch: watchedFetch }, () => ({}));

/** Where humans, agents' webhooks and the record stand. */
const A2H = "/a2h/v1alpha1";
/** Of what is read to its end, so many at once. */
const LONGEST_PAGE = 200;
/** Beyond every number the record will have. */
const NEWEST = 999_999_999_999_999;
const PAGE = 50;

type Signal = AbortSignal | undefined;
const id = encodeURIComponent;

export async function listPeople(signal?: Signal): Promise<wire.Person[]> {
  return (await connection.call<wire.PersonList>("GET", "/admin/people", { signal })).people;
}

/** Returns everybody as they are written down, page after page. */
export async function listHumans(signal?: Signal): Promise<wire.Human[]> {
  const all: wire.Human[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { view: "admin", limit: LONGEST_PAGE, cursor };
    const page = await connection.call<{ humans: wire.Human[]; nextCursor?: string }>("GET", `${A2H}/humans`, {
      query,
      signal,
    });
    all.push(...page.humans);
    if (page.nextCursor === undefined) return all;
    cursor = page.nextCursor;
  }
}

export async function addHuman(wish: wire.HumanWish): Promise<wire.Human> {
  return connection.call("POST", `${A2H}/humans`, { body: wish });
}

export async function changeHuman(human: string, wish: wire.HumanWish): Promise<wire.Human> {
  return connection.call("PUT", `${A2H}/humans/${id(human)}`, { body: wish });
}

export async function removeHuman(human: string): Promise<void> {
  return connection.call("DELETE", `${A2H}/humans/${id(human)}`);
}

export async function changeRole(person: string, role: wire.Person["role"]): Promise<void> {
  return connection.call("PATCH", `/admin/people/${id(person)}`, { body: { role } });
}

export async function createSignInLink(person: string): Promise<wire.SignInLink> {
  return connection.call("POST", `/admin/people/${id(person)}/sign_in_link`);
}

export async function endSessions(person: string): Promise<void> {
  return connection.call("DELETE", `/admin/people/${id(person)}/sessions`);
}

export async function listKeys(signal?: Signal): Promise<wire.Key[]> {
  return (await connection.call<wire.KeyList>("GET", "/admin/keys", { signal })).keys;
}

export async function createKey(wish: wire.KeyWish): Promise<wire.CreatedKey> {
  return connection.call("POST", "/admin/keys", { body: wish });
}

export async function revokeKey(key: string): Promise<wire.Key> {
  return connection.call("DELETE", `/admin/keys/${id(key)}`);
}

export async function listChannels(signal?: Signal): Promise<wire.ChannelState[]> {
  return (await connection.call<wire.ChannelReport>("GET", "/admin/channels", { signal })).channels;
}

export async function startChannelTest(channel: string, person: string): Promise<wire.ChannelTest> {
  return connection.call("POST", "/admin/channel_tests", { body: { channel, person } });
}

export async function readChannelTest(test: string, signal?: Signal): Promise<wire.ChannelTest> {
  return connection.call("GET", `/admin/channel_tests/${id(test)}`, { signal });
}

const endpointPath = (endpoint: string): string => `${A2H}/webhook_endpoints/${id(endpoint)}`;

/** Returns every endpoint, page after page. */
export async function listEndpoints(signal?: Signal): Promise<wire.Endpoint[]> {
  const all: wire.Endpoint[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { limit: LONGEST_PAGE, cursor };
    const page = await connection.call<{ items: wire.Endpoint[]; next_cursor?: string }>(
      "GET",
      `${A2H}/webhook_endpoints`,
      { query, signal },
    );
    all.push(...page.items);
    if (page.next_cursor === undefined) return all;
    cursor = page.next_cursor;
  }
}

export async function enableEndpoint(endpoint: string, enabled: boolean): Promise<wire.Endpoint> {
  return connection.call("PATCH", endpointPath(endpoint), { body: { enabled } });
}

export async function testEndpoint(endpoint: string): Promise<{ id: string }> {
  return connection.call("POST", `${endpointPath(endpoint)}/test`, { body: {} });
}

export async function listDeliveries(endpoint: string, cursor?: string, signal?: Signal): Promise<wire.DeliveryPage> {
  return connection.call("GET", `${endpointPath(endpoint)}/deliveries`, { query: { limit: PAGE, cursor }, signal });
}

export async function retryDelivery(endpoint: string, delivery: string): Promise<void> {
  return connection.call("POST", `${endpointPath(endpoint)}/deliveries/${id(delivery)}/retry`);
}

/** Returns entries of the record before one of them, the newest first. */
export async function readAudit(
  filter: wire.AuditFilter,
  before: number | undefined,
  signal?: Signal,
): Promise<wire.AuditPage> {
  const query = { ...filter, before_seq: before ?? NEWEST, limit: PAGE };
  return connection.call("GET", `${A2H}/audit`, { query, signal });
}

/** However long the record is, it is looked at as a whole. */
const LONG_MS = 300_000;

export async function readChain(signal?: Signal): Promise<wire.Chain> {
  return connection.call("GET", "/admin/audit/chain", { signal, timeoutMs: LONG_MS });
}

export async function readHealth(full: boolean, signal?: Signal): Promise<wire.Verdict> {
  return connection.call("GET", "/admin/health", { query: { full: String(full) }, signal, timeoutMs: LONG_MS });
}
