import type { AskId } from "../core/model/ids.ts";
import type { SandboxKind } from "../core/model/sandbox.ts";
import type { Context } from "../context.ts";
import { canonicalExact, sha256Digest } from "../lib/json/exact-json.ts";
import { sha256Hex } from "../lib/secrets/keyring.ts";
import { redact, type Find } from "../lib/secrets/secret-scan.ts";
import { redactJson, stringsOf } from "../lib/json/strings-of.ts";
import { actionFacts } from "./model/action-facts.ts";
import {
  answerOf,
  choicesOf,
  decisionFrom,
  isPermission,
  promptOf,
  type AgentRequest,
  type PermissionDecision,
  type PermissionRequest,
  type UseReport,
  type QuestionAnswer,
  type AgentQuestion,
} from "./model/attempt-asks.ts";
import { readOptions } from "../asks/model/choice-options.ts";
import { consentText } from "../requests/model/consent.ts";
import type { AskAnswer } from "../asks/model/ask.ts";
import { Refusal } from "../refusals.ts";
import { findAsk } from "../asks/store/asks.ts";
import { postAsk, type AskInput } from "../asks/create/post-ask.ts";
import { withdrawAsk } from "../asks/end/post-answer.ts";
import { reportAskOutcome } from "../asks/outcome/report-ask-outcome.ts";
import { waitForAnswer } from "../asks/read/read-ask.ts";
import { callOf } from "../asks/respond/put-to-people.ts";

/** Whose agent asks: one attempt, and the job of the relay that it is. */
export interface AskingAttempt {
  jobId: string;
  /** Absent: the present holder of the job. */
  lease?: string;
  /** Owner or holder of the job. */
  principal: string;
  attemptId: string;
  repo: string;
  taskId: string;
  slug: string;
  /** The first line of the task's prompt. */
  title?: string;
  agent: string;
  sandbox: SandboxKind;
  /** Commands that need nobody's leave, as argument lists. */
  allowCommands: readonly (readonly string[])[];
  /** So long people have. */
  deadlineS: number;
}

const ID_DIGITS = 32;
const RESOURCE_DIGITS = 12;

/**
 * Makes an agent's request an ask of its attempt's job, once for one `ref`: a repeated call, for instance after a
 * restart, gives the same ask. It goes to policy, cache and people like every ask. A permission is an APPROVAL that
 * binds exactly the tool's name and its input, secrets included. These secrets are sealed, and shown on our own pages
 * only; every other text of the ask is without them (spec/assignment 8; spec/security 4).
 *
 * @throws {Refusal} `fenced`, `job_closed`, `job_not_found`: the attempt is over, or somebody else's; `quota_exceeded`;
 *   `ref_taken` for another request under the same `ref`
 */
export async function askForAttempt(
  ctx: Context,
  who: AskingAttempt,
  ref: string,
  http: AgentRequest,
): Promise<{ askId: AskId }> {
  const { jobId, lease, principal, attemptId, slug, deadlineS } = who;
  const id = askIdOf(attemptId, ref);
  const asked = isPermission(http) ? await permissionAsk(ctx, who, http) : await questionAsk(ctx, who, http);
  await postAsk(ctx, {
    id,
    jobId,
    principal,
    isOwn: true,
    ...(lease !== undefined && { lease }),
    stepId: `task:${slug}`,
    constraints: { timeoutS: deadlineS },
    roleId: null,
    envelope: null,
    mismatch: false,
    bodyHash: sha256Digest(canonicalExact({ ...http, leadsOutside: undefined, reportsEnd: undefined })),
    ...asked,
  });
  return { askId: id };
}

/**
 * Takes back what an attempt asked for under `ref`: people see it no more, and who waits for it gets a denial. One that
 * is decided, or was never made, stays as it is.
 */
export async function withdrawForAttempt(
  ctx: Context,
  { attemptId, principal }: Pick<AskingAttempt, "attemptId" | "principal">,
  ref: string,
): Promise<void> {
  try {
    await withdrawAsk(ctx, askIdOf(attemptId, ref), principal);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "ask_not_found") throw error;
  }
}

function askIdOf(attemptId: string, ref: string): string {
  return `aa-${sha256Hex(`${attemptId}\n${ref}`).slice(0, ID_DIGITS)}`;
}

type Asked = Pick<AskInput, "reports" | "type" | "prompt" | "contextHash" | "meta" | "warnings" | "call">;

async function permissionAsk(ctx: Context, who: AskingAttempt, permission: PermissionRequest): Promise<Asked> {
  const { agent } = who;
  const { tool, input, action, resource } = permission;
  const kwargs = canonicalExact(input);
  const { safe, finds } = await withoutFinds(ctx, { resource, diff: permission.diff, args: input, title: who.title });
  const shown: PermissionRequest = {
    tool,
    input,
    action,
    resource: safe.resource,
    ...(safe.diff && { diff: safe.diff }),
  };
  const inResource = finds.filter(({ path }) => path === "resource");
  return {
    type: "APPROVAL",
    ...(permission.reportsEnd && { reports: "start" as const }),
    prompt: promptOf(shown, titled(who, safe.title)),
    contextHash: sha256Digest(consentText(tool, kwargs)).slice("sha256:".length),
    call: { fn: tool, kwargs },
    warnings: finds.map(({ path, rule }) => ({ path: path === "resource" ? "meta.resource" : path, rule })),
    meta: {
      agent,
      tool,
      action,
      args: safe.args,
      resource: inResource.length === 0 ? resource : markedResource(resource, inResource),
      ...actionFacts(permission, who),
    },
  };
}

