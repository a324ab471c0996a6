import type { z } from "zod";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import type { RepoRules } from "../../tasks/model/rules.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import { Refusal } from "../../refusals.ts";
import { isTaskId, NewTaskBody, TaskReviewBody } from "../../wire/tasks/bodies.ts";
import type { ReviewInput } from "../../tasks/review.ts";
import type { SubmitTaskInput } from "../../tasks/submit.ts";
import { refuseKeyAsName } from "./key-as-name.ts";
import type { DoorContext, FastifyRequest } from "./door.ts";
import { checkFields } from "./check-fields.ts";

type Body = Readonly<Record<string, unknown>>;

const MOST_KEY = 200;

/** Returns the repository of this name, or the default one. @throws {Refusal} `repo_not_found` */
export function repoOf({ ctx }: Pick<DoorContext, "ctx">, name: string | undefined): RepoRules {
  const found = ctx.assignment.repos.find((repo) => (name === undefined ? repo.isDefault : repo.name === name));
  if (!found) throw new Refusal("repo_not_found", name === undefined ? {} : { repo: name });
  return found;
}

/** Returns the id of a task as it was given. @throws {Refusal} `task_not_found` for what none can be called */
export function taskIdOf(id: unknown): string {
  if (typeof id !== "string" || !isTaskId(id)) throw new Refusal("task_not_found");
  return id;
}

function checked<T>(schema: z.ZodType<T>, body: Body): T {
  const found = checkFields(schema, body);
  if ("error" in found) throw found.error;
  return found.value;
}

/**
 * Returns the task that a body describes. A request with an idempotency key may come again.
 *
 * @throws {Refusal} `invalid_input`
 */
export function taskInputOf(
  { ctx }: Pick<DoorContext, "ctx">,
  http: FastifyRequest,
  body: Body,
  of: Pick<SubmitTaskInput, "repo" | "principal" | "by"> & { credential: string },
): SubmitTaskInput {
  const { id, prompt, agent, base, startDependentsOn, dependencies = [] } = checked(NewTaskBody, body);
  const { credential, ...rest } = of;
  if (dependencies.includes(id)) {
    throw refuseFields([{ message: "a task cannot depend on itself", field: "dependencies", constraint: "self" }]);
  }
  const agents = ctx.assignment.agents.map(({ name }) => name);
  if (agent !== undefined && !agents.includes(agent)) {
    throw refuseFields([
      { message: "agent is not configured here", field: "agent", constraint: "enum", allowed: agents },
    ]);
  }
  const key = idempotencyKeyOf(http);
  return {
    ...rest,
    id,
    prompt,
    agent: agent ?? null,
    base: base ?? null,
    startOn: startDependentsOn ?? null,
    dependencies: [...new Set(dependencies)],
    ...(key !== undefined && {
      retry: { keyHash: sha256Hex(credential), key, bodyHash: sha256Hex(canonicalExact(body)) },
    }),
  };
}

function idempotencyKeyOf(http: FastifyRequest): string | undefined {
  const key = http.headers["idempotency-key"];
  if (key === undefined) return undefined;
  refuseKeyAsName(key);
  if (typeof key === "string" && key.length >= 1 && key.length <= MOST_KEY) return key;
  const bounds = { min: 1, max: MOST_KEY };
  const message = `Idempotency-Key must be between 1 and ${MOST_KEY} characters`;
  throw refuseFields([{ message, field: "Idempotency-Key", constraint: "length", ...bounds }]);
}

/** Returns the review that a body describes. @throws {Refusal} `invalid_input` */
export function reviewInputOf(body: Body, of: Pick<ReviewInput, "repo" | "id" | "person" | "name">): ReviewInput {
  const { verdict, attempt, comment, comments = [] } = checked(TaskReviewBody, body);
  const words = comment?.trim() ? comment : null;
  return {
    ...of,
    decision: verdict,
    attempt,
    comment: words,
    comments: comments.map(({ path, line, text }) => ({ path, line, text })),
  };
}
