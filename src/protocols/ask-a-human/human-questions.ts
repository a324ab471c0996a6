import type { Context } from "../../context.ts";
import { TAGS, type Question } from "../../questions/model/question.ts";
import { basePoints } from "../../questions/model/points.ts";
import { reportQuestion, skipQuestion } from "../../questions/mark.ts";
import { readFeed, type FeedBookmark } from "../../questions/read-feed.ts";
import { readResults, viewQuestion } from "../../questions/view.ts";
import { callerOf, type Door, type DoorContext, type FastifyRequest } from "../http/door.ts";
import { asJson } from "./agent-questions.ts";
import { invalidCursor, readCursor, writeCursor } from "./cursor.ts";
import { issueCredential, readerOf, viewerOf } from "./human-access.ts";
import { questionIdOf } from "../http/ids.ts";
import { queryText } from "../http/query.ts";
import { queryLimit, queryWords } from "./query.ts";
import { resultsBody, wireTime, wireType } from "../http/question.ts";
import { ErrorBody, NoContent } from "../../wire/error.ts";
import {
  type WireFeedQuestion,
  NewReportBody,
  WireFeedPage,
  WireHumanQuestion,
  WireQuestionResults,
} from "../../wire/question.ts";

const humanErrors = { 400: ErrorBody, 401: ErrorBody, 404: ErrorBody, 429: ErrorBody } as const;

/** Finding, seeing, skipping and reporting questions (spec/ask-a-human 4.2, 4.3, 4.8). */
export function humanQuestions(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/human/questions",
    {
      schema: {
        tags: ["people"],
        summary: "Questions that need answers",
        response: { 200: WireFeedPage, ...humanErrors },
      },
    },
    async (http) => feedPage(door, http),
  );

  app.get<{ Params: { id: string } }>(
    "/human/questions/:id",
    {
      schema: {
        tags: ["people"],
        summary: "One question",
        response: { 200: WireHumanQuestion, 410: ErrorBody, ...humanErrors },
      },
    },
    async (http) => {
      const identity = await readerOf(door, http);
      const id = questionIdOf(http.params.id);
      const { question, answered } = await viewQuestion(ctx, id, identity, viewerOf(door, http, identity));
      const answerable = { can_answer: !answered, ...(answered && { reason: "already_answered" as const }) };
      return { ...feedQuestion(ctx, question), ...answerable } satisfies WireHumanQuestion;
    },
  );

  app.get<{ Params: { id: string } }>(
    "/human/questions/:id/results",
    {
      schema: {
        tags: ["people"],
        summary: "How others answered",
        response: { 200: WireQuestionResults, 403: ErrorBody, ...humanErrors },
      },
    },
    async (http, reply) => {
      const identity = await readerOf(door, http);
      return asJson(reply, resultsBody(await readResults(ctx, questionIdOf(http.params.id), identity)));
    },
  );

  markingRoutes(app, door);
}

/** Mounts the routes by which a person marks a question instead of answering it. */
function markingRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post<{ Params: { id: string } }>(
    "/human/questions/:id/skip",
    {
      schema: { tags: ["people"], summary: "Hide a question for a day", response: { 204: NoContent, ...humanErrors } },
    },
    async (http, reply) => {
      const { issue } = await skipQuestion(ctx, questionIdOf(http.params.id), callerOf(http));
      issueCredential(door, reply, issue);
      return reply.code(204).send();
    },
  );

  app.post<{ Params: { id: string } }>(
    "/human/questions/:id/report",
    {
      config: { takesBody: true },
      schema: {
        tags: ["people"],
        summary: "Report a question",
        body: NewReportBody,
        response: { 204: NoContent, ...humanErrors },
      },
    },
    async (http, reply) => {
      const { reason, comment } = http.body as NewReportBody;
      const report = { reason, ...(comment !== undefined && { comment }) };
      const { issue } = await reportQuestion(ctx, questionIdOf(http.params.id), callerOf(http), report);
      issueCredential(door, reply, issue);
      return reply.code(204).send();
    },
  );
}

/** Returns a page of what a person may answer, of the tags that they name. */
async function feedPage(door: DoorContext, http: FastifyRequest): Promise<WireFeedPage> {
  const { ctx } = door;
  const limit = queryLimit(http.query, { least: 1, most: 50, usual: 20 });
  const tags = queryWords(http.query, "audience", TAGS);
  const cursor = queryText(http.query, "cursor");
  const identity = await readerOf(door, http);
  const viewer = viewerOf(door, http, identity);

  const list = `feed ${tags.toSorted().join()}`;
  const from = cursor === undefined ? undefined : readCursor<FeedBookmark>(ctx.keyring, list, cursor);
  const page = await readFeed(ctx, identity, { viewer, tags, limit, from });
  if (!page) throw invalidCursor();

  return {
    questions: page.asks.map((question) => feedQuestion(ctx, question)),
    next_cursor: page.next && writeCursor(ctx.keyring, list, page.next),
    last_created_at: page.newestAt === null ? null : wireTime(page.newestAt),
  };
}

/** Returns a question as people are shown it. */
function feedQuestion(ctx: Context, question: Question): WireFeedQuestion {
  return {
    question_id: question.id,
    prompt: question.prompt,
    type: wireType(question),
    ...(question.form.kind === "choice" && { options: [...question.form.options] }),
    audience: [...question.audience],
    responses_needed: question.state === "open" ? question.need - question.n : 0,
    created_at: wireTime(question.createdAt),
    expires_at: wireTime(question.expiresAt),
    points: basePoints(question, ctx.crowd.points),
  };
}
