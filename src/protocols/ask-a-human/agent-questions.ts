import type { Question } from "../../questions/model/question.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import { createQuestion } from "../../questions/create.ts";
import { cancelQuestion } from "../../questions/cancel.ts";
import {
  listOwnQuestions,
  readQuestion,
  readQuestions,
  waitForQuestion,
  type QuestionPosition,
} from "../../questions/read.ts";
import { principalOf, type Door, type DoorContext, type FastifyReply, type FastifyRequest } from "../http/door.ts";
import { held } from "../http/held.ts";
import { questionIdOf, isId } from "../http/ids.ts";
import { askOf, normalizeQuestion } from "../http/new-question.ts";
import { agentPrincipal } from "../http/principals.ts";
import { pollBody, pollUrl, wireStatus, wireTime } from "../http/question.ts";
import { flagSecrets } from "../http/secrets.ts";
import { peekLimit } from "../../core/limits.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { idempotencyOf } from "./idempotency-key.ts";
import { idNumber, queryText, queryTexts } from "../http/query.ts";
import { queryCount, queryLimit, queryWaitMs, queryWords } from "./query.ts";
import { ErrorBody } from "../../wire/error.ts";
import { NewQuestionBody, WireQuestion, WireQuestionList, WireQuestionReceipt } from "../../wire/question.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const BATCH_MOST = 100;
const STATUSES = ["OPEN", "PARTIAL", "CLOSED", "EXPIRED"] as const;

/** The errors that every one of these routes may reply with. */
export const agentErrors = { 400: ErrorBody, 401: ErrorBody, 404: ErrorBody, 429: ErrorBody } as const;

/** Knows the agent before the route runs, and where its writes stand. */
export async function knowAgent(door: DoorContext, http: FastifyRequest): Promise<void> {
  const principal = await agentPrincipal(door, http);
  const { questionsPerHour } = door.ctx.crowd.limits;
  http.facts.principal = principal;
  http.facts.peekLimit = () => peekLimit(door.ctx, "questions", principal, questionsPerHour);
}

/** Counts one read of the agent, whatever becomes of it. */
export async function chargeAgentRead(door: DoorContext, http: FastifyRequest): Promise<void> {
  const { agentReadsPerHour } = door.ctx.crowd.limits;
  http.facts.limit = await door.readLimits.charge("agent reads", principalOf(http), agentReadsPerHour);
}

function countingReads(door: DoorContext) {
  return { preHandler: (http: FastifyRequest) => chargeAgentRead(door, http) };
}

/** Says that a text is JSON already; the route returns it. (A route that returns its `reply` waits for it to be sent.) */
export function asJson(reply: FastifyReply, text: string): string {
  reply.type(JSON_TYPE);
  return text;
}

/** Creating, reading, listing and cancelling questions (spec/ask-a-human 3). */
export function agentQuestions(app: Door, door: DoorContext): void {
  app.post(
    "/agent/questions",
    {
      config: { takesBody: true },
      schema: {
        tags: ["agents"],
        summary: "Ask the crowd",
        body: NewQuestionBody,
        response: {
          201: WireQuestionReceipt,
          200: WireQuestionReceipt,
          403: ErrorBody,
          409: ErrorBody,
          ...agentErrors,
        },
      },
    },
    async (http, reply) => {
      const { question, replayed } = await askCrowd(door, http);
      if (replayed) reply.header("idempotency-replayed", "true");
      reply.code(replayed ? 200 : 201).header("location", pollUrl(question.id));
      return {
        question_id: question.id,
        status: wireStatus(question),
        poll_url: pollUrl(question.id),
        expires_at: wireTime(question.expiresAt),
        created_at: wireTime(question.createdAt),
      } satisfies WireQuestionReceipt;
    },
  );

  app.get(
    "/agent/questions",
    {
      ...countingReads(door),
      schema: {
        tags: ["agents"],
        summary: "Own questions, or several by id",
        response: { 200: WireQuestionList, ...agentErrors },
      },
    },
    async (http, reply) => {
      const ids = queryTexts(http.query, "ids");
      return asJson(reply, ids.length === 0 ? await page(door, http) : await batch(door, http, ids.join(",")));
    },
  );

  oneQuestionRoutes(app, door);
}

/** One question: polling or awaiting it, and cancelling it. */
function oneQuestionRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get<{ Params: { id: string } }>(
    "/agent/questions/:id",
    {
      ...countingReads(door),
      schema: {
        tags: ["agents"],
        summary: "Poll a question, or wait for it with ?wait=",
        response: { 200: WireQuestion, ...agentErrors },
      },
    },
    async (http, reply) => asJson(reply, await poll(door, http, reply)),
  );

  app.delete<{ Params: { id: string } }>(
    "/agent/questions/:id",
    { schema: { tags: ["agents"], summary: "Cancel a question", response: { 200: WireQuestion, ...agentErrors } } },
    async (http, reply) => {
      const question = await cancelQuestion(ctx, questionIdOf(http.params.id), principalOf(http));
      return asJson(reply, pollBody(await readQuestion(ctx, question.id, question.asker)));
    },
  );
}

