import { answerQuestion } from "../../questions/answer.ts";
import { identifyForRead } from "../../questions/identify.ts";
import { peekLimit, type LimitReading } from "../../core/limits.ts";
import { callerOf, type Door, type DoorContext, type FastifyRequest } from "../http/door.ts";
import { claimedAgents } from "../http/principals.ts";
import { issueCredential } from "./human-access.ts";
import { idempotencyOf } from "./idempotency-key.ts";
import { questionIdOf } from "../http/ids.ts";
import { ErrorBody } from "../../wire/error.ts";
import { NewAnswerBody, WireAnswerReceipt } from "../../wire/question.ts";

/** @throws {Error} for a caller who has not answered yet: known callers only get answers (spec/ask-a-human 1.4) */
async function peekAnswers({ ctx }: DoorContext, http: FastifyRequest): Promise<LimitReading> {
  const identity = await identifyForRead(ctx, callerOf(http));
  if (!identity) throw new Error("nobody is known yet");
  return peekLimit(ctx, "answers", identity.person, ctx.crowd.limits.answersPerHour);
}

/** Answering (spec/ask-a-human 4.4). */
export function humanResponses(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post(
    "/human/responses",
    {
      config: { takesBody: true },
      // Before the body is read: a refusal of it says where the caller stands, too (spec/ask-a-human 1.4).
      onRequest: async (http) => {
        http.facts.peekLimit = () => peekAnswers(door, http);
      },
      schema: {
        tags: ["people"],
        summary: "Answer a question",
        body: NewAnswerBody,
        response: {
          201: WireAnswerReceipt,
          200: WireAnswerReceipt,
          400: ErrorBody,
          401: ErrorBody,
          403: ErrorBody,
          404: ErrorBody,
          409: ErrorBody,
          410: ErrorBody,
          429: ErrorBody,
        },
      },
    },
    async (http, reply) => {
      const caller = callerOf(http);
      const { question_id: questionId, answer, selected_option: option, confidence } = http.body as NewAnswerBody;
      const normalized = { question_id: questionId, answer, selected_option: option, confidence };
      const given = await answerQuestion(ctx, {
        questionId: questionIdOf(questionId),
        caller,
        asAgent: await claimedAgents(door, http),
        given: { answer, selectedOption: option, confidence },
        ...withKeyOf(idempotencyOf(http, undefined, withoutUndefined(normalized))),
      });

      if (given.reading) http.facts.limit = given.reading;
      issueCredential(door, reply, given.issue);
      if (given.replayed) reply.header("idempotency-replayed", "true");
      const { receipt } = given;
      reply.code(given.replayed ? 200 : 201);
      return {
        response_id: receipt.responseId,
        points_earned: receipt.points,
        new_badges: [...receipt.badges],
        total_points: receipt.totalPoints,
        points_breakdown: receipt.entries,
        streak_days: receipt.streakDays,
      } satisfies WireAnswerReceipt;
    },
  );
}

function withKeyOf<T>(idempotency: T | undefined): { idempotency?: T } {
  return idempotency === undefined ? {} : { idempotency };
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
