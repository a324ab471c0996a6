import { serverNow } from "../../api.ts";
import { ago } from "../../format.ts";
import { failureOf, isFailing, useFailures } from "../failing.ts";
import { useAudit, useChannels, useEndpoints, useHealth, useKeyList, usePeople } from "../queries.ts";
import { useAskList, useCache, useJobList, usePolicy } from "../relay/api.ts";
import { useAskingAgents } from "../agents/queries.ts";
import { useStuck } from "../stuck/queries.ts";
import { useHours } from "../today/queries.ts";
import { useBoard } from "../tasks/api.ts";
import { columnOf, type ColumnName } from "../tasks/columns.ts";
import { isGood, useChecklist } from "./checklist.ts";
import { text } from "./text.ts";
import { useWaiting } from "./waiting.ts";

/** The state beside a page's name. `wants` marks one that somebody should look at. */
export interface PageState {
  says: string;
  wants?: "waiting" | "alarm";
  /** The end of the address at which the page shows only what is counted. */
  opens?: string;
}

const OPEN = "?show=open";

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

export const useTodayState = (): StateReading =>
  reading(useHours("day"), ({ counts: { people, rule, model, nobody, withdrawn } }) => ({
    says: text.today.state(people + rule + model + nobody + withdrawn),
  }));

export const useActivityState = (): StateReading =>
  reading(useHours("day"), ({ waiting }) => ({ says: text.waits(waiting, null) }));

export const useStuckState = (): StateReading =>
  reading(useStuck(), ({ at, causes }) => {
    const since = causes.flatMap(({ items }) => items.flatMap((item) => (item.since ? [Date.parse(item.since)] : [])));
    const oldestMs = since.length === 0 ? null : Math.max(0, Date.parse(at) - Math.min(...since));
    const total = causes.reduce((sum, { count }) => sum + count, 0);
    return { says: text.stuck.state(total, oldestMs), ...(total > 0 && { wants: "alarm" }) };
  });

export function useHealthState(): StateReading {
  const [health, failures] = [useHealth(false), useFailures()];
  const data = health.data && failures.data && { findings: health.data.findings, failing: failures.data.length };
  return reading({ data, error: health.error ?? failures.error }, ({ findings, failing }) => {
    const broken = findings.filter(({ offenders }) => offenders.length > 0).length;
    return { says: text.health(broken, failing), ...(broken + failing > 0 && { wants: "alarm" }) };
  });
}

export const useTasksState = (): StateReading =>
  reading(useBoard(), ({ repos, tasks }) => {
    if (repos.length === 0) return { says: text.notSetUp };
    const of = (name: ColumnName) => columnOf(name, tasks).length;
    const [waiting, review] = [of("waiting"), of("review")];
    return {
      says: text.tasks({ waiting, review, working: of("working"), queued: of("queued") }),
      ...(waiting + review > 0 && { wants: "waiting" }),
    };
  });

export const useAsksState = (): StateReading => {
  const { first, error } = useAskList("open");
  return reading({ data: first, error }, ({ open, oldest_ms: oldestMs }) => ({
    says: text.waits(open, oldestMs),
    ...(open > 0 && { wants: "waiting", opens: OPEN }),
  }));
};

export const useJobsState = (): StateReading => {
  const { first, error } = useJobList("open");
  return reading({ data: first, error }, ({ open }) => ({ says: text.jobs(open), ...(open > 0 && { opens: OPEN }) }));
};

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

export function useAgentsState(): StateReading {
  const { agents, hasNextPage, error } = useAskingAgents();
  return reading({ data: agents, error }, (all) => ({
    says: text.agents.state(all.length, { isMore: hasNextPage, frozen: all.filter(({ frozen }) => frozen).length }),
  }));
}

export const usePeopleState = (): StateReading =>
  reading(usePeople(), (people) => ({
    says: text.people(people.length, people.filter(({ role }) => role === "admin").length),
  }));

export const useKeysState = (): StateReading =>
  reading(useKeyList(), (keys) => ({ says: text.keys(keys.filter(isGood).length) }));

export const useChannelsState = (): StateReading =>
  reading(useChannels(), (channels) => {
    return { says: text.channels(channels), ...(channels.some(isFailing) && { wants: "alarm" }) };
  });

export const useWebhooksState = (): StateReading =>
  reading(useEndpoints(), (all) => {
    const disabled = all.filter(({ enabled }) => !enabled).length;
    const failing = all.filter((one) => one.enabled && failureOf(one) !== null).length;
    return {
      says: text.webhooks(all.length, { disabled, failing }),
      ...(disabled + failing > 0 && { wants: "alarm" }),
    };
  });
