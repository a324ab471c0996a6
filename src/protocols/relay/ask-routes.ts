import { ASK_TYPES, type AskType } from "../../core/model/ask-type.ts";
import { z } from "zod";
import type { Context } from "../../context.ts";
import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import type { Find } from "../../lib/secrets/secret-scan.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { readTraceParent } from "../../lib/tracing/traceparent.ts";
import { redactJson, stringsOf } from "../../lib/json/strings-of.ts";
import { envelopeHash } from "../../asks/model/decision-key.ts";
import type { AskConstraints, AskReports, ContextEnvelope, Ask } from "../../asks/model/ask.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { Refusal } from "../../refusals.ts";
import { renewByPoll } from "../../asks/jobs/hold-job.ts";
import { postAsk, type AskInput } from "../../asks/create/post-ask.ts";
import { withdrawAsk } from "../../asks/end/post-answer.ts";
import { listAnswerable, listHistory, readAsk, waitForAnswer, type Reader } from "../../asks/read/read-ask.ts";
import { readAskOutcome } from "../../asks/outcome/report-ask-outcome.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import { held } from "../http/held.ts";
import { administrator } from "../http/principals.ts";
import { checkFields } from "../http/check-fields.ts";
import { constraintsOf, newAskBody, relayProblem, type NewAskBody } from "../../wire/relay/new-ask.ts";
import type { RelayCaller } from "./caller.ts";
import { askPage, wholeAsk, type ShowRequest } from "./admin-view.ts";
import { ADMIN, askIdOf, enter, isAdminView, jobIdOf } from "./job-requests.ts";
import { WireAskLinePage, WireWholeAsk } from "../../wire/relay/admin-view.ts";
import { withAliases } from "../../wire/aliases.ts";
import { WireAnswer, WireAsk, WireAskHistory, WireAskPage } from "../../wire/relay/ask.ts";
import { answerWire, askOutcomeWire, askWire } from "./print.ts";
import { bodyOf, cursorOf, cursorText, queryChoice, queryNumber, routeOptions, queryWaitOf } from "./request.ts";

type Of = { Params: { id: string } };

const ASKERS = ["executor", "agent"] as const;
const READERS = ["executor", "agent", "assign", "admin"] as const;
const PAGE = { min: 1, max: 100, usual: 100 };
/** Members that are unknown here are part of what a replayed request is compared with. */
const AnyObject = z.record(z.string(), z.unknown());

/** Asking, and waiting for answers (spec/relay 3 and 5). */
export function askRoutes(app: Door, door: DoorContext, show: ShowRequest): void {
  const { ctx } = door;
  const NewAskBody = newAskBody(ctx.addressed.groups.keys());

  app.post(
    "/asks",
    routeOptions({ summary: "Ask", body: NewAskBody, reply: WireAsk, replies: { 202: "The ask, pending" } }),
    async (http, reply) => takeAsk(door, http, reply, NewAskBody),
  );

  app.get(
    "/asks",
    routeOptions({
      summary: "What may be answered",
      reply: z.union([WireAskPage, WireAskLinePage]),
      replies: { 200: "Pending asks, the one that ends first first; for admins everybody's, the newest first" },
    }),
    async (http) => (isAdminView(http) ? askPage(door, http) : answerable(door, http)),
  );

  app.get<Of>(
    "/asks/:id",
    routeOptions({ summary: "An ask, and what was done with it", reply: z.union([WireWholeAsk, WireAsk]) }),
    async (http) => {
      if (isAdminView(http)) return wholeAsk(door, http, show);
      const caller = await enter(door, http, READERS);
      const held = await readAsk(ctx, askIdOf(http), readerOf(caller));
      const { ask, warnings } = held;
      const outcome = await readAskOutcome(ctx, held);
      return {
        ...askWire(ask, warnings),
        stages: [...ask.stages],
        ...(outcome && { outcome: askOutcomeWire(outcome) }),
      } satisfies WireAsk;
    },
  );

  app.get<Of>(
    "/asks/:id/answer",
    routeOptions({
      summary: "Wait for the answer",
      reply: WireAnswer,
      replies: { 200: "The answer", 204: "None yet" },
    }),
    async (http, reply) => awaitAnswer(door, http, reply),
  );

  app.delete<Of>(
    "/asks/:id",
    routeOptions({ summary: "Withdraw an ask", writes: true, reply: WireAsk }),
    async (http) => {
      const caller = await enter(door, http, ASKERS);
      const id = askIdOf(http);
      await withdrawAsk(ctx, id, caller.principal);
      const { ask, warnings } = await readAsk(ctx, id, readerOf(caller));
      return askWire(ask, warnings);
    },
  );

  app.get<Of>(
    "/jobs/:id/asks",
    routeOptions({ summary: "What was asked in a job, and how it was answered", reply: WireAskHistory }),
    async (http) => historyOf(door, http),
  );
}

