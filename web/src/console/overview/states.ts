import { serverNow } from "../../api.ts";
import { ago } from "../../format.ts";
import { useAgents, useAudit, useChannels, useEndpoints, useHealth, useKeyList, usePeople } from "../queries.ts";
import { useAskList, useCache, useJobList, usePolicy } from "../relay/api.ts";
import { useBoard } from "../tasks/api.ts";
import { isGood, useChecklist } from "./checklist.ts";
import { text } from "./text.ts";
import { useWaiting } from "./waiting.ts";

/** The state beside a page's name. `wants` marks one that somebody should look at. */
export interface PageState {
  says: string;
  wants?: "waiting" | "alarm";
}

/** Undefined while it is read, null where it cannot be read. */
export type StateReading = PageState | undefined | null;

function reading<T>(of: { data: T | undefined; error: unknown }, says: (data: T) => PageState): StateReading {
  if (of.data !== undefined) return says(of.data);
  return of.error ? null : undefined;
}

export const useWaitingState = (): StateReading =>
  reading(useWaiting(), ({ total, oldestMs }) => ({
    says: text.waits(total, oldestMs),
    ...(total > 0 && { wants: "waiting" }),
  }));

export const useHealthState = (): StateReading =>
  reading(useHealth(false), ({ findings }) => {
    const broken = findings.filter(({ offenders }) => offenders.length > 0).length;
    return { says: text.health(broken), ...(broken > 0 && { wants: "alarm" }) };
  });

export const useTasksState = (): StateReading =>
  reading(useBoard(), ({ repos, tasks }) => {
    if (repos.length === 0) return { says: text.notSetUp };
    const of = (...states: (typeof tasks)[number]["state"][]) =>
      tasks.filter(({ state }) => states.includes(state)).length;
    const people = of("awaiting_answer", "conflict", "review");
    const working = of("preparing", "running", "interrupted", "committing");
    return {
      says: text.tasks({ people, working, queued: of("queued", "blocked") }),
      ...(people > 0 && { wants: "waiting" }),
    };
  });

export function useAsksState(): StateReading {
  const { rows, error, hasNextPage } = useAskList("open");
  return reading({ data: rows, error }, (asks) => {
    if (hasNextPage) return { says: text.manyWait(asks.length), wants: "waiting" };
    const oldest = asks.at(-1);
    const oldestMs = oldest === undefined ? null : Math.max(0, serverNow() - Date.parse(oldest.created_at));
    return { says: text.waits(asks.length, oldestMs), ...(asks.length > 0 && { wants: "waiting" }) };
  });
}

export function useJobsState(): StateReading {
  const { rows, error, hasNextPage } = useJobList("open");
  return reading({ data: rows, error }, (jobs) => ({ says: text.jobs(jobs.length, hasNextPage) }));
}

export function useRecordState(): StateReading {
  const { entries, error } = useAudit({});
  return reading({ data: entries, error }, ([newest]) => ({
    says: newest ? text.record(ago(Math.max(0, serverNow() - Date.parse(newest.at)))) : text.noRecord,
  }));
}

export const usePolicyState = (): StateReading =>
  reading(usePolicy(), ({ state, rules, proposals }) => {
    if (state === "stale") return { says: text.policyStale, wants: "alarm" };
    if (state === "missing") return { says: text.policyMissing };
    return { says: text.policy(rules.length, proposals.length), ...(proposals.length > 0 && { wants: "waiting" }) };
  });

export function useCacheState(): StateReading {
  const { decisions, count, error } = useCache();
  return reading({ data: decisions, error }, () => ({ says: text.cache(count) }));
}

export function useChecklistState(): StateReading {
  const { items, error } = useChecklist();
  return reading({ data: items, error }, (all) => ({
    says: text.done(all.filter(({ isDone }) => isDone).length, all.length),
  }));
}

export const useAgentsState = (): StateReading => reading(useAgents(), (all) => ({ says: text.agents.state(all) }));

export const usePeopleState = (): StateReading =>
  reading(usePeople(), (people) => ({
    says: text.people(people.length, people.filter(({ role }) => role === "admin").length),
  }));

export const useKeysState = (): StateReading =>
  reading(useKeyList(), (keys) => ({ says: text.keys(keys.filter(isGood).length) }));

export const useChannelsState = (): StateReading =>
  reading(useChannels(), (channels) => {
    const isFailing = channels.some((one) => one.configured && text.channel(one) === text.channelFails);
    return { says: text.channels(channels), ...(isFailing && { wants: "alarm" }) };
  });

export const useWebhooksState = (): StateReading =>
  reading(useEndpoints(), (all) => {
    const disabled = all.filter(({ enabled }) => !enabled).length;
    return { says: text.webhooks(all.length, disabled), ...(disabled > 0 && { wants: "alarm" }) };
  });
