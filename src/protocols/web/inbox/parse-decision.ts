import { canonicalExact, withEveryDigit } from "../../../lib/json/exact-json.ts";
import { parseJsonBody } from "../../../lib/json/json-body.ts";
import { yieldAfterLarge } from "../../../lib/event-loop.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import { Refusal } from "../../../refusals.ts";
import { readJson } from "../../http/body.ts";
import type { FastifyRequest } from "../../http/door.ts";

/** The deepest nesting of a decision. */
export const MAX_DEPTH = 32;

/**
 * Turns the bytes of a decision into its members, of which `null` counts as absent except for `value`. Integers of the
 * arguments keep their digits.
 *
 * @throws {Refusal} `invalid_json`, `too_many_values`, `body_not_object`, `invalid_input`
 */
export async function parseDecision(http: FastifyRequest): Promise<void> {
  if (!http.routeOptions.config.takesBody) {
    http.body = undefined;
    return;
  }
  const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
  const given = readJson(bytes, parseJsonBody, { maxDepth: MAX_DEPTH });
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new Refusal("body_not_object", { constraint: "type" });
  }
  await yieldAfterLarge(bytes);
  const exact = withEveryDigit(bytes, given) as { value?: unknown };
  await yieldAfterLarge(bytes);
  const { value } = given as { value?: unknown };
  if (exact !== given && canonicalExact(value) !== canonicalExact(exact.value)) {
    const message = "value holds an integer that is too large";
    throw refuseFields([{ message, field: "value", constraint: "range" }]);
  }
  const kept = Object.entries(exact).filter(([name, member]) => name !== "value" && member !== null);
  http.body = { ...Object.fromEntries(kept), ...(value !== undefined && { value }) };
}
