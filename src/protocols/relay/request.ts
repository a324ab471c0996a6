import type { RouteShorthandOptions } from "fastify";
import type { z } from "zod";
import { parseExactJson } from "../../lib/json/exact-json.ts";
import { Refusal } from "../../refusals.ts";
import type { FastifyRequest } from "../http/door.ts";
import { readJson } from "../http/body.ts";
import { checkFields } from "../http/check-fields.ts";
import { queryNumber as numberIn, queryText, queryWaitMs, waitMsOf } from "../http/query.ts";
import { RELAY_BODY_BYTES } from "./errors.ts";
import { RELAY_ID } from "../../wire/relay/fields.ts";
import { repliesOf } from "../http/json-reply.ts";

const MOST_DEPTH = 32;

/** The description of a route. */
export interface RelayRouteInfo {
  summary: string;
  /** The schema of the JSON object it takes. */
  body?: z.ZodType;
  bodyOptional?: boolean;
  /** It changes something without taking a body. */
  writes?: boolean;
  /** The schema of what it replies with when all is well; none where that is no JSON. */
  reply?: z.ZodType;
  /** Answers for statuses, in words. */
  replies?: Readonly<Record<number, string>>;
}

/** Returns the options of a route; its body is checked by `bodyOf`, after the credentials. */
export function routeOptions(info: RelayRouteInfo): RouteShorthandOptions {
  const { summary, body, bodyOptional, writes, reply, replies = { 200: "As asked" } } = info;
  return {
    ...(body && { bodyLimit: RELAY_BODY_BYTES }),
    config: {
      ownMethods: true,
      ...(body && {
        reads: body,
        takesBody: true,
        maxBodyBytes: RELAY_BODY_BYTES,
        bodyOptional: bodyOptional ?? false,
      }),
      ...(!body && !writes && { alwaysAnswers: true }),
    },
    schema: {
      tags: ["relay"],
      summary,
      response: repliesOf(replies, reply),
    },
  };
}

/**
 * Returns the checked JSON object of a body; members that are null count as absent, and an integer beyond ±(2^53−1)
 * keeps its digits.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object`, `invalid_input`
 */
export function bodyOf<T>(http: FastifyRequest, schema: z.ZodType<T>): T {
  const value = jsonOf(http);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refusal("body_not_object");
  const checked = checkFields(
    schema,
    Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)),
  );
  if ("error" in checked) throw checked.error;
  return checked.value;
}

/** Returns the JSON of a body, whatever it is. @throws {Refusal} `invalid_json`, `too_many_values` */
export function jsonOf(http: FastifyRequest): unknown {
  const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
  if (bytes.length === 0 && http.routeOptions.config.bodyOptional) return {};
  return readJson(bytes, parseExactJson, { maxDepth: MOST_DEPTH });
}

/** Returns a word of the query. @throws {Refusal} `invalid_input` for one that is not allowed */
export function queryChoice<T extends string>(http: FastifyRequest, name: string, among: readonly T[]): T | undefined {
  const text = queryText(http.query, name);
  const choice = among.find((one) => one === text);
  if (choice === text) return choice;
  throw new Refusal("invalid_input", { field: name, constraint: "enum", allowed: among });
}

/** Returns a whole number of the query. @throws {Refusal} `invalid_input` */
export function queryNumber(
  http: FastifyRequest,
  name: string,
  bounds: { min: number; max: number; usual: number },
): number {
  const number = numberIn(http.query, name, bounds);
  if (number !== null) return number ?? bounds.usual;
  throw new Refusal("invalid_input", { field: name, constraint: "range", min: bounds.min, max: bounds.max });
}

/**
 * Returns how long a member of a body says to wait, in milliseconds: `25s`, `500ms`, `1m`, or a bare number of seconds;
 * the most there is by default, and never more.
 *
 * @throws {Refusal} `invalid_input`
 */
export function waitOf(value: unknown, mostMs: number): number {
  if (value === undefined) return mostMs;
  const text = typeof value === "number" ? String(value) : value;
  return within(mostMs, typeof text === "string" ? waitMsOf(text) : null);
}

/** Returns the same of the query's `wait`. @throws {Refusal} `invalid_input` */
export function queryWaitOf(http: FastifyRequest, mostMs: number): number {
  const waitMs = queryWaitMs(http.query);
  return waitMs === undefined ? mostMs : within(mostMs, waitMs);
}

function within(mostMs: number, waitMs: number | null): number {
  if (waitMs === null) throw new Refusal("invalid_input", { field: "wait", constraint: "format" });
  return Math.min(mostMs, waitMs);
}

/** Where the next page begins, as text that means nothing to clients. */
export function cursorText(place: { at: number; id: string }): string {
  return Buffer.from(JSON.stringify([place.at, place.id])).toString("base64url");
}

/** Reads such a text. @throws {Refusal} `invalid_input` */
export function cursorOf(http: FastifyRequest): { at: number; id: string } | undefined {
  const text = queryText(http.query, "cursor");
  if (text === undefined) return undefined;
  try {
    const [at, id] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (Number.isSafeInteger(at) && typeof id === "string" && RELAY_ID.test(id)) return { at: at as number, id };
  } catch {
    // Whatever it is, no page of ours ended there.
  }
  throw new Refusal("invalid_input", { field: "cursor", constraint: "format" });
}
