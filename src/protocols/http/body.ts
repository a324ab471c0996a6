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
export function parseBody(http: FastifyRequest): void {
  const { takesBody, bodyOptional } = http.routeOptions.config;
  if (!takesBody) {
    http.body = undefined;
    return;
  }
  const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
  if (bytes.length === 0 && bodyOptional) {
    http.body = {};
    return;
  }
  const value = readJson(bytes, parseJsonBody, { maxDepth: MAX_DEPTH });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal("body_not_object", { constraint: "type" });
  }
  http.body = withoutNulls(value);
}

/**
 * Returns what the bytes of a body say, as `parse` reads them.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`
 */
export function readJson(bytes: Uint8Array, parse: typeof parseJsonBody, limits: JsonLimits): unknown {
  const { maxValues = MOST_VALUES } = limits;
  try {
    return parse(bytes, { ...limits, maxValues });
  } catch (error) {
    if (error instanceof TooManyValues) throw new Refusal("too_many_values", { max_values: maxValues });
    if (error instanceof BadJson) throw new Refusal("invalid_json", { constraint: "json" });
    throw error;
  }
}

/**
 * Returns the object without members that are null, at every level and in the objects of lists; an item of a list that
 * is null stays, and so does `__proto__` as an ordinary name.
 */
export function withoutNulls(value: object): object {
  return withoutNullMembers(value) as object;
}

function withoutNullMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutNullMembers);
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNullMembers(member)]));
}