/** Asks the question of a body; an idempotency key that was used before gives the question of then. */
async function askCrowd(door: DoorContext, http: FastifyRequest): Promise<{ question: Question; replayed: boolean }> {
  const { prompt, share_results = true, idempotency_key, ...given } = http.body as NewQuestionBody;
  const fallback = fallbackOf(given);
  const normalized = { ...normalizeQuestion(prompt, given), share_results, ...(fallback && { fallback }) };
  const flags = await flagSecrets(door, normalized, "prompt");
  const { question, replayed, reading } = await createQuestion(
    door.ctx,
    {
      ...askOf(normalized),
      door: "ask-a-human",
      asker: principalOf(http),
      wire: { ...(!share_results && { share_results }), ...flags },
      ...(fallback && { fallback }),
    },
    idempotencyOf(http, idempotency_key, normalized),
  );
  if (reading) http.facts.limit = reading;
  return { question, replayed };
}

/** Returns those of the named questions that are the agent's own, as JSON text, and which are not found. */
async function batch({ ctx }: DoorContext, http: FastifyRequest, list: string): Promise<string> {
  const ids = [...new Set(list.split(",").map((id) => id.trim()))].filter((id) => id !== "");
  if (ids.length < 1 || ids.length > BATCH_MOST) {
    const message = `ids must name between 1 and ${BATCH_MOST} questions`;
    throw refuseFields([{ message, field: "ids", constraint: "length", min: 1, max: BATCH_MOST }]);
  }
  const expand = expandOf(http);
  const readings = await readQuestions(ctx, ids.filter(isId), principalOf(http));
  const found = new Set(readings.map(({ question }) => question.id));
  const missing = ids.filter((id) => !found.has(id));
  const bodies = readings.map((reading) => pollBody(reading, expand));
  return `{"questions":[${bodies.join(",")}],"not_found":${JSON.stringify(missing)}}`;
}

/** Returns a page of the agent's own questions, as JSON text. */
async function page({ ctx }: DoorContext, http: FastifyRequest): Promise<string> {
  const asker = principalOf(http);
  const states = queryWords(http.query, "status", STATUSES);
  const limit = queryLimit(http.query, { least: 1, most: 100, usual: 20 });
  const expand = expandOf(http);
  const cursor = queryText(http.query, "cursor");
  const list = `own ${asker} ${states.toSorted().join()}`;
  const before = cursor === undefined ? undefined : readCursor<QuestionPosition>(ctx.keyring, list, cursor);

  const { readings, next } = await listOwnQuestions(ctx, asker, {
    limit,
    states: states.map((state) => state.toLowerCase() as Lowercase<typeof state>),
    before,
  });
  const place = next && writeCursor(ctx.keyring, list, next);
  const bodies = readings.map((reading) => pollBody(reading, expand));
  return `{"questions":[${bodies.join(",")}],"next_cursor":${JSON.stringify(place)}}`;
}

/** Returns a question as JSON text: at once, or as soon as there is news of it, or when the wait is over. */
async function poll(
  door: DoorContext,
  http: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<string> {
  const { ctx, config } = door;
  const id = questionIdOf(http.params.id);
  const asker = principalOf(http);
  const waitMs = queryWaitMs(http.query);
  const after = queryCount(http.query, "after");
  const expand = expandOf(http);
  if (!waitMs) return pollBody(await readQuestion(ctx, id, asker), expand);

  using _place = door.limiter.enter("long-polls", asker, config.limits.longPolls);
  const input = { waitMs: Math.min(waitMs, config.waitCapS * 1000), after };
  const reading = await held(door, http, reply, (signal) => waitForQuestion(ctx, id, asker, { ...input, signal }));
  return pollBody(reading, expand);
}

const FALLBACK_AFTER_SECONDS = 600;

/** Returns the person to ask if the crowd has not answered in time; undefined where no person is named. */
function fallbackOf({
  fallback_human: human,
  fallback_after_seconds: after,
}: {
  fallback_human?: string | undefined;
  fallback_after_seconds?: number | undefined;
}): { human: number; afterMs: number } | undefined {
  if (human === undefined) return undefined;
  const number = idNumber(human);
  if (number === null) {
    const message = "fallback_human must be the id of a human";
    throw refuseFields([{ message, field: "fallback_human", constraint: "format" }]);
  }
  return { human: number, afterMs: (after ?? FALLBACK_AFTER_SECONDS) * 1000 };
}

function expandOf(http: FastifyRequest): { meta: boolean } {
  return { meta: queryWords(http.query, "expand", ["meta"]).length > 0 };
}
