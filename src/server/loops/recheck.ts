import type { Context } from "../../context.ts";
import { findBoardNumbers, findTaskNumbers } from "../../tasks/store/events.ts";
import { findVersions } from "../../questions/store/questions.ts";
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
  relayTopic,
  streamTopic,
} from "../../core/store/wake.ts";

const TOPICS_PER_READ = 500;
/** The beginning of a task's topic; its repository and id follow. */
const TASK = "task:";

/**
 * Finds what other nodes changed without this one hearing of it, and wakes who waits for it here: the fallback that
 * turns a lost wake-up into a second's delay. One read serves every waiter of the node.
 */
export function openRecheck(ctx: Context): () => Promise<boolean> {
  // The last number seen of each topic; losing it costs one needless wake-up.
  let seen = new Map<string, number>();

  return async () => {
    const ids = (prefix: string) =>
      [...ctx.wake.topics()].filter((topic) => topic.startsWith(prefix)).map((topic) => topic.slice(prefix.length));
    const now = new Map<string, number>();
    for (const part of chunks(ids(askTopic("")))) {
      for (const [id, version] of await findVersions(ctx.db, part)) now.set(askTopic(id), version);
    }
    for (const part of chunks(ids(streamTopic("")))) {
      for (const [id, seq] of await findStreamNumbers(ctx.db, part)) now.set(streamTopic(id), seq);
    }
    // An ask that is over stays so: a caller that still waits has missed it.
    for (const part of chunks(ids(relayTopic("")))) {
      for (const id of await findEndedAsks(ctx.db, part)) ctx.wake.wakeHere(relayTopic(id));
    }
    // So does a key or a session; it may have been ended by another program, which wakes nobody.
    for (const part of chunks(ids(credentialTopic("")))) {
      for (const hash of await findEndedCredentials(ctx.db, part)) ctx.wake.wakeHere(credentialTopic(hash));
    }
    for (const part of chunks(ids(jobTopic("")))) {
      for (const [id, seq] of await findJobNumbers(ctx.db, part)) now.set(jobTopic(id), seq);
    }
    for (const part of chunks(ids(TASK))) {
      for (const [place, seq] of await findTaskNumbers(ctx.db, part)) now.set(`${TASK}${place}`, seq);
    }
    for (const part of chunks(ids(boardTopic("")))) {
      for (const [repo, seq] of await findBoardNumbers(ctx.db, part)) now.set(boardTopic(repo), seq);
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
