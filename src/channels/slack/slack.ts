import { type Channel, DeliveryError, type FieldError } from "../channel.ts";
import { checkInstalled } from "../../lib/installed.ts";
import { escaped } from "./blocks.ts";
import { openInbound } from "./inbound.ts";
import { isSlackUser, slack } from "./kind.ts";
import { openMembers } from "./members.ts";
import { askMessage, closedMessage, type Message, WHOLE_LIMIT } from "./message.ts";
import { threadName } from "./payload.ts";
import type { SlackApp, SlackOutside, SlackSettings } from "./settings.ts";
import { aborted, keepSocket } from "./socket.ts";
import { parseTarget, type SlackTarget } from "./target.ts";
import { at, type SlackCall, openCalls, textAt } from "./web.ts";

/** Slack's libraries, which an installation may leave out (`npm ci --omit=optional`). */
const PACKAGES = ["@slack/web-api", "@slack/socket-mode"] as const;

/** Nothing in a text is made into a link, a mention or a preview. */
const AS_IT_IS = { unfurl_links: false, unfurl_media: false, parse: "none", link_names: false };

/**
 * Returns the Slack channel (spec/channels 5.3), or nothing while there is no bot token: then it is inert.
 *
 * Slack's own libraries are loaded when something is sent or listened to. Buttons are offered only where a press can be
 * received: by an app whose signing secret or app token is configured.
 *
 * @throws {Error} one sentence for the operator, where Slack's libraries are not installed
 */
export function slackChannel(settings: SlackSettings, outside: SlackOutside): Channel<SlackTarget> | undefined {
  const { botToken: mainToken, appToken, signingSecret } = settings;
  if (!mainToken) return undefined;
  checkInstalled("Slack is configured", PACKAGES);
  const apps: readonly SlackApp[] = [{ botToken: mainToken, appToken, signingSecret }, ...settings.apps];
  const call = openCalls(settings, outside);
  const inbound = openInbound(apps, call, openMembers(call, outside), outside);
  const sockets = apps.flatMap((app) => (app.appToken ? [{ app, appToken: app.appToken }] : []));

  const posts = openPosts(call, openTokens(apps, outside));

  return {
    name: "slack",
    via: "slack",
    fields: slack.fields,
    wholeLimit: WHOLE_LIMIT,
    parse: (input) => parseTarget(input, settings.defaultUser),
    ...posts,
    inbound: {
      hooks: inbound.hooks,
      async listen(receive, signal) {
        const listening = sockets.map(({ app, appToken: token }) =>
          keepSocket(token, (payload) => inbound.take(app, payload, receive), { settings, outside, signal }),
        );
        await Promise.all([aborted(signal), ...listening]);
        await inbound.settled();
      },
    },
  };
}

/** The token that sends a message, and whether its buttons reach this server. */
interface Tokens {
  /** @throws {DeliveryError} when the token that came with the request is gone */
  tokenFor(target: SlackTarget): Promise<string>;
  receivesReplies(token: string): boolean;
}

/** The first of the apps is the default sender. */
function openTokens(apps: readonly SlackApp[], outside: SlackOutside): Tokens {
  const mainToken = apps[0]?.botToken ?? "";
  return {
    async tokenFor({ settings: { botToken: reference, app: appId } }) {
      if (appId !== undefined) return apps.find((app) => app.appId === appId)?.botToken ?? mainToken;
      if (reference === undefined) return mainToken;
      const token = await outside.openToken?.(reference);
      if (token === undefined) {
        throw new DeliveryError("The bot token is not kept any more", { retry: false, providerCode: "no_token" });
      }
      return token;
    },
    receivesReplies: (token) =>
      apps.some((app) => app.botToken === token && Boolean(app.signingSecret ?? app.appToken)),
  };
}

