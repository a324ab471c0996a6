import { ParleyError } from "@parley/sdk/errors";
import { systemClock } from "../lib/clock.ts";
import { openDeadline } from "../lib/deadline.ts";
import { readExactJson } from "../lib/json/exact-json.ts";
import { Redirected, systemFetch } from "../lib/network/fetch.ts";
import type { Io } from "./command.ts";
import { agentKey } from "./server-client.ts";

const REPLY_MS = 70_000;

/** The server has refused, in a sentence for people. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, says: string) {
    super(says);
    this.status = status;
  }
}

/**
 * Makes one request and returns the body of the reply, in which integers of any size keep their digits.
 *
 * @throws {ParleyError} `UNREACHABLE`, `UNAUTHORIZED`
 * @throws {Refused}
 */
export type DoorCall = (method: "GET" | "POST" | "DELETE", path: string, body?: object) => Promise<object>;

/** Returns the way to those doors of a server that the SDK has no client for, with the agent's key of the environment. */
export function openDoors(url: string, io: Io): DoorCall {
  const key = agentKey(url, io.env);
  return async (method, path, body) => {
    using deadline = openDeadline(systemClock, REPLY_MS, io.interrupted);
    let reply: Response;
    let replyBody: object;
    try {
      reply = await systemFetch(`${url}${path}`, {
        method,
        headers: {
          ...(key && { authorization: `Bearer ${key}` }),
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: deadline.signal,
      });
      replyBody = objectIn(await reply.text());
    } catch (cause) {
      if (io.interrupted.aborted || cause instanceof Redirected) throw cause;
      throw new ParleyError("UNREACHABLE", `no server answers at ${url}`, { cause });
    }
    if (reply.ok) return replyBody;
    const { error } = replyBody as { error?: { message?: string } };
    const message = error?.message ?? `The server replied with status ${reply.status}.`;
    if (reply.status === 401) throw new ParleyError("UNAUTHORIZED", message, { status: 401 });
    throw new Refused(reply.status, message);
  };
}

function objectIn(text: string): object {
  try {
    const value = readExactJson(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
