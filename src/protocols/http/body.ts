import type { FastifyInstance, FastifyRequest } from "fastify";
import { BadJson, type JsonLimits, MOST_VALUES, parseJsonBody, TooManyValues } from "../../lib/json/json-body.ts";
import { Refusal } from "../../refusals.ts";
import { BODY_LIMIT_BYTES } from "./errors.ts";

const MAX_DEPTH = 32;

/** Reads bodies as bytes only; what they mean is found out after the credentials have been checked. */
export function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) => {
    done(null, body);
  });
}

/**
 * Turns the bytes of a route that takes a body into a JSON object without `null` members, which count as absent.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object`
 */
export function parseBody(request: FastifyRequest): void {
  const { takesBody, bodyOptional } = request.routeOptions.config;
  if (!takesBody) {
    request.body = undefined;
    return;
  }
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  if (bytes.length === 0 && bodyOptional) {
    request.body = {};
    return;
  }
  const value = readJson(bytes, parseJsonBody, { maxDepth: MAX_DEPTH });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal("body_not_object", { constraint: "type" });
  }
  request.body = withoutNulls(value);
}

/**
 * Returns what the bytes of a body say, as `parse` reads them.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`
 */
export function readJson(bytes: Uint8Array, parse: typeof parseJsonBody, limits: JsonLimits): unknown {
  try {
    return parse(bytes, { ...limits, maxValues: MOST_VALUES });
  } catch (error) {
    if (error instanceof TooManyValues) throw new Refusal("too_many_values", { max_values: MOST_VALUES });
    if (error instanceof BadJson) throw new Refusal("invalid_json", { constraint: "json" });
    throw error;
  }
}

/** Returns the object without members that are null, at every level; `__proto__` stays an ordinary name. */
export function withoutNulls(value: object): object {
  const stays = (member: unknown) => member !== null && (typeof member !== "object" || Array.isArray(member));
  if (Object.values(value).every(stays)) return value;
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    if (member === null) return [];
    return [[name, typeof member === "object" && !Array.isArray(member) ? withoutNulls(member as object) : member]];
  });
  return Object.fromEntries(kept);
}
