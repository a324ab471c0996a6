import type { JsonObject } from "../../lib/json/json-body.ts";
import type { RouteShorthandOptions } from "fastify";
import type { z } from "zod";
import { isJsonObject, parseExactJson } from "../../lib/json/exact-json.ts";
import { Refusal } from "../../refusals.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import type { KnownChannels } from "./addressees.ts";
import { readJson } from "../http/body.ts";
import { queryNumber as numberIn } from "../http/query.ts";
import { A2H_BODY_BYTES, type Noun } from "./errors.ts";
import { complain, refuse, type Problem } from "./fields.ts";
import { repliesOf } from "../http/json-reply.ts";

const MOST_DEPTH = 64;
const JSON_TYPE = "application/json; charset=utf-8";

/** One of the three places at which the protocol is served. */
export interface Mount {
  app: Door;
  door: DoorContext;
  /** Such as `/humanlayer/v1`; empty at the root. */
  prefix: string;
  /** Serves everything, not the families of the draft alone. */
  full: boolean;
  /** Its routes stand in the reference. */
  documented: boolean;
  /** The channels that the operator wrote down. */
  known: KnownChannels;
}

/** The description of a route, for its errors and for the reference. */
export interface A2hRouteInfo {
  noun: Noun;
  summary: string;
  /** The schema of the JSON object it takes, for the reference. */
  body?: z.ZodType;
  /** Its longest body in bytes; left out, that of the other routes. */
  bodyBytes?: number;
  /** A body is welcome but need not be there. */
  bodyOptional?: boolean;
  /** It changes something without taking a body. */
  writes?: boolean;
  /** The schema of what it replies with when all is well. */
  reply?: z.ZodType;
  /** Answers for statuses, in words. */
  replies?: Readonly<Record<number, string>>;
}

/** Returns the options of a route. Reads are never limited, and go on while the server drains. */
export function routeOptions(
  { documented }: Mount,
  { noun, summary, body, bodyBytes = A2H_BODY_BYTES, bodyOptional, writes, reply, ...rest }: A2hRouteInfo,
): RouteShorthandOptions {
  const { replies = { 200: "As asked" } } = rest;
  return {
    ...(body && { bodyLimit: bodyBytes }),
    config: {
      noun,
      ownMethods: true,
      ...(body && {
        reads: body,
        takesBody: true,
        maxBodyBytes: bodyBytes,
        bodyOptional: bodyOptional ?? false,
      }),
      ...(body === undefined && !writes && { alwaysAnswers: true }),
    },
    schema: {
      tags: ["a2h"],
      summary,
      hide: !documented,
      response: repliesOf(replies, reply),
    },
  };
}

/**
 * Returns the JSON object of a body, its integers exact. Call it after the credentials have been looked at.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object`
 */
export function bodyOf(http: FastifyRequest, { maxValues }: { maxValues?: number } = {}): JsonObject {
  const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
  if (bytes.length === 0 && http.routeOptions.config.bodyOptional) return {};
  const value = readJson(bytes, parseExactJson, {
    maxDepth: MOST_DEPTH,
    ...(maxValues !== undefined && { maxValues }),
  });
  if (!isJsonObject(value)) throw new Refusal("body_not_object");
  return value;
}

/** Sends a body that is JSON text already. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.type(JSON_TYPE).send(text);
}

/** Returns a whole number of the query, or the usual one where it is missing. @throws {Refusal} `invalid_input` */
export function queryNumber<Usual extends number | undefined>(
  http: FastifyRequest,
  name: string,
  bounds: { min: number; max: number; usual: Usual },
): number | Usual {
  const number = numberIn(http.query, name, bounds);
  if (number !== null) return number ?? bounds.usual;
  throw badQuery(name, `must be a whole number between ${bounds.min} and ${bounds.max}`);
}

/** Returns the refusal of a field of the query. */
export function badQuery(name: string, phrase: string): Refusal {
  const problems: Problem[] = [];
  complain(problems, ["query", name], "pattern", phrase);
  return refuse(problems);
}
