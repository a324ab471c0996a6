import type { Sandbox } from "../core/model/sandbox.ts";
import type { Context } from "../context.ts";
import { canonicalExact, sha256Digest } from "../lib/exact-json.ts";
import { sha256Hex } from "../lib/keyring.ts";
import { redact, type Find } from "../lib/secret-scan.ts";
import { redactJson, stringsOf } from "../lib/strings-of.ts";
import { actionFacts } from "./model/policy.ts";
import {
  answerOf,
  choicesOf,
  decisionFrom,
  isPermission,
  promptOf,
  type AgentWish,
  type PermissionDecision,
  type PermissionWish,
  type QuestionAnswer,
  type QuestionWish,
} from "./model/attempt-asks.ts";
import { readOptions } from "../asks/model/choice-options.ts";
import { consentText } from "../requests/model/consent.ts";
import type { RelayAnswer } from "../asks/model/ask.ts";
import { Refusal } from "../refusals.ts";
import { findRelayAsk } from "../asks/store/asks.ts";
import { postAsk, type AskInput } from "../asks/post-ask.ts";
import { waitForAnswer } from "../asks/read.ts";
import { callOf } from "../asks/people.ts";

/** Whose agent asks: one attempt, and the job of the relay that it is. */
export interface AskingAttempt {
  jobId: string;
  /** Without it whoever holds the job at this moment is meant. */
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
  sandbox: Sandbox;
  /** Commands that need nobody's leave, as argument lists. */
  allowCommands: readonly (readonly string[])[];
  /** So long people have. */
  deadlineS: number;
}

const ID_DIGITS = 32;
const RESOURCE_DIGITS = 12;

/**
 * Asks what an agent wants to do or know as an ask of its attempt's job, once for one `ref`: said again, after a restart
 * for instance, it is the same ask. Policy, cache and people are offered it as any other; a permission is an APPROVAL
 * that binds exactly the tool's name and its input, secrets included, which are sealed and shown on our own pages only;
 * in every other text of it they are taken out (spec/assignment 8; spec/security 4).
 *
 * @throws {Refusal} `fenced`, `job_closed`, `job_not_found`: the attempt is over, or somebody else's; `quota_exceeded`;
 *   `ref_taken` for another wish under the same `ref`
 */
export async function askForAttempt(
  ctx: Context,
  who: AskingAttempt,
  ref: string,
  wish: AgentWish,
): Promise<{ askId: string }> {
  const { jobId, lease, principal, attemptId, slug, deadlineS } = who;
  const id = `aa-${sha256Hex(`${attemptId}\n${ref}`).slice(0, ID_DIGITS)}`;
  const asked = isPermission(wish) ? await permissionAsk(ctx, who, wish) : await questionAsk(ctx, who, wish);
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
    bodyHash: sha256Digest(canonicalExact({ ...wish, leadsOutside: undefined })),
    ...asked,
  });
  return { askId: id };
}

type Asked = Pick<AskInput, "type" | "prompt" | "contextHash" | "meta" | "warnings" | "call">;

async function permissionAsk(ctx: Context, who: AskingAttempt, wish: PermissionWish): Promise<Asked> {
  const { agent } = who;
  const { tool, input, action, resource } = wish;
  const kwargs = canonicalExact(input);
  const { safe, finds } = await withoutFinds(ctx, { resource, diff: wish.diff, args: input, title: who.title });
  const shown: PermissionWish = { tool, input, action, resource: safe.resource, ...(safe.diff && { diff: safe.diff }) };
  const inResource = finds.filter(({ path }) => path === "resource");
  return {
    type: "APPROVAL",
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
      ...actionFacts(wish, who),
    },
  };
}

/** What differs in its secrets alone stays different: what is allowed for good is one thing, not all that look alike. */
function markedResource(resource: string, finds: readonly Find[]): string {
  const mark = sha256Hex(resource).slice(0, RESOURCE_DIGITS);
  return redact(
    resource,
    finds.map((find) => ({ ...find, rule: `${find.rule}:${mark}` })),
  );
}

async function questionAsk(ctx: Context, who: AskingAttempt, wish: QuestionWish): Promise<Asked> {
  const { safe, finds } = await withoutFinds(ctx, { wish, title: who.title });
  const { repo, taskId, agent, sandbox } = who;
  const options = readOptions(choicesOf(safe.wish));
  return {
    type: options ? "CHOICE" : "CLARIFICATION",
    prompt: promptOf(safe.wish, titled(who, safe.title)),
    contextHash: sha256Digest(canonicalExact({ repo, taskId, wish })).slice("sha256:".length),
    warnings: finds.map(({ path, rule }) => ({ path, rule })),
    meta: { agent, sandbox, ...(options && { options: options.map(({ label }) => label) }) },
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
 * Waits until a permission that `askForAttempt` asked for is decided, notes that its attempt was told, and returns what
 * that means to the agent; null where the signal or the server's stop comes first: nothing is decided then, and the same
 * may be waited for again.
 *
 * Nothing but a person's approval of exactly what would run, a rule or a standing grant allows anything. A rejection
 * carries the person's name and words, silence is a no, and what an ended attempt asked is `canceled`.
 *
 * @throws {Refusal} `request_not_found`
 */
export async function awaitDecision(
  ctx: Context,
  askId: string,
  signal: AbortSignal,
): Promise<PermissionDecision | null> {
  const answer = await answerTo(ctx, askId, signal);
  const held = answer && (await findRelayAsk(ctx.db, askId));
  const call = held && callOf(ctx, held);
  return answer && decisionFrom(answer, call ? sha256Digest(consentText(call.fn, call.kwargs)) : null);
}

/** The same of a question. @throws {Refusal} `request_not_found` */
export async function awaitAnswer(ctx: Context, askId: string, signal: AbortSignal): Promise<QuestionAnswer | null> {
  const answer = await answerTo(ctx, askId, signal);
  return answer && answerOf(answer);
}

async function answerTo(ctx: Context, askId: string, signal: AbortSignal): Promise<RelayAnswer | null> {
  const found = await findRelayAsk(ctx.db, askId);
  if (!found) throw new Refusal("request_not_found");
  const reader = { principal: found.ask.principal, readsAll: false };
  while (!signal.aborted && !ctx.stopping.aborted) {
    const { answer } = await waitForAnswer(ctx, askId, reader, { waitMs: LOOK_AGAIN_MS, signal });
    if (answer) return answer;
  }
  return null;
}
