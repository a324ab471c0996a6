import { namePeople } from "../access/name-people.ts";
import { readUnclaimedJobs, readUnknownAskCalls } from "../asks/read/stuck-asks.ts";
import type { Context } from "../context.ts";
import { titleOf } from "../core/model/title.ts";
import { storeNow } from "../core/store-now.ts";
import { printable } from "../lib/printable.ts";
import { listEndpoints } from "../notices/webhook-endpoints.ts";
import { readUnanswered } from "../questions/read-unanswered.ts";
import { readChannels } from "../requests/read/figures.ts";
import { agentName } from "../requests/model/view.ts";
import { readStuckRequests, readUnknownCalls } from "../requests/read/stuck-requests.ts";
import { causesOf, type PolicyState, type StuckItem, type StuckReport } from "./model/causes.ts";

export type { StuckReport } from "./model/causes.ts";

/** So many of each cause are named. */
const MOST_NAMED = 20;

/**
 * Returns what is stuck now: what waits though it will not end by itself, by its cause. Everything is read without a
 * transaction: each cause is of its own moment, within the time that the reading takes.
 */
export async function readStuck(ctx: Pick<Context, "db">, policy: PolicyState): Promise<StuckReport> {
  const at = await storeNow(ctx.db);
  const { requests, isPart } = await readStuckRequests(ctx);
  const [calls, asks] = [await readUnknownCalls(ctx, MOST_NAMED), await readUnknownAskCalls(ctx, MOST_NAMED)];
  const [jobs, questions] = [await readUnclaimedJobs(ctx, MOST_NAMED), await readUnanswered(ctx, MOST_NAMED)];
  const items: StuckItem[] = [
    ...requests.map(({ requestId: id, ...one }) => ({ ...one, kind: "request" as const, id })),
    ...calls.calls.map(({ requestId: id, ...one }) => unknownCall({ ...one, kind: "request", id })),
    ...asks.calls.map(({ id, prompt, agent, sinceMs }) =>
      unknownCall({ kind: "ask", id, sentence: wordsOf(prompt), agent: agentName(agent), people: [], sinceMs }),
    ),
    ...jobs.jobs.map(({ id, title, owner, sinceMs }) => ({
      ...alone({ cause: "job_unclaimed", kind: "job", id, sinceMs }),
      sentence: title,
      agent: agentName(owner),
    })),
    ...questions.questions.map(({ id, prompt, asker, sinceMs }) => ({
      ...alone({ cause: "question_unanswered", kind: "question", id, sinceMs }),
      sentence: wordsOf(prompt),
      agent: agentName(asker),
    })),
    ...(await failingWays(ctx)),
    ...(policy.problem === null
      ? []
      : [{ ...alone({ cause: "policy_stale", kind: "policy", id: "file", sinceMs: null }), error: policy.problem }]),
  ];
  const known = { outcome_unknown: calls.count.unknown + asks.count.unknown };
  const counts = { ...known, job_unclaimed: jobs.count, question_unanswered: questions.count };
  const causes = causesOf(items, { counts, mostNamed: MOST_NAMED });
  return {
    atMs: at,
    running: calls.count.started + asks.count.started,
    isPart,
    causes,
    names: await namePeople(
      ctx,
      causes.flatMap((cause) => cause.items.flatMap(({ people }) => people)),
    ),
  };
}

const wordsOf = (prompt: string): string => printable(titleOf(prompt));

const unknownCall = (of: Pick<StuckItem, "kind" | "id" | "sentence" | "agent" | "people" | "sinceMs">): StuckItem => ({
  ...of,
  cause: "outcome_unknown",
  channel: null,
  error: null,
});

const alone = (of: Pick<StuckItem, "cause" | "kind" | "id" | "sinceMs">): StuckItem => ({
  ...of,
  sentence: null,
  agent: null,
  people: [],
  channel: null,
  error: null,
});

/** The channels whose messages fail, and the webhooks whose events do. */
async function failingWays(ctx: Pick<Context, "db">): Promise<StuckItem[]> {
  const channels = (await readChannels(ctx)).filter(({ failed, retrying }) => failed > 0 || retrying > 0);
  const webhooks = (await listEndpoints(ctx, undefined)).filter(({ failingSince }) => failingSince !== null);
  return [
    ...channels.map(({ channel, failingSince, failedAt, error }) => ({
      ...alone({ cause: "channel_failing", kind: "channel", id: channel, sinceMs: failingSince ?? failedAt }),
      channel,
      error,
    })),
    ...webhooks.map(({ id, agent, failingSince, lastError }) => ({
      ...alone({ cause: "webhook_failing", kind: "webhook", id, sinceMs: failingSince }),
      agent: agentName(agent),
      error: lastError,
    })),
  ];
}
