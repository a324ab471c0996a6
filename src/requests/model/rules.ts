import type { RecipientRules } from "./recipients.ts";

/** How requests to named people are limited, how long they are kept, and how people are reminded. */
export interface RequestRules {
  createsPerMinute: number;
  pendingPerAgent: number;
  /** The deadline of an approval whose asker names none. */
  approvalTimeoutSeconds: number;
  /** Without an answer for so long, the next of a person's channels is tried. */
  fallbackMs: number;
  /** Messages to one recipient on one channel within an hour; further ones wait, and one message says how many. */
  messagesPerHour: number;
  /** Recipients that one agent writes to within an hour; messages to others wait. */
  recipientsPerHour: number;
  /** How long a request is kept once it is over. */
  keptMs: number;
  /** In a Slack channel without a list of names every full member may approve, not only people who are enrolled. */
  slackMembersApprove: boolean;
  /** For so long a decision that is pressed in the app can be undone; 0 makes it at once. */
  undoMs: number;
  /** For so long a call is allowed that somebody allows for good. */
  grantDays: number;
  /** Who is asked under the name of a group: the ids of its people. */
  groups: ReadonlyMap<string, readonly string[]>;
  recipients: RecipientRules;
}

/** How a group may be called: not as an audience of the relay is, and never as a person's number. */
export const GROUP_NAME = /^(?!(?:team|public)$)[a-z][a-z0-9_-]{0,63}$/;

/** The form in which a request names whom it asks: a human by number, anything else by name (spec/a2h 5.3). */
export const WHOM = /^(\d{1,15}|[a-z][a-z0-9_-]{0,63})$/;

/** As many as may be addressed at once (spec/a2h 12). */
export const MOST_MEMBERS = 25;

export const DEFAULT_ADDRESSED_RULES: RequestRules = {
  createsPerMinute: 600,
  pendingPerAgent: 5000,
  approvalTimeoutSeconds: 259_200,
  fallbackMs: 900_000,
  messagesPerHour: 30,
  recipientsPerHour: 100,
  keptMs: 7 * 86_400_000,
  slackMembersApprove: false,
  undoMs: 5000,
  grantDays: 30,
  groups: new Map(),
  recipients: { whom: null, patterns: [] },
};

/** Requests with at least so much time remind once, at four fifths of it. */
const REMINDED_FROM_S = 600;

/** Returns after how many milliseconds people are reminded, or null for no reminder (spec/a2h 11). */
export function usualReminderMs(timeoutSeconds: number | null): number | null {
  return timeoutSeconds !== null && timeoutSeconds >= REMINDED_FROM_S ? Math.round(timeoutSeconds * 800) : null;
}
