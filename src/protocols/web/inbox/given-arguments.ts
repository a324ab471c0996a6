import { refuseFields } from "../../../core/model/field-problem.ts";
import { yieldAfterLarge } from "../../../lib/event-loop.ts";
import { canonicalExact, parseExactJson } from "../../../lib/json/exact-json.ts";
import { Refusal } from "../../../refusals.ts";
import { readJson } from "../../http/body.ts";

import { MAX_DEPTH } from "./parse-decision.ts";

/** Returns edited arguments of a call as canonical JSON. @throws {Refusal} `invalid_input`, `too_many_values` */
export async function canonicalArguments(kwargs: unknown): Promise<string> {
  const value = argumentsOf(kwargs);
  if (typeof kwargs === "string") await yieldAfterLarge(kwargs);
  const text = canonicalExact(value);
  await yieldAfterLarge(text);
  return text;
}

function argumentsOf(kwargs: unknown): unknown {
  const notAnObject = () =>
    refuseFields([{ message: "kwargs must be a JSON object", field: "kwargs", constraint: "type" }]);
  let value = kwargs;
  try {
    if (typeof kwargs === "string") value = readJson(Buffer.from(kwargs), parseExactJson, { maxDepth: MAX_DEPTH });
  } catch (error) {
    throw error instanceof Refusal && error.code === "too_many_values" ? error : notAnObject();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw notAnObject();
  return value;
}
