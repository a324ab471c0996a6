import type { ComponentType } from "preact";
import { AuditPage } from "./audit.tsx";
import { ChannelsPage } from "./channels.tsx";
import { HealthPage } from "./health.tsx";
import { KeysPage } from "./keys.tsx";
import { PeoplePage } from "./people.tsx";
import { text } from "./text.ts";
import { WebhooksPage } from "./webhooks.tsx";

/** What every page of the console is given. */
export interface PageProps {
  /** What follows the page's own address: one thing of it. */
  item: string | undefined;
  /** Who is signed in. */
  me: { id: string; name: string };
}

/** The console's pages, in the order in which they are offered: `/console/<path>` and `/console/<path>/<item>`. */
export const SECTIONS: readonly { path: string; label: string; Page: ComponentType<PageProps> }[] = [
  { path: "people", label: text.people.title, Page: PeoplePage },
  { path: "keys", label: text.keys.title, Page: KeysPage },
  { path: "channels", label: text.channels.title, Page: ChannelsPage },
  { path: "webhooks", label: text.webhooks.title, Page: WebhooksPage },
  { path: "audit", label: text.audit.title, Page: AuditPage },
  { path: "health", label: text.health.title, Page: HealthPage },
];
