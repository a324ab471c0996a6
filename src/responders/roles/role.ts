import type { AskType } from "../../core/model/ask-type.ts";
import { z } from "zod";
import { digestOf } from "../../lib/json/canonical-json.ts";
import type { ForeignSchemas, SchemaProblem } from "../../lib/json/foreign-schema.ts";
import { readSchema } from "../../lib/json/schema-rules.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

type Judge = Pick<ForeignSchemas, "validate">;

/** The guardrails of roles. `must_return_json`: no downgrade to text; `truncate_long_snippets`: 4 KiB a tool result. */
const GUARDRAILS = ["must_return_json", "truncate_long_snippets"] as const;
export type Guardrail = (typeof GUARDRAILS)[number];

/** A part that a model plays: its prompt, its tools, and the form of its answer (spec/relay 10). */
export interface Role {
  /** Without its version: `role.clarifier`. */
  id: string;
  version: number;
  purpose: string;
  system: string;
  inputSchema: JsonSchema | null;
  outputSchema: JsonSchema | null;
  /** Null: the role sets no limit; empty: no tools. */
  toolWhitelist: readonly string[] | null;
  limits: { maxTokens: number | null; maxToolCalls: number; timeoutS: number | null };
  guardrails: ReadonlySet<Guardrail>;
  examples: readonly { input: unknown; output: unknown }[];
  /** SHA-256 of the RFC 8785 form of all this: the cache's `role_hash`. */
  hash: string;
}

const MOST_SYSTEM_BYTES = 16_384;
const MOST_SCHEMA_BYTES = 32_768;
const USUAL_TOOL_CALLS = 5;

const DEFAULT_ROLES: Readonly<Record<AskType, string | null>> = {
  CLARIFICATION: "role.clarifier",
  CHOICE: "role.clarifier",
  RESOURCE_FETCH: null,
  POLICY_DECISION: "role.policy_decider",
  APPROVAL: null,
};

const text = (most: number) => z.string().refine((value) => value.trim() !== "" && Buffer.byteLength(value) <= most);
const whole = (least: number, most: number) => z.int().min(least).max(most);
const schema = z.union([z.string(), z.record(z.string(), z.unknown())]);

const RoleFile = z.strictObject({
  id: z.string().regex(/^[a-z0-9._-]{1,100}$/),
  version: whole(1, 1_000_000),
  purpose: text(2000),
  system: text(MOST_SYSTEM_BYTES),
  input_schema: schema.optional(),
  output_schema: schema.optional(),
  tool_whitelist: z.array(text(128)).max(32).optional(),
  limits: z
    .strictObject({
      max_tokens: whole(1, 8192).optional(),
      max_tool_calls: whole(0, 20).default(USUAL_TOOL_CALLS),
      timeout_s: z.number().min(1).max(60).optional(),
    })
    .default({ max_tool_calls: USUAL_TOOL_CALLS }),
  guardrails: z.array(z.enum(GUARDRAILS)).default([]),
  examples: z
    .array(z.strictObject({ input: z.unknown(), output: z.unknown() }))
    .max(5)
    .default([]),
});

/** The rule of each field, as its error message states it. */
const MUST_BE: Readonly<Record<string, string>> = {
  "": "must hold the fields of a role, each as name: value",
  id: "must be made of a-z, 0-9, dots, dashes and underscores",
  version: "must be a whole number from 1",
  purpose: "must be a text",
  system: `must be a text of at most ${MOST_SYSTEM_BYTES} bytes`,
  input_schema: "must be a JSON Schema, as text or as a mapping",
  output_schema: "must be a JSON Schema, as text or as a mapping",
  tool_whitelist: "must be a list of at most 32 tool names",
  "limits.max_tokens": "must be a whole number between 1 and 8192",
  "limits.max_tool_calls": "must be a whole number between 0 and 20",
  "limits.timeout_s": "must be a number between 1 and 60",
  limits: "must hold max_tokens, max_tool_calls or timeout_s",
  guardrails: `must be a list of ${GUARDRAILS.join(", ")}`,
  examples: "must be a list of at most 5, each with input and output",
};