/** Returns the functions that call Slack's Web API: they check a recipient, send, close and reply. */
function openPosts(
  call: SlackCall,
  { tokenFor, receivesReplies }: Tokens,
): Required<Pick<Channel<SlackTarget>, "check" | "send" | "close" | "tell">> {
  const placeOf = async (token: string, { to }: SlackTarget, signal: AbortSignal): Promise<string> =>
    isSlackUser(to) ? textAt(await call(token, "conversations.open", { users: to }, signal), "channel", "id") : to;
  return {
    async check(target, signal) {
      // A token that comes with a request is kept when the request is, and not for looking.
      if (target.settings.botToken !== undefined) return [];
      const path = "/slack/channel_or_user_id";
      try {
        const token = await tokenFor(target);
        const says = isSlackUser(target.to)
          ? cannotAsk(at(await call(token, "users.info", { user: target.to }, signal), "user"))
          : cannotPost(at(await call(token, "conversations.info", { channel: target.to }, signal), "channel"));
        return says === null ? [] : [{ path, code: "recipient_not_allowed", message: says }];
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error;
        return failedCheck(error, path);
      }
    },

    async send(notice, signal) {
      const { target } = notice;
      const token = await tokenFor(target);
      const channel = await placeOf(token, target, signal);
      const { threadTs } = target.settings;
      const args = {
        channel,
        ...wireOf(askMessage(notice, receivesReplies(token))),
        metadata: { event_type: "parley_ask", event_payload: { delivery: notice.delivery } },
        ...(threadTs !== undefined && { thread_ts: threadTs }),
      };
      return { externalIds: postedAs(await call(token, "chat.postMessage", args, signal), channel, threadTs) };
    },

    async close(target, { externalIds: { channel, ts } }, closing, signal) {
      if (channel === undefined || ts === undefined) return;
      const token = await tokenFor(target);
      const args = { channel, ts, ...wireOf(closedMessage(closing.view, closing, target)) };
      await call(token, "chat.update", args, signal);
    },

    async tell(target, { externalIds: { channel, ts, threadTs } }, words, signal) {
      const token = await tokenFor(target);
      const reply = wireOf({ text: escaped(words) });
      const place =
        channel === undefined || ts === undefined
          ? { channel: await placeOf(token, target, signal) }
          : { channel, thread_ts: threadTs ?? ts };
      await call(token, "chat.postMessage", { ...place, ...reply }, signal);
    },
  };
}

/** Returns what a posted message is known by. @throws {DeliveryError} where Slack did not say it */
function postedAs(posted: unknown, channel: string, threadTs: string | undefined): Readonly<Record<string, string>> {
  const ts = textAt(posted, "ts");
  if (channel === "" || ts === "") {
    throw new DeliveryError("Slack did not say where it posted", { retry: true, providerCode: "unreadable_reply" });
  }
  const team = textAt(posted, "message", "team");
  const thread = threadName(channel, threadTs ?? ts);
  return { channel, ts, thread, ...(threadTs && { threadTs }), ...(team && { team }) };
}

function wireOf(message: Message): Record<string, unknown> {
  // Without blocks the text is the message: no asterisk in it is bold.
  return { ...AS_IT_IS, ...message, ...(!message.blocks && { mrkdwn: false }) };
}

function cannotAsk(user: unknown): string | null {
  if (at(user, "deleted") === true) return "This Slack account is deactivated.";
  return at(user, "is_bot") === true ? "This is a bot; name a person or a channel." : null;
}

function cannotPost(channel: unknown): string | null {
  if (at(channel, "is_archived") === true) return "This Slack channel is archived.";
  const isOpen = at(channel, "is_im") === true || at(channel, "is_member") === true;
  return isOpen ? null : "The app is not in this Slack channel; invite it there.";
}

/** Returns the error of a failed check; no error where the app only lacks the permission to look. */
function failedCheck({ providerCode, retry }: DeliveryError, path: string): FieldError[] {
  if (providerCode === "missing_scope") return [];
  if (providerCode === "user_not_found" || providerCode === "channel_not_found") {
    const message = "Slack knows no such ID, or the app is not let near it.";
    return [{ path, code: "recipient_not_allowed", message }];
  }
  const message = retry ? "Slack could not be asked just now." : "Slack does not accept the app's token.";
  return [{ path, code: "channel_unavailable", message }];
}
