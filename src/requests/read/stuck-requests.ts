import { countSignIns } from "../../access/store/sign-ins.ts";
import type { Context } from "../../context.ts";
import { leavesOf } from "../model/audience.ts";
import type { Request } from "../model/request.ts";
import { sentenceOf } from "../model/sentence.ts";
import { causeOfStuck, lateAfter, type MessageState, type Reach, type StuckRequest } from "../model/stuck.ts";
import { askerName } from "../model/view.ts";
import { listAwayAlone } from "../store/absences.ts";
import { listPeopleWithDevice } from "../store/device-notices.ts";
import type { RequestAt } from "../store/requests.ts";
import {
  type CallsWithoutEnd,
  countByState,
  listMessageStates,
  listUnknownCalls,
  listUnpressed,
} from "../store/stuck.ts";

export type { CallsWithoutEnd } from "../store/stuck.ts";

/** So many open requests are looked at, the soonest deadline first. */
const MOST_LOOKED_AT = 500;

/** A call that began and has no known end. */
export interface UnknownCall extends Pick<StuckRequest, "requestId" | "sentence" | "agent" | "people"> {
  sinceMs: number;
}

/**
 * Returns the open requests that get no answer by themselves, each with its first cause, the longest waiting first, and
 * whether more are open than were looked at.
 */
export async function readStuckRequests(
  ctx: Pick<Context, "db">,
): Promise<{ requests: StuckRequest[]; isPart: boolean }> {
  const open = await listUnpressed(ctx.db, MOST_LOOKED_AT + 1);
  const looked = open.slice(0, MOST_LOOKED_AT);
  const messages = await listMessageStates(
    ctx.db,
    looked.map(({ request }) => request.id),
  );
  const reachOf = await readReach(ctx, [...new Set(looked.flatMap(({ request }) => askedPeople(request)))]);
  const requests = looked.flatMap((one) => stuckIn(one, messages.get(one.request.id) ?? [], reachOf));
  requests.sort((one, other) => one.sinceMs - other.sinceMs);
  return { requests, isPart: open.length > MOST_LOOKED_AT };
}

/** Returns up to `limit` calls that began and have no known end, and how many run or are so. */
export async function readUnknownCalls(
  ctx: Pick<Context, "db">,
  limit: number,
): Promise<{ calls: UnknownCall[]; count: CallsWithoutEnd }> {
  const found = await listUnknownCalls(ctx.db, limit);
  const calls = found.map(({ request, atMs }) => ({ ...aboutOf(request), sinceMs: atMs }));
  return { calls, count: await countByState(ctx.db, "call_outcomes") };
}

function stuckIn(
  { request, now, isFrozen }: RequestAt,
  messages: readonly MessageState[],
  reachOf: (person: string) => Reach,
): StuckRequest[] {
  const people = askedPeople(request).map(reachOf);
  const isLate = now - request.createdAt >= lateAfter(request);
  const cause = causeOfStuck({ isFrozen, isLate, people, messages });
  if (cause === null) return [];
  const failed = cause === "message_failed" ? messages.find(({ state }) => state === "failed") : undefined;
  const { channel = null, error = null } = failed ?? {};
  return [{ cause, ...aboutOf(request), sinceMs: request.createdAt, channel, error }];
}

function aboutOf(request: Request): Pick<StuckRequest, "requestId" | "sentence" | "agent" | "people"> {
  const [requestId, sentence, agent] = [request.id, sentenceOf(request), askerName(request)];
  return { requestId, sentence, agent, people: askedPeople(request) };
}

function askedPeople({ audience }: Pick<Request, "audience">): string[] {
  const people = leavesOf(audience).flatMap(({ target }) => (target.via === "person" ? [target.person] : []));
  return [...new Set(people)];
}

async function readReach({ db }: Pick<Context, "db">, people: readonly string[]): Promise<(person: string) => Reach> {
  const [sessions, devices, away] = [
    await countSignIns(db),
    await listPeopleWithDevice(db, people),
    await listAwayAlone(db, people),
  ];
  return (person) => ({
    isSignedIn: sessions.has(person),
    hasDevice: devices.has(person),
    isAway: away.has(person),
  });
}