/** Returns what was asked in a job, and how it was answered. */
async function historyOf(door: DoorContext, http: FastifyRequest): Promise<WireAskHistory> {
  const reader = isAdminView(http) ? await adminReader(door, http) : readerOf(await enter(door, http, READERS));
  const id = jobIdOf(http);
  const after = cursorOf(http);
  const { asks, next } = await listHistory(door.ctx, id, reader, {
    limit: queryNumber(http, "limit", PAGE),
    after,
  });
  return {
    ...withAliases<Pick<WireAskHistory, "job_id">>({ job_id: id }),
    asks: asks.map(({ ask, answer }) => ({ ask: askWire(ask), answer: answer && answerWire(answer) })),
    ...(next && { next_cursor: cursorText(next) }),
  };
}

/** Takes an ask in, and replies with where its answer will be. */
async function takeAsk(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
  schema: z.ZodType<NewAskBody>,
): Promise<FastifyReply> {
  const { principal } = await enter(door, http, ASKERS);
  const body = bodyOf(http, AnyObject);
  await yieldAfterLarge(http.body as Buffer);
  const fields = checkedAsk(body, schema);
  await yieldAfterLarge(http.body as Buffer);
  const input = await askInputOf(door, body, fields);
  const { "parley-lease": lease, traceparent } = http.headers;
  const { held, replayed } = await postAsk(door.ctx, {
    ...input,
    principal,
    ...(typeof lease === "string" && lease !== "" && { lease }),
    ...(typeof traceparent === "string" && readTraceParent(traceparent) !== null && { traceparent }),
  });
  const { id } = held.ask;
  if (replayed) reply.header("idempotency-replayed", "true");
  return reply.code(202).header("location", `/asks/${id}/answer`).send(askWire(held.ask, held.warnings));
}

/** Returns a page of what the caller may answer, the ask that ends first first. */
async function answerable(door: DoorContext, http: FastifyRequest): Promise<WireAskPage> {
  const { principal, person } = await enter(door, http, ["answer", "admin"]);
  queryChoice(http, "status", ["PENDING"]);
  const type = queryChoice(http, "ask_type", ASK_TYPES);
  const after = cursorOf(http);
  const { asks, next } = await listAnswerable(
    door.ctx,
    { person, principal },
    {
      limit: queryNumber(http, "limit", PAGE),
      after,
      ...(type !== undefined && { type }),
    },
  );
  const page: WireAskPage = { asks: asks.map((ask) => askWire(ask)), ...(next && { next_cursor: cursorText(next) }) };
  return page;
}

/** A new ask whose fields are right. */
interface AskFields {
  id: string | undefined;
  jobId: string;
  stepId: string;
  type: AskType;
  prompt: string;
  contextHash: string | undefined;
  envelope: ContextEnvelope | null;
  constraints: AskConstraints;
  roleId: string | null;
  reports: AskReports | undefined;
  meta: JsonObject;
}

/** Returns the fields of a new ask. @throws {Refusal} `invalid_input`, with every problem in the order of the fields */
function checkedAsk(body: unknown, schema: z.ZodType<NewAskBody>): AskFields {
  const checked = checkFields(schema, body, relayProblem);
  if ("error" in checked) throw checked.error;
  const { ask_id: id, job_id: jobId, step_id: stepId, ask_type: type, prompt, meta = {}, ...given } = checked.value;
  return {
    id,
    jobId,
    stepId,
    type,
    prompt: prompt.trim(),
    contextHash: given.context_hash,
    envelope: given.context_envelope ?? null,
    constraints: constraintsOf(given.constraints),
    roleId: given.role_id ?? null,
    reports: given.reports,
    meta: Object.fromEntries(Object.entries(meta).filter(([, member]) => member !== null)),
  };
}

