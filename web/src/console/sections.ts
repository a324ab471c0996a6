import type { ComponentType } from "preact";
import { AsksPage } from "./relay/asks.tsx";
import { AuditPage } from "./audit.tsx";
import { CachePage } from "./relay/cache.tsx";
import { ChannelsPage } from "./channels.tsx";
import { ChecklistPage } from "./overview/checklist-page.tsx";
import { HealthPage } from "./health.tsx";
import { JobsPage } from "./relay/jobs.tsx";
import { KeysPage } from "./keys.tsx";
import { LivePage } from "./relay/live.tsx";
import * as states from "./overview/states.ts";
import { type Group, text as overviewText } from "./overview/text.ts";
import type { PageProps } from "./page-props.ts";
import { PeoplePage } from "./people.tsx";
import { later } from "../parts/later.tsx";
import { Loading } from "../parts/notice.tsx";
import { PolicyPage } from "./policy.tsx";
import { text as relayText } from "./relay/text.ts";
import { text as taskText } from "./tasks/text.ts";
import { text } from "./text.ts";
import { WebhooksPage } from "./webhooks.tsx";

/** Tasks draw diffs, which is a third of the code of Run. */
const AssignmentsPage = later<PageProps>(
  async () => (await import("./tasks/assignments.tsx")).AssignmentsPage,
  () => Loading({ rows: 6 }),
);

const StuckPage = later<PageProps>(
  async () => (await import("./stuck/stuck.tsx")).StuckPage,
  () => Loading({ rows: 6 }),
);

const TodayPage = later<PageProps>(
  async () => (await import("./today/today.tsx")).TodayPage,
  () => Loading({ rows: 6 }),
);

const ActivityPage = later<PageProps>(
  async () => (await import("./today/activity.tsx")).ActivityPage,
  () => Loading({ rows: 6 }),
);

const AgentsPage = later<PageProps>(
  async () => (await import("./agents/agents-page.tsx")).AgentsPage,
  () => Loading({ rows: 6 }),
);

/** A page of the console: `/console/<path>` and `/console/<path>/<item>`. */
export interface PagePlace {
  path: string;
  /** Read when it is shown: the texts of another language come after this module. */
  label: () => string;
  Page: ComponentType<PageProps>;
  /** Reads the state beside its name. */
  useState: () => states.StateReading;
}

/** The console's pages by their groups, in the order in which they are offered. */
export const GROUPS: readonly { name: Group; pages: readonly PagePlace[] }[] = [
  {
    name: "now",
    pages: [
      { path: "stuck", label: () => overviewText.stuck.title, Page: StuckPage, useState: states.useStuckState },
      { path: "today", label: () => overviewText.today.title, Page: TodayPage, useState: states.useTodayState },
      { path: "live", label: () => overviewText.waiting.title, Page: LivePage, useState: states.useWaitingState },
      { path: "health", label: () => text.health.title, Page: HealthPage, useState: states.useHealthState },
    ],
  },
  {
    name: "work",
    pages: [
      { path: "activity", label: () => overviewText.activity, Page: ActivityPage, useState: states.useActivityState },
      { path: "assignments", label: () => taskText.title, Page: AssignmentsPage, useState: states.useTasksState },
      { path: "asks", label: () => relayText.asks.title, Page: AsksPage, useState: states.useAsksState },
      { path: "jobs", label: () => relayText.jobs.title, Page: JobsPage, useState: states.useJobsState },
      { path: "audit", label: () => text.audit.title, Page: AuditPage, useState: states.useRecordState },
    ],
  },
  {
    name: "rules",
    pages: [
      { path: "policy", label: () => relayText.policy.title, Page: PolicyPage, useState: states.usePolicyState },
      { path: "cache", label: () => relayText.cache.title, Page: CachePage, useState: states.useCacheState },
    ],
  },
  {
    name: "setup",
    pages: [
      {
        path: "setup",
        label: () => overviewText.checklist.title,
        Page: ChecklistPage,
        useState: states.useChecklistState,
      },
      { path: "agents", label: () => overviewText.agents.title, Page: AgentsPage, useState: states.useAgentsState },
      { path: "people", label: () => text.people.title, Page: PeoplePage, useState: states.usePeopleState },
      { path: "keys", label: () => text.keys.title, Page: KeysPage, useState: states.useKeysState },
      { path: "channels", label: () => text.channels.title, Page: ChannelsPage, useState: states.useChannelsState },
      { path: "webhooks", label: () => text.webhooks.title, Page: WebhooksPage, useState: states.useWebhooksState },
    ],
  },
];

export const PAGES: readonly PagePlace[] = GROUPS.flatMap(({ pages }) => pages);
