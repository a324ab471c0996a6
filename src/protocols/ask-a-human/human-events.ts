import type { Door, DoorContext } from "../http/door.ts";
import { addressMac } from "../http/principals.ts";
import { sendEvents } from "../http/sse.ts";
import { followFeed } from "../../questions/follow-feed.ts";
import { ErrorBody } from "../../wire/error.ts";

/** The feed as it changes, live only (spec/ask-a-human 4.8). */
export function humanEvents(app: Door, door: DoorContext): void {
  const feed = followFeed(door.ctx);

  app.get(
    "/human/events",
    { schema: { tags: ["people"], summary: "Follow the feed (SSE)", response: { 401: ErrorBody, 429: ErrorBody } } },
    async (http, reply) => {
      using _place = door.limiter.enter("human streams", addressMac(door, http), door.config.limits.humanStreams);
      await sendEvents(door, http, reply, async function* (signal) {
        for await (const change of feed.changes(signal)) {
          const data = {
            question_id: change.questionId,
            responses_needed: change.needed,
          };
          yield { event: change.kind, data: JSON.stringify(data) };
        }
      });
      return reply;
    },
  );
}
