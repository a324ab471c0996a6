import type { Logger } from "pino";
import type { Clock } from "../../lib/clock.ts";
import type { RequestView } from "../../requests/model/view.ts";

/** One Slack app: its token, and what proves that something comes from it. */
export interface SlackApp {
  /** Slack's id of the app; left out, it is not compared. */
  appId?: string | undefined;
  botToken: string;
  signingSecret?: string | undefined;
  appToken?: string | undefined;
}

export interface SlackSettings {
  /** Without it there is no channel. */
  botToken?: string | undefined;
  appToken?: string | undefined;
  signingSecret?: string | undefined;
  defaultUser?: string | undefined;
  /** Further apps, by whose tokens agents may ask. */
  apps: readonly SlackApp[];
  /** On loopback only; left out, Slack's own. */
  apiUrl?: string | undefined;
}

/** The person who used a button, and the message above it, as far as Slack proves them. */
export interface Presser {
  id: string;
  channel: string;
  ts: string;
  member: boolean;
  /** The id of the app that received it, if it is not the operator's own. */
  app?: string;
}

/** The doors to the outside. */
export interface SlackOutside {
  clock: Clock;
  fetch: typeof globalThis.fetch;
  log: Logger;
  /** Returns what an editor for a delivery's ask is filled from, or why this person gets none. */
  openFor(delivery: string, presser: Presser): Promise<{ view: RequestView } | { refused: string }>;
  /** Returns the token that stands behind a reference, if it is still kept. */
  openToken?(reference: string): Promise<string | undefined>;
}