/** Returns the role that an ask has by its type alone, or none (spec/relay 10). */
export function defaultRoleOf(type: AskType): string | null {
  return DEFAULT_ROLES[type];
}

/** Returns a role's name as it is attested and asked for: `role.clarifier@v1`. */
export function roleName(role: Pick<Role, "id" | "version">): string {
  return `${role.id}@v${role.version}`;
}

/** Returns the role that a parsed file holds, or a sentence for each thing that is wrong with it. */
export function checkRole(value: unknown, fileName: string): { role: Role } | { problems: readonly string[] } {
  const read = RoleFile.safeParse(value);
  if (!read.success) return { problems: [...new Set(read.error.issues.map(sentenceOf))] };

  const file = read.data;
  const problems: string[] = [];
  const named = `${roleName(file)}.yaml`;
  if (fileName !== named) problems.push(`the file must be called ${named}, as its id and version say`);
  const { input_schema: input, output_schema: output, limits } = file;
  const role = {
    id: file.id,
    version: file.version,
    purpose: file.purpose,
    system: file.system.trim(),
    inputSchema: input === undefined ? null : readRoleSchema("input_schema", input, problems),
    outputSchema: output === undefined ? null : readRoleSchema("output_schema", output, problems),
    toolWhitelist: file.tool_whitelist ?? null,
    limits: {
      maxTokens: limits.max_tokens ?? null,
      maxToolCalls: limits.max_tool_calls,
      timeoutS: limits.timeout_s ?? null,
    },
    guardrails: [...new Set(file.guardrails)].sort(),
    examples: file.examples.map(({ input, output }) => ({ input: input ?? null, output: output ?? null })),
  };
  if (problems.length > 0) return { problems };
  try {
    return { role: { ...role, guardrails: new Set(role.guardrails), hash: digestOf(role) } };
  } catch {
    return { problems: ["it holds a value that JSON has no form for"] };
  }
}

/** Returns which of a role's examples say something else than its schema. */
export async function exampleProblems(role: Role, schemas: Judge): Promise<readonly string[]> {
  const { outputSchema, examples } = role;
  if (!outputSchema) return [];
  const problems: string[] = [];
  for (const [i, { output }] of examples.entries()) {
    const misfits = await schemas.validate(outputSchema, output);
    problems.push(...misfits.map(({ path, message }) => `examples[${i}].output${path} ${message}`));
  }
  return problems;
}

/**
 * Returns where an ask's `meta.input` is not what the role takes; an ask that gives none is not held to it
 * (`E_ROLE_INPUT`, spec/relay 3).
 */
export async function inputProblems(
  role: Role,
  meta: Readonly<Record<string, unknown>>,
  schemas: Judge,
): Promise<readonly SchemaProblem[]> {
  const input = Object.hasOwn(meta, "input") ? meta["input"] : undefined;
  return role.inputSchema && input !== undefined && input !== null ? schemas.validate(role.inputSchema, input) : [];
}

function readRoleSchema(field: string, written: string | JsonSchema, problems: string[]): JsonSchema | null {
  let schema: unknown = written;
  if (typeof written === "string") {
    try {
      schema = JSON.parse(written);
    } catch {
      problems.push(`${field} is a text that is not JSON`);
      return null;
    }
  }
  const read = readSchema(schema);
  if ("problem" in read) problems.push(`${field}${read.problem.path} ${read.problem.message}`);
  else if (Buffer.byteLength(JSON.stringify(schema)) > MOST_SCHEMA_BYTES) {
    problems.push(`${field} may be at most ${MOST_SCHEMA_BYTES} bytes long`);
  }
  return schema as JsonSchema;
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    return `${[...path, issue.keys[0]].join(".")} is no field of a role`;
  }
  for (let length = path.length; length >= 0; length -= 1) {
    const field = path.slice(0, length).join(".");
    const words = MUST_BE[field];
    if (words !== undefined) return field === "" ? `it ${words}` : `${field} ${words}`;
  }
  return issue.message;
}
