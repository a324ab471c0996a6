import type { FastifyRequest } from "fastify";
import { digestOf } from "../../lib/json/canonical-json.ts";
import { refuseKeyAsName } from "../http/key-as-name.ts";
import { refuseFields, textProblem } from "../../core/model/field-problem.ts";

const KEY_MAX = 255;

/**
 * Returns the idempotency key of a request with the digest of its content; undefined where the request has no key.
 *
 * @throws {Refusal} `invalid_input` for a key that is too long, or carriers that differ; `key_required` for a credential
 */
export function idempotencyOf(
  http: FastifyRequest,
  inBody: string | undefined,
  normalized: object,
): { key: string; bodyHash: string } | undefined {
  const field = "idempotency_key";
  const given = [inBody, http.headers["x-idempotency-key"], http.headers["idempotency-key"]].filter(
    (key): key is string => typeof key === "string" && key !== "",
  );
  refuseKeyAsName(...given);
  const [key, ...others] = given;
  if (key === undefined) return undefined;
  if (others.some((other) => other !== key)) {
    throw refuseFields([
      { message: "the idempotency key is given in two ways that differ", field, constraint: "conflict" },
    ]);
  }
  const problem = textProblem(field, key, 1, KEY_MAX);
  if (problem) throw refuseFields([problem]);
  return { key, bodyHash: digestOf(normalized) };
}