/**
 * Replaces the secrets in a resource, and adds a digest of the whole. Two resources that differ only in their secrets
 * stay different, so that a permanent permission covers only one of them.
 */
function markedResource(resource: string, finds: readonly Find[]): string {
  const mark = sha256Hex(resource).slice(0, RESOURCE_DIGITS);
  return redact(
    resource,
    finds.map((find) => ({ ...find, rule: `${find.rule}:${mark}` })),
  );
}

async function questionAsk(ctx: Context, who: AskingAttempt, question: AgentQuestion): Promise<Asked> {
  const { safe, finds } = await withoutFinds(ctx, { wish: question, title: who.title });
  const { repo, taskId, agent, sandbox } = who;
  const options = readOptions(choicesOf(safe.wish));
  const { schema } = safe.wish;
  const isForm = schema !== undefined && ctx.schemas.examine(schema) === null;
  return {
    type: options ? "CHOICE" : "CLARIFICATION",
    prompt: promptOf(safe.wish, titled(who, safe.title)),
    contextHash: sha256Digest(canonicalExact({ repo, taskId, wish: question })).slice("sha256:".length),
    warnings: finds.map(({ path, rule }) => ({ path, rule })),
    meta: {
      agent,
      sandbox,
      ...(options && { options: options.map(({ label }) => label) }),
      ...(isForm && { prompt_overrides: { output_schema: schema } }),
    },
  };
}

function titled({ repo, taskId, agent, sandbox }: AskingAttempt, title: string | undefined) {
  return { repo, taskId, agent, sandbox, ...(title !== undefined && { title }) };
}

async function withoutFinds<T>(
  { secrets }: Pick<Context, "secrets">,
  value: T,
): Promise<{ safe: T; finds: readonly Find[] }> {
  const { finds } = await secrets.find([...stringsOf(value, (name) => secrets.isSuspect(name))]);
  return { safe: redactJson(value, finds), finds };
}

const LOOK_AGAIN_MS = 60_000;

/**
 * Waits until a permission that `askForAttempt` asked for is decided, notes that its attempt received the decision, and
 * returns it for the agent. Null if the signal or the server's stop comes first: nothing is decided then, and the
 * caller may wait again.
 *
 * Only a person's approval of exactly this call, a rule or a permanent permission allows it. A rejection carries the
 * person's name and words. Silence is a rejection, and a request of an ended attempt is `canceled`.
 *
 * @throws {Refusal} `ask_not_found`
 */
export async function awaitDecision(
  ctx: Context,
  askId: AskId,
  signal: AbortSignal,
): Promise<PermissionDecision | null> {
  for (;;) {
    const answer = await answerTo(ctx, askId, signal);
    const held = answer && (await findAsk(ctx.db, askId));
    const call = held && callOf(ctx, held);
    const decision = answer && decisionFrom(answer, call ? sha256Digest(consentText(call.fn, call.kwargs)) : null);
    if (!decision?.allow || !held?.ask.reports) return decision;
    const started = await startAllowed(ctx, askId, decision);
    // Its agent was frozen since the answer was read, which is held back from now on.
    if (started) return started;
  }
}

const NOT_AGAIN = "it was allowed, and may have been run already or came too late; ask again";

/**
 * The agent may run the call from now on; one that has ended without it, or may have run, is not allowed again. Null
 * while its agent is frozen.
 */
async function startAllowed(
  ctx: Context,
  askId: AskId,
  decision: PermissionDecision,
): Promise<PermissionDecision | null> {
  try {
    await reportAskOutcome(ctx, askId, null, { state: "started" });
    return decision;
  } catch (error) {
    if (error instanceof Refusal && error.code === "frozen") return null;
    if (!(error instanceof Refusal) || error.code !== "outcome_known") throw error;
    return { allow: false, why: NOT_AGAIN };
  }
}

/**
 * Stores how a permission that an attempt asked for under `ref` was used. One that nobody allowed, or about which
 * something else was said before, stays as it is.
 */
export async function reportForAttempt(
  ctx: Context,
  { attemptId }: Pick<AskingAttempt, "attemptId">,
  ref: string,
  report: UseReport,
): Promise<void> {
  try {
    await reportAskOutcome(ctx, askIdOf(attemptId, ref), null, report);
  } catch (error) {
    if (!(error instanceof Refusal) || !UNUSED.has(error.code)) throw error;
  }
}

const UNUSED: ReadonlySet<string> = new Set(["ask_not_found", "not_approved", "outcome_known"]);

/** The same of a question. @throws {Refusal} `ask_not_found` */
export async function awaitAnswer(ctx: Context, askId: AskId, signal: AbortSignal): Promise<QuestionAnswer | null> {
  const answer = await answerTo(ctx, askId, signal);
  if (!answer) return null;
  const asked = await findAsk(ctx.db, askId);
  return answerOf(answer, asked?.ask.meta["prompt_overrides"] !== undefined);
}

async function answerTo(ctx: Context, askId: AskId, signal: AbortSignal): Promise<AskAnswer | null> {
  const found = await findAsk(ctx.db, askId);
  if (!found) throw new Refusal("ask_not_found");
  const reader = { principal: found.ask.principal, readsAll: false };
  while (!signal.aborted && !ctx.stopping.aborted) {
    const { answer } = await waitForAnswer(ctx, askId, reader, { waitMs: LOOK_AGAIN_MS, signal });
    if (answer) return answer;
  }
  return null;
}
