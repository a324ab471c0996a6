import { parentPort } from "node:worker_threads";
import { validate, type OutputUnit, type Schema } from "@cfworker/json-schema";
import { memberPointer } from "./json-pointer.ts";
import { linearPattern, type SchemaProblem } from "./schema-rules.ts";

/** Every pattern of a schema runs in linear time: the interpreter finds this in the place of `RegExp`. */
class PatternInPlace {
  readonly test: (text: string) => boolean;

  constructor(source: string) {
    const pattern = linearPattern(source);
    if (!pattern) throw new SyntaxError("not a pattern");
    this.test = pattern.test;
  }
}
Object.assign(globalThis, { RegExp: PatternInPlace });

const MOST_PROBLEMS = 20;
/** Keywords that only report a problem below them, which is reported there. */
const FRAMES = new Set(["properties", "additionalProperties", "items", "prefixItems", "allOf", "$ref"]);

parentPort?.on("message", ({ schema, value }: { schema: string; value: string }) => {
  parentPort?.postMessage(judge(JSON.parse(schema) as Schema, JSON.parse(value)));
});
// The first message says that everything is loaded.
parentPort?.postMessage([]);

function judge(schema: Schema, value: unknown): SchemaProblem[] {
  try {
    const { valid, errors } = validate(value, schema, "2020-12", undefined, false);
    return valid ? [] : problemsOf(errors);
  } catch {
    return [{ path: "", message: "cannot be compared with the schema" }];
  }
}

function problemsOf(errors: readonly OutputUnit[]): SchemaProblem[] {
  const choices = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf" || keyword === "not");
  const units = errors.filter(
    ({ keyword, keywordLocation }) =>
      !FRAMES.has(keyword) && !choices.some((choice) => keywordLocation.startsWith(`${choice.keywordLocation}/`)),
  );
  const problems = (units.length > 0 ? units : errors).map(problemOf);
  const different = new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem]));
  return [...different.values()].slice(0, MOST_PROBLEMS);
}

function problemOf({ keyword, instanceLocation, error }: OutputUnit): SchemaProblem {
  const path = decodeURIComponent(instanceLocation.slice(1));
  const quoted = /"(.*)"/.exec(error)?.[1] ?? "";
  switch (keyword) {
    case "type":
      return {
        path,
        message: `must be ${/Expected "(.*)"\.$/.exec(error)?.[1]?.split('", "').map(an).join(" or ") ?? ""}`,
      };
    case "required":
      return { path: memberPointer(path, quoted), message: "is required" };
    case "false":
      return { path, message: "is not allowed" };
    case "enum":
    case "const":
      return { path, message: "must be one of the values that are allowed" };
    case "pattern":
      return { path, message: "must match the pattern" };
    case "format":
      return { path, message: `must be a valid ${quoted}` };
    case "anyOf":
    case "oneOf":
    case "not":
      return { path, message: "does not fit what is allowed" };
    default:
      return { path, message: error };
  }
}

function an(type: string): string {
  if (type === "null") return type;
  return `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}
