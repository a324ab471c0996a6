import type { RouteShorthandOptions } from "fastify";
import { z } from "zod";
import { BadJson, parseJsonBody } from "../../lib/json-body.ts";
import { Refusal } from "../../refusals.ts";
import type { FastifyRequest } from "../door.ts";
import { withoutNulls } from "../door-body.ts";
import { queryText } from "../door-query.ts";
import { ASSIGNMENT_BODY_BYTES } from "./errors.ts";

const MOST_DEPTH = 32;
const NUMBER = /^\d{1,15}$/;

/** Returns the options of a route; its body is bytes of any type, which `bodyOf` reads after the credentials. */
export function routeOptions(summary: string, replies: Readonly<Record<number, string>> = {}): RouteShorthandOptions {
  const response = Object.keys(replies).length > 0 ? replies : { 200: "As asked" };
  return {
    bodyLimit: ASSIGNMENT_BODY_BYTES,
    config: { ownMethods: true },
    schema: {
      ...{ tags: ["assignment"], summary },
      response: Object.fromEntries(
        Object.entries(response).map(([status, description]) => [status, z.unknown().meta({ description })]),
      ),
    },
  };
}

/**
 * Returns the JSON object of a body, whatever its type is said to be; members that are null count as absent.
 *
 * @throws {Refusal} `invalid_json`, `body_not_object`
 */
export function bodyOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  return withoutNulls(wholeBodyOf(request)) as Record<string, unknown>;
}

/** Returns the same with every member that was sent. @throws {Refusal} `invalid_json`, `body_not_object` */
export function wholeBodyOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  let value: unknown;
  try {
    value = parseJsonBody(bytes, { maxDepth: MOST_DEPTH });
  } catch (error) {
    if (error instanceof BadJson) throw new Refusal("invalid_json");
    throw error;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refusal("body_not_object");
  return value as Record<string, unknown>;
}

/** Returns whether a request has a body. */
export function hasBody(request: FastifyRequest): boolean {
  return Buffer.isBuffer(request.body) && request.body.length > 0;
}

/** Returns the last event that a reader has; one that never was, where it names something else than a number. */
export function sinceOf(request: FastifyRequest): { since?: number } {
  const header = request.headers["last-event-id"];
  if (typeof header === "string" && header !== "") {
    return { since: NUMBER.test(header) ? Number(header) : Number.MAX_SAFE_INTEGER };
  }
  const after = queryText(request.query, "after");
  if (after === undefined) return {};
  if (!NUMBER.test(after)) throw new Refusal("invalid_input", { field: "after", constraint: "format" });
  return { since: Number(after) };
}
