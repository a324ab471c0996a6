import type { Context } from "../../context.ts";
import { findBoardNumbers, findTaskNumbers } from "../../tasks/store/events.ts";
import { findQuestionVersions } from "../../questions/store/questions.ts";
import { findRequestVersions } from "../../requests/store/waits.ts";
import { findEndedCredentials } from "../../access/store/credentials.ts";
import { findJobNumbers, newestQueuedAt } from "../../asks/store/job-claims.ts";
import { findEndedAsks } from "../../asks/store/ended.ts";
import { findStreamNumbers } from "../../core/store/streams.ts";
import {
  askTopic,
  boardTopic,
  CLAIMS_TOPIC,
  credentialTopic,
  jobTopic,
  questionTopic,
  requestTopic,
  streamTopic,
} from "../../core/store/wake.ts";

const TOPICS_PER_READ = 500;
/** Returns the topic of a task by its repository and id. */
const placeTopic = (place: string): string => `task:${place}`;

/** The topics whose subjects have a number that every change raises, and the reads of the numbers. */
const NUMBERED = [
  [questionTopic, findQuestionVersions],
  [requestTopic, findRequestVersions],
  [streamTopic, findStreamNumbers],
  [jobTopic, findJobNumbers],
  [placeTopic, findTaskNumbers],
  [boardTopic, findBoardNumbers],
] as const;

/** The topics whose subjects end once and stay so, and the reads of those that have ended. */
const ENDING = [
  [askTopic, findEndedAsks],
  [credentialTopic, findEndedCredentials],
] as const;

/**
 * Finds what other nodes changed without this one hearing of it, and wakes who waits for it here: the fallback that
 * turns a lost wake-up into a second's delay. One read serves every waiter of the node.
 */
export function openRecheck(ctx: Context): () => Promise<boolean> {
  // The last number seen of each topic; losing it costs one needless wake-up.
  let seen = new Map<string, number>();

  return async () => {
    const idsOf = (topicOf: (id: string) => string) => {
      const prefix = topicOf("");
      return [...ctx.wake.topics()]
        .filter((topic) => topic.startsWith(prefix))
        .map((topic) => topic.slice(prefix.length));
    };
    const now = new Map<string, number>();
    for (const [topicOf, find] of NUMBERED) {
      for (const part of chunks(idsOf(topicOf))) {
        for (const [id, number] of await find(ctx.db, part)) now.set(topicOf(id), number);
      }
    }
    // A caller that still waits for what has ended missed its end; another program, which wakes nobody, may have ended it.
    for (const [topicOf, find] of ENDING) {
      for (const part of chunks(idsOf(topicOf))) {
        for (const id of await find(ctx.db, part)) ctx.wake.wakeHere(topicOf(id));
      }
    }
    if ([...ctx.wake.topics()].includes(CLAIMS_TOPIC)) now.set(CLAIMS_TOPIC, await newestQueuedAt(ctx.db));
    for (const [topic, number] of now) if (seen.get(topic) !== number) ctx.wake.wakeHere(topic);
    seen = now;
    return false;
  };
}

function chunks(ids: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let i = 0; i < ids.length; i += TOPICS_PER_READ) parts.push(ids.slice(i, i + TOPICS_PER_READ));
  return parts;
}
