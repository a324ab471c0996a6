import type { Target } from "./request.ts";

/**
 * Returns whether the requester can read the messages to a target. They are then sent with a bot token that came with
 * the request, or by one of the further Slack apps, whose tokens agents may use. A message there holds nothing that
 * lets its reader decide (spec/channels 2.1).
 */
export function isReadByAsker(target: Target): boolean {
  if (target.via !== "slack") return false;
  const { botToken, app } = settingsOf(target);
  return botToken !== undefined || app !== undefined;
}

/**
 * Returns whether a message to a target is posted by a Slack app: by the one that the operator set up, which is `null`,
 * or by a further one, by its id. Whose token came with a request is not known, and is at most a further one.
 */
export function isPostedBy(target: Target, app: string | null): boolean {
  if (target.via !== "slack") return false;
  const { botToken, app: named } = settingsOf(target);
  return botToken === undefined ? (named ?? null) === app : app !== null;
}

/** Rows of people's channels may hold none. */
function settingsOf({ settings }: Extract<Target, { via: "slack" }>): Readonly<Record<string, unknown>> {
  return (settings as Readonly<Record<string, unknown>> | undefined) ?? {};
}

/** A message on Slack, as the event of a button under it names it. */
export interface SlackMessageRef {
  /** The id of the app that received the event; `null` for the operator's own. */
  app: string | null;
  channel: string;
  ts: string;
}

/** True if the button is under the message posted for a delivery, and the app that posted it received the event. */
export function isPostedAt(
  { target, externalIds }: { target: Target; externalIds: Readonly<Record<string, string>> | null },
  { app, channel, ts }: SlackMessageRef,
): boolean {
  return isPostedBy(target, app) && externalIds?.["channel"] === channel && externalIds["ts"] === ts;
}
