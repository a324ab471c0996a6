import { type Entered, type Purpose, purposeOf, readEntered } from "./modal.ts";
import { at, textAt } from "./web.ts";

/** The person who acted, and the place. */
export interface By {
  user: string;
  /** The workspace that the person belongs to, as Slack says. */
  team: string;
  channel: string;
  threadTs?: string;
}

/** A person's action, read from a payload whose origin is proved. `id` is the same when Slack sends it again. */
export type Wanted =
  /** `ts` is of the message whose button was used. */
  | {
      kind: "press";
      by: By;
      id: string;
      delivery: string;
      ts: string;
      does: { kind: "approve" } | Purpose;
      trigger: string;
    }
  | { kind: "enter"; by: By; id: string; entered: Entered }
  | { kind: "say"; by: By; id: string; thread: string; text: string; words: SlackMessageText }
  /** Somebody speaks to the app: by a mention, or in a direct message. */
  | { kind: "address"; by: By; id: string; thread: string; text: string; words: SlackMessageText };

/** Words as they stand on Slack. */
export interface SlackMessageText {
  ts: string;
  /** The first message of their thread, where they stand in one. */
  threadTs: string | null;
  /** In a direct message with the app. */
  direct: boolean;
  /** With Slack's own marks. */
  marked: string;
}

const DELIVERY = /^[\w-]{1,64}$/;
/** Messages of people that are no ordinary ones, and yet are words. */
const SUBTYPES: ReadonlySet<string> = new Set(["", "file_share", "thread_broadcast"]);

/** Returns what a payload of the Events API or of an interaction wants; nothing where it is not for us. */
export function readPayload(payload: unknown): Wanted | null {
  switch (textAt(payload, "type")) {
    case "block_actions":
      return readPress(payload);
    case "view_submission":
      return readSubmission(payload);
    case "event_callback":
      return readEvent(payload);
    default:
      return null;
  }
}

/** Returns the name of a thread: what a message there is matched by. */
export function threadName(channel: string, ts: string): string {
  return `${channel}/${ts}`;
}

function presserOf(payload: unknown, channel: string): By {
  const team = textAt(payload, "user", "team_id") || textAt(payload, "team", "id");
  return { user: textAt(payload, "user", "id"), team, channel };
}

function readPress(payload: unknown): Wanted | null {
  const action = at(payload, "actions", 0);
  const value = textAt(action, "value") || textAt(action, "selected_option", "value");
  const [delivery = "", index] = value.split(":");
  const name = textAt(action, "action_id") === "parley:options" ? `parley:opt:${index}` : textAt(action, "action_id");
  const does = name === "parley:approve" ? ({ kind: "approve" } as const) : purposeOf(name);
  const channel = textAt(payload, "container", "channel_id") || textAt(payload, "channel", "id");
  const by = presserOf(payload, channel);
  const actionTs = textAt(action, "action_ts");
  const ts = textAt(payload, "container", "message_ts");
  if (!does || !DELIVERY.test(delivery) || !by.user || !actionTs) return null;
  const id = `action ${actionTs} ${by.user}`;
  return { kind: "press", by, id, delivery, ts, does, trigger: textAt(payload, "trigger_id") };
}

function readSubmission(payload: unknown): Wanted | null {
  const entered = readEntered(at(payload, "view"));
  const view = textAt(payload, "view", "id");
  if (!entered || !DELIVERY.test(entered.delivery) || !view) return null;
  const by = presserOf(payload, entered.channel);
  return by.user ? { kind: "enter", by, id: `view ${view}`, entered } : null;
}

function readEvent(payload: unknown): Wanted | null {
  const event = at(payload, "event");
  const [type, channel, ts, user] = ["type", "channel", "ts", "user"].map((key) => textAt(event, key));
  if (!channel || !ts || !user || at(event, "bot_id") !== undefined) return null;
  const team = textAt(event, "user_team") || textAt(event, "team") || textAt(payload, "team_id");
  const threadTs = textAt(event, "thread_ts");
  const by: By = { user, team, channel, ...(threadTs && { threadTs }) };
  const marked = textAt(event, "text");
  const text = readText(marked);
  const direct = textAt(event, "channel_type") === "im";
  // A file without words is heard where words would be: its person learns that nothing was understood.
  if (threadTs === ts || (text === "" && !hasFiles(event))) return null;
  const words: SlackMessageText = { ts, threadTs: threadTs || null, direct, marked };
  const id = `event ${textAt(payload, "event_id") || `${channel} ${ts}`}`;
  const message = { by, id, thread: threadName(channel, threadTs || ts), text, words };
  if (type === "app_mention") return { kind: "address", ...message };
  if (type !== "message" || !SUBTYPES.has(textAt(event, "subtype"))) return null;
  if (threadTs) return { kind: "say", ...message };
  return direct ? { kind: "address", ...message } : null;
}

function hasFiles(event: unknown): boolean {
  const files = at(event, "files");
  return Array.isArray(files) && files.length > 0;
}

/** Returns what a person wrote, without what Slack adds to it: marks of links, a mention in front, a fence around all. */
function readText(marked: string): string {
  const bare = marked
    .replace(/^\s*<@[UW][A-Z0-9]+(\|[^>]*)?>[,:]?/, "")
    .replace(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, what: string, label?: string) => readMark(what, label?.trim() ?? ""))
    .trim();
  const [, fenced] = /^```([^]*)```$/.exec(bare) ?? [];
  return (fenced ?? bare).replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&").trim();
}

/** Returns the words for a mark of Slack's: a mention, a date, or a link, with its address where the label is another. */
function readMark(what: string, label: string): string {
  const [, sign = "", id = ""] = /^([@#!])(.*)$/.exec(what) ?? [];
  if (sign === "!" && /^date\^/.test(id)) return label || id;
  if (sign === "#") return `#${label.replace(/^#/, "") || id}`;
  if (sign !== "") return `@${label.replace(/^@/, "") || id.replace(/^subteam\^/, "")}`;
  const address = what.replace(/^(?:mailto|tel):/i, "");
  if (label === "") return address;
  // Slack makes a link of what looks like an address, and keeps what was typed as its label.
  return shortened(label) === shortened(address) ? label : `${label} (${address})`;
}

function shortened(address: string): string {
  return address
    .replace(/^https?:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();
}
