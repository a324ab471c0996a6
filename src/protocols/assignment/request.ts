import type { RouteShorthandOptions } from "fastify";
import type { z } from "zod";
import { parseJsonBody } from "../../lib/json/json-body.ts";
import { Refusal } from "../../refusals.ts";
import type { FastifyRequest } from "../http/door.ts";
import { readJson, withoutNulls } from "../http/body.ts";
import { repliesOf } from "../http/json-reply.ts";
import { ASSIGNMENT_BODY_BYTES } from "./errors.ts";

const MOST_DEPTH = 32;

/** The description of a route, beside its summary. */
interface RouteInfo {
  /** The schema of the JSON object it takes. */
  body?: z.ZodType;
  /** The schema of what it replies with when all is well; none where that is no JSON. */
  reply?: z.ZodType;
  /** Answers for statuses, in words. */
  replies?: Readonly<Record<number, string>>;
  /** Keys alone are good for it: it is no business of people. */
  keysOnly?: boolean;
}

const BY_KEY = { key: [] };
const BY_SESSION = { session: [] };

/** Returns the options of a route; its body is bytes of any type, which `bodyOf` reads after the credentials. */
export function routeOptions(
  summary: string,
  { body, reply, replies = { 200: "As asked" }, keysOnly = false }: RouteInfo = {},
): RouteShorthandOptions {
  return {
    bodyLimit: ASSIGNMENT_BODY_BYTES,
    config: { ownMethods: true, ...(body && { reads: body }) },
    schema: {
      tags: ["assignment"],
      summary,
      security: keysOnly ? [BY_KEY] : [BY_KEY, BY_SESSION],
      response: repliesOf(replies, reply),
    },
  };
}

/**
 * Returns the JSON object of a body, whatever its declared type; members that are null count as absent.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object`
 */
export function bodyOf(http: FastifyRequest): Readonly<Record<string, unknown>> {
  return withoutNulls(wholeBodyOf(http)) as Record<string, unknown>;
}

/** Returns the same with every member that was sent. @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object` */
export function wholeBodyOf(http: FastifyRequest): Readonly<Record<string, unknown>> {
  const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
  const value = readJson(bytes, parseJsonBody, { maxDepth: MOST_DEPTH });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refusal("body_not_object");
  return value as Record<string, unknown>;
}

/** Returns whether a request has a body. */
export function hasBody(http: FastifyRequest): boolean {
  return Buffer.isBuffer(http.body) && http.body.length > 0;
}
