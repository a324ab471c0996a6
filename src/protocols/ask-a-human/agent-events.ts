import { followAsker } from "../../questions/follow-asker.ts";
import { followQuestion, isFinal, readQuestion } from "../../questions/read.ts";
import { principalOf, type Door, type DoorContext, type FastifyRequest } from "../http/door.ts";
import { lastEventId, sendEvents } from "../http/sse.ts";
import { agentErrors, chargeAgentRead } from "./agent-questions.ts";
import { questionIdOf } from "../http/ids.ts";
import { pollBody } from "../http/question.ts";

/** Following one question, or all of an agent's, as they change (spec/ask-a-human 3.3). */
export function agentEvents(app: Door, door: DoorContext): void {
  const { ctx, config } = door;
  const countRead = { preHandler: (http: FastifyRequest) => chargeAgentRead(door, http) };

  app.get<{ Params: { id: string } }>(
    "/agent/questions/:id/events",
    { ...countRead, schema: { tags: ["agents"], summary: "Follow a question (SSE)", response: agentErrors } },
    async (http, reply) => {
      const id = questionIdOf(http.params.id);
      const asker = principalOf(http);
      const { question } = await readQuestion(ctx, id, asker);
      const since = lastEventId(http);
      // Without this an EventSource would come back to a finished question for ever.
      if (isFinal(question) && since === question.version) return reply.code(204).send();

      using _place = door.limiter.enter("streams", asker, config.limits.streams);
      await sendEvents(door, http, reply, async function* (signal) {
        for await (const reading of followQuestion(ctx, id, asker, { signal, since })) {
          yield { event: "question", id: String(reading.question.version), data: pollBody(reading) };
        }
      });
      return reply;
    },
  );

  app.get(
    "/agent/questions/events",
    { ...countRead, schema: { tags: ["agents"], summary: "Follow all own questions (SSE)", response: agentErrors } },
    async (http, reply) => {
      const asker = principalOf(http);
      const since = lastEventId(http);

      using _place = door.limiter.enter("streams", asker, config.limits.streams);
      await sendEvents(door, http, reply, async function* (signal) {
        for await (const event of followAsker(ctx, asker, { signal, since })) {
          yield event.kind === "reset"
            ? { event: "reset", id: String(event.seq), data: "{}" }
            : { event: "question", id: String(event.seq), data: pollBody(event.reading) };
        }
      });
      return reply;
    },
  );
}