/** Replies with the answer to an ask as soon as there is one, or without one when the wait is over. */
async function awaitAnswer(door: DoorContext, http: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { ctx, config } = door;
  const caller = await enter(door, http, READERS);
  const id = askIdOf(http);
  const waitMs = queryWaitOf(http, config.waitCapS * 1000);
  const reader = readerOf(caller);
  using _place = waitMs > 0 ? door.limiter.enter("long-polls", caller.principal, config.limits.longPolls) : undefined;
  // A caller that waits for an ask of its job is alive, so its lease is renewed.
  const onTurn = async ({ jobId, epoch, principal }: Ask) => {
    const leaseMs = epoch > 0 && principal === caller.principal ? await renewByPoll(ctx, jobId, epoch) : 0;
    return leaseMs > 0 ? leaseMs / 3 : Number.POSITIVE_INFINITY;
  };
  const { ask, answer } = await held(door, http, reply, (signal) =>
    waitForAnswer(ctx, id, reader, { waitMs, signal, onTurn }),
  );
  if (answer) return reply.send(answerWire(answer));
  return reply.code(204).header("parley-ask-stage", ask.stage).send();
}

async function adminReader(door: DoorContext, http: FastifyRequest): Promise<Reader> {
  await administrator(door, http);
  return ADMIN;
}

function readerOf({ principal, scope }: RelayCaller): Reader {
  return { principal, readsAll: scope === "admin" };
}

/**
 * Returns the ask without the secrets that are in it; the hash of its envelope is compared before. For the public, and
 * where the operator wants it so, an ask that holds a secret is refused (spec/relay 15).
 *
 * @throws {Refusal} `schema_refused`, `secret_detected`
 */
async function askInputOf(
  { ctx }: DoorContext,
  body: Readonly<Record<string, unknown>>,
  fields: AskFields,
): Promise<Omit<AskInput, "principal" | "lease">> {
  checkSchema(ctx, fields.meta);
  const hash = fields.envelope ? envelopeHash(fields.envelope) : null;
  const contextHash = fields.contextHash ?? hash;
  if (contextHash === null) throw new Error("an ask without a context hash was let through");
  const looked = {
    prompt: fields.prompt,
    meta: fields.meta,
    ...(fields.envelope && { context_envelope: fields.envelope }),
  };
  const { id, jobId, stepId, type, constraints, roleId, reports } = fields;
  // Names stand for what they name: one that is changed names nothing.
  const names = {
    ask_id: id,
    job_id: jobId,
    step_id: stepId,
    context_hash: fields.contextHash,
    role_id: roleId,
    constraints: { allowed_tools: constraints.allowedTools },
  };
  const named = await ctx.secrets.find([...stringsOf(names, ctx.secrets.isSuspect)]);
  const { finds, timedOut } = await ctx.secrets.find([...stringsOf(looked, ctx.secrets.isSuspect)]);
  const isPublic = fields.meta["audience"] === "public";
  if (named.finds.length > 0 || (finds.length > 0 && (isPublic || ctx.relay.secrets === "reject"))) {
    const all = [...named.finds, ...finds];
    throw new Refusal("secret_detected", { finds: all.map(({ path, rule, from, to }) => ({ path, rule, from, to })) });
  }
  if (isPublic && timedOut) throw new Refusal("secret_detected", { finds: [{ path: "prompt", rule: "not-searched" }] });
  const safe = redactJson(looked, finds);
  return {
    ...(id !== undefined && { id }),
    jobId,
    stepId,
    type,
    constraints,
    roleId,
    ...(reports && { reports }),
    contextHash,
    prompt: safe.prompt,
    meta: safe.meta,
    envelope: safe.context_envelope ?? null,
    bodyHash: sha256Digest(canonicalExact(body)),
    warnings: warningsOf(finds),
    mismatch: hash !== null && hash !== contextHash,
  };
}

/** Checks that an answer can be validated by the schema. @throws {Refusal} `schema_refused` */
function checkSchema({ schemas }: Context, meta: AskFields["meta"]): void {
  const { output_schema: schema } = (meta["prompt_overrides"] ?? {}) as { output_schema?: unknown };
  const problem = schema === undefined || schema === null ? null : schemas.examine(schema);
  if (!problem) return;
  const field = "meta.prompt_overrides.output_schema";
  throw new Refusal("schema_refused", { field, constraint: "schema", ...problem });
}

function warningsOf(finds: readonly Find[]): { path: string; rule: string }[] {
  return finds.map(({ path, rule }) => ({ path, rule }));
}
