import type { ComponentType } from "preact";
import { AsksPage } from "./relay/asks.tsx";
import { AssignmentsPage } from "./tasks/assignments.tsx";
import { AuditPage } from "./audit.tsx";
import { CachePage } from "./relay/cache.tsx";
import { ChannelsPage } from "./channels.tsx";
import { HealthPage } from "./health.tsx";
import { JobsPage } from "./relay/jobs.tsx";
import { KeysPage } from "./keys.tsx";
import { LivePage } from "./relay/live.tsx";
import type { PageProps } from "./page-props.ts";
import { PeoplePage } from "./people.tsx";
import { PolicyPage } from "./policy.tsx";
import { text as relayText } from "./relay/text.ts";
import { text as taskText } from "./tasks/text.ts";
import { text } from "./text.ts";
import { WebhooksPage } from "./webhooks.tsx";

/** The console's pages, in the order in which they are offered: `/console/<path>` and `/console/<path>/<item>`. */
export const SECTIONS: readonly { path: string; label: string; Page: ComponentType<PageProps> }[] = [
  { path: "live", label: relayText.live.title, Page: LivePage },
  { path: "asks", label: relayText.asks.title, Page: AsksPage },
  { path: "jobs", label: relayText.jobs.title, Page: JobsPage },
  { path: "assignments", label: taskText.title, Page: AssignmentsPage },
  { path: "policy", label: relayText.policy.title, Page: PolicyPage },
  { path: "cache", label: relayText.cache.title, Page: CachePage },
  { path: "people", label: text.people.title, Page: PeoplePage },
  { path: "keys", label: text.keys.title, Page: KeysPage },
  { path: "channels", label: text.channels.title, Page: ChannelsPage },
  { path: "webhooks", label: text.webhooks.title, Page: WebhooksPage },
  { path: "audit", label: text.audit.title, Page: AuditPage },
  { path: "health", label: text.health.title, Page: HealthPage },
];
