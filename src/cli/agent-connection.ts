import { Connection } from "@parley/sdk/connection";
import { systemClock } from "../lib/clock.ts";
import { readExactJson } from "../lib/json/exact-json.ts";
import { systemFetch } from "../lib/network/fetch.ts";
import type { Io } from "./command.ts";
import { agentKey } from "./server-client.ts";

const REPLY_MS = 70_000;

/** Returns the connection of an agent's key; in its replies, integers of any size keep their digits. */
export function connectAgent(url: string, { env }: Io): Connection {
  const key = agentKey(url, env);
  const headers = { authorization: key && `Bearer ${key}` };
  const options = { url, fetch: systemFetch, clock: systemClock, parse: readExactJson };
  return new Connection({ ...options, retries: 0, timeoutMs: REPLY_MS }, () => headers);
}
