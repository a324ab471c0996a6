import type { RouteShorthandOptions } from "fastify";
import { z } from "zod";
import { parseJsonBody } from "../../lib/json-body.ts";
import { Refusal } from "../../refusals.ts";
import type { FastifyRequest } from "../http/door.ts";
import { readJson, withoutNulls } from "../http/body.ts";
import { ASSIGNMENT_BODY_BYTES } from "./errors.ts";

const MOST_DEPTH = 32;

/** Returns the options of a route; its body is bytes of any type, which `bodyOf` reads after the credentials. */
export function routeOptions(
  summary: string,
  replies: Readonly<Record<number, string>> = {},
  reads?: z.ZodType,
): RouteShorthandOptions {
  const response = Object.keys(replies).length > 0 ? replies : { 200: "As asked" };
  return {
    bodyLimit: ASSIGNMENT_BODY_BYTES,
    config: { ownMethods: true, ...(reads && { reads }) },
    schema: {
      tags: ["assignment"],
      summary,
      response: Object.fromEntries(
        Object.entries(response).map(([status, description]) => [status, z.unknown().meta({ description })]),
      ),
    },
  };
}

/**
 * Returns the JSON object of a body, whatever its type is said to be; members that are null count as absent.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object`
 */
export function bodyOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  return withoutNulls(wholeBodyOf(request)) as Record<string, unknown>;
}

/** Returns the same with every member that was sent. @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object` */
export function wholeBodyOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const value = readJson(bytes, parseJsonBody, { maxDepth: MOST_DEPTH });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refusal("body_not_object");
  return value as Record<string, unknown>;
}

/** Returns whether a request has a body. */
export function hasBody(request: FastifyRequest): boolean {
  return Buffer.isBuffer(request.body) && request.body.length > 0;
}
