import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { replaceFile } from "../../lib/files/durable-files.ts";
import { parseDocument } from "yaml";
import { z } from "zod";
import type { ForeignSchemas } from "../../lib/json/foreign-schema.ts";
import { choiceOptionsOf } from "../../asks/model/choice-options.ts";
import { decisiveAsk } from "../../asks/model/decision-key.ts";
import { type ContextEnvelope } from "../../asks/model/ask.ts";
import type { RoleOnDisk } from "../roles/role-catalogue.ts";
import { inputProblems, roleName, type Role } from "../roles/role.ts";
import { outcomeOf } from "./outcome.ts";
import { buildPrompt } from "./prompt.ts";
import { effectiveSchema, readAnswer } from "./reading.ts";

/** One thing that was tried with a role, without any model. */
export interface Tried {
  name: string;
  /** Why it is not as it was recorded; nothing where it is. */
  problem: string | null;
}

const record = z.record(z.string(), z.unknown());

/** Versions before 0.3.0 recorded the kind of an outcome as `is`. */
const outcome = record.transform(({ is, ...rest }) => (is === undefined ? rest : { kind: is, ...rest }));

/** Test cases of a role: an ask, the prompt made from it, and the expected readings of replies. */
const Golden = z.strictObject({
  cases: z.array(
    z.strictObject({
      name: z.string().min(1),
      ask: z.strictObject({
        type: z.enum(ASK_TYPES),
        prompt: z.string().min(1),
        facts: record.optional(),
        job_snapshot: record.optional(),
        meta: record.default({}),
        tools: z.array(z.string()).default([]),
      }),
      prompt: z.string().optional(),
      replies: z.array(z.strictObject({ says: z.string(), outcome: outcome.optional() })).default([]),
    }),
  ),
});
type GoldenCase = z.infer<typeof Golden>["cases"][number];
type Judge = Pick<ForeignSchemas, "validate">;

/**
 * Returns what became of a role's examples and of its recorded cases: whether its prompts are still those recorded, and
 * its model's replies still come to the same (spec/relay 11). With `isRenewed`, what there is now is
 * recorded instead.
 *
 * The cases of `prompts/role.x@v1.yaml` stand in `prompts/golden/role.x@v1.yaml`; a role may have none.
 */
export async function tryRole(
  { role, file }: RoleOnDisk,
  schemas: Judge,
  { isRenewed = false }: { isRenewed?: boolean } = {},
): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  for (const [i, example] of role.examples.entries()) {
    tried.push({ name: `example ${i + 1}`, problem: await exampleProblem(role, example, schemas) });
  }
  const path = join(dirname(file), "golden", `${roleName(role)}.yaml`);
  const text = await textOf(path);
  if (text === null) return tried;

  const document = parseDocument(text, { schema: "core" });
  const golden = document.errors.length > 0 ? null : Golden.safeParse(document.toJS({ maxAliasCount: 10 }));
  if (!golden?.success) return [...tried, { name: "golden", problem: `${path} does not hold cases` }];
  for (const [i, one] of golden.data.cases.entries()) {
    const now = await runCase(role, one, schemas);
    if (isRenewed) {
      document.setIn(["cases", i, "prompt"], now.prompt);
      for (const [k, outcome] of now.outcomes.entries()) {
        document.setIn(["cases", i, "replies", k, "outcome"], document.createNode(outcome));
      }
    }
    tried.push({ name: one.name, problem: isRenewed ? null : caseProblem(one, now) });
  }
  if (isRenewed) await replaceFile(path, document.toString({ lineWidth: 0 }));
  return tried;
}

interface Run {
  prompt: string;
  outcomes: readonly unknown[];
}

async function runCase(role: Role, { ask: given, replies }: GoldenCase, schemas: Judge): Promise<Run> {
  const envelope: ContextEnvelope = {
    job_snapshot: given.job_snapshot ?? {},
    ...(given.facts && { facts: given.facts }),
    role: roleName(role),
  };
  const { type, prompt, meta, tools } = given;
  const constraints = { allowedTools: tools };
  const ask = decisiveAsk({ type, prompt, meta, envelope, constraints });
  const options = type === "CHOICE" ? choiceOptionsOf(ask) : [];
  const schema = effectiveSchema(ask, role);
  const { system, user } = buildPrompt({
    ask,
    role,
    options,
    toolNames: tools.filter((tool) => role.toolWhitelist?.includes(tool) ?? true),
    rounds: [],
    schema,
  });
  const outcomes: unknown[] = [];
  for (const { says } of replies) {
    const reading = await readAnswer(says, { ask, role, options }, schemas);
    outcomes.push(JSON.parse(JSON.stringify(outcomeOf(reading, says, { role, options }))));
  }
  return { prompt: `${system}\n---\n${user}\n`, outcomes };
}

function caseProblem({ prompt, replies }: GoldenCase, now: Run): string | null {
  if (prompt !== now.prompt) return `the prompt is another one: ${firstDifference(prompt ?? "", now.prompt)}`;
  const changed = replies.findIndex(({ outcome }, i) => !isDeepStrictEqual(outcome, now.outcomes[i]));
  return changed < 0 ? null : `reply ${changed + 1} now comes to ${JSON.stringify(now.outcomes[changed])}`;
}

async function exampleProblem(
  role: Role,
  { input, output }: Role["examples"][number],
  schemas: Judge,
): Promise<string | null> {
  const meta = { input };
  const [misfit] = await inputProblems(role, meta, schemas);
  if (misfit) return `input${misfit.path} ${misfit.message}`;
  const says = JSON.stringify(typeof output === "string" ? { answer_text: output } : { answer_json: output });
  const read = await readAnswer(says, { ask: { type: "CLARIFICATION", meta }, role, options: [] }, schemas);
  const [problem] = read.misfits;
  return problem ? `output${problem.path} ${problem.message}` : null;
}

function firstDifference(before: string, now: string): string {
  const [old, fresh] = [before.split("\n"), now.split("\n")];
  const line = fresh.findIndex((text, i) => text !== old[i]);
  return line < 0 ? `it has ${fresh.length} lines instead of ${old.length}` : `line ${line + 1} is ${fresh[line]}`;
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
