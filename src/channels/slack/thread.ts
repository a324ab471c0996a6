import type { ThreadContext } from "../channel.ts";
import { threadName, type Wanted } from "./payload.ts";
import type { SlackApp } from "./settings.ts";
import type { SlackTarget } from "./target.ts";

/**
 * Returns what a conversation takes of words: in a channel it is their thread, and in a direct message everything
 * there. A mention in a thread comes a second time as an ordinary message, so it may only begin there.
 */
export function talkIn({ appId }: SlackApp, wanted: Extract<Wanted, { kind: "say" | "address" }>): ThreadContext {
  const { by, words, kind, text } = wanted;
  const { ts, threadTs, direct, marked } = words;
  const root = threadTs ?? ts;
  const thread = direct ? `slack:${by.channel}` : `slack:${threadName(by.channel, root)}`;
  const ofApp = appId === undefined ? {} : { app: appId };
  const target: SlackTarget = direct
    ? { via: "slack", to: by.user, settings: ofApp }
    : { via: "slack", to: by.channel, allowed: [by.user], settings: { ...ofApp, threadTs: root } };
  const event = { from_user_id: by.user, channel_id: by.channel, content: marked || text };
  return {
    at: { channel: "slack", app: appId ?? null },
    begins: kind === "address",
    goesOn: kind === "say" || threadTs === null,
    threads: [thread],
    thread,
    target,
    proved: true,
    source: `slack ${by.channel} ${ts}`,
    raw: {
      thread_ts: root,
      channel_id: by.channel,
      ...(by.team && { team_id: by.team }),
      events: [{ ...event, message_id: ts, message_ts: ts }],
    },
  };
}
