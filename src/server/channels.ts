import type { WebhookDestination } from "../channels/webhook/destination.ts";
import type { Channel } from "../channels/channel.ts";
import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import { openGuardedFetch, type GuardedFetch } from "../lib/network/guarded-fetch.ts";
import { openDeliver, type Deliver } from "../requests/loops/deliver.ts";
import type { RequestRules } from "../requests/model/rules.ts";
import type { ChannelCatalogue } from "../requests/model/channel-catalogue.ts";
import { findSecret } from "../core/store/sealed-secrets.ts";
import { knownBy } from "../requests/inbound/sender.ts";
import { openEditor } from "../requests/read/open-editor.ts";
import { phoneMemory } from "../requests/inbound/phone-memory.ts";

/** Receives a message that will never arrive. */
type OnFailed = Deliver["bounced"];

/** The ways to reach people, and what sends by them. */
export interface OpenedDelivery {
  /** By name, in the order in which they were opened. */
  channels: ReadonlyMap<string, Channel>;
  deliver: Deliver;
  /** Reaches the addresses that others gave, and no address that the settings keep them from. */
  guardedFetch: GuardedFetch;
}

/** Opens every channel that is configured, and the `others`. `settings` is read again each time: it settles late. */
export async function openDelivery(
  ctx: Context,
  settings: Config,
  others: readonly Channel[],
): Promise<OpenedDelivery> {
  const channels = new Map<string, Channel>();
  const deliver = openDeliver(ctx, { channels, publicUrl: () => settings.publicUrl });
  const guardedFetch = openGuardedFetch(() => ({
    allow: settings.webhooks.allow,
    loopbackOnly: settings.loopbackOnly,
  }));
  const configured = await openChannels(ctx, settings, { onFailed: deliver.bounced, guardedFetch });
  for (const channel of [...configured, ...others]) channels.set(channel.name, channel);
  return { channels, deliver, guardedFetch };
}

/** Returns every channel that is configured; what is not is inert, and not loaded. */
async function openChannels(
  ctx: Context,
  config: Config,
  { onFailed, guardedFetch }: { onFailed: OnFailed; guardedFetch: GuardedFetch },
): Promise<Channel[]> {
  const { clock, fetch, log } = ctx;
  const now = () => clock.now();
  const opened: (Channel | undefined)[] = [];
  if (config.slack.botToken) opened.push(await openSlack(ctx, config));
  if (config.email.smtpUrl) {
    const { emailChannel } = await import("../channels/email/email.ts");
    const entries = config.conversations.entryPoints.flatMap(({ email: at }) => (at === null ? [] : [at]));
    const outside = { clock, log, onFailed };
    opened.push(emailChannel({ ...config.email, entries }, outside) as Channel | undefined);
  }
  if (config.twilio.accountSid) {
    const { twilioChannels } = await import("../channels/twilio/twilio.ts");
    const settings = { ...config.twilio, publicUrl: config.callableUrl };
    const onTextFailed = (delivery: string, code: string) => onFailed({ delivery }, code);
    const phones = twilioChannels(settings, { fetch, onFailed: onTextFailed, now, memory: phoneMemory(ctx) });
    opened.push(...(phones as Channel[]));
  }
  if (config.webhookTargets) {
    const { webhookChannel } = await import("../channels/webhook/webhook.ts");
    const publicUrl = () => config.publicUrl;
    const targets = withGroups(config.webhookTargets, ctx.addressed);
    opened.push(webhookChannel(targets, { guardedFetch, now, publicUrl }) as Channel | undefined);
  }
  return opened.filter((channel) => channel !== undefined);
}

/** Returns the targets, each with the people of its groups in their place. Groups are read after channels are opened. */
function withGroups(
  targets: NonNullable<Config["webhookTargets"]>,
  { groups }: Pick<RequestRules, "groups">,
): Record<string, WebhookDestination> {
  const one = ({ url, secret, humans }: (typeof targets)[string]): WebhookDestination => ({
    url,
    secret,
    get humans() {
      return [...new Set(humans.flatMap((human) => groups.get(human) ?? human))];
    },
  });
  return Object.fromEntries(Object.entries(targets).map(([name, target]) => [name, one(target)]));
}

async function openSlack(ctx: Context, config: Config): Promise<Channel | undefined> {
  const { slackChannel } = await import("../channels/slack/slack.ts");
  const { clock, fetch, log } = ctx;
  return slackChannel(config.slack, {
    clock,
    fetch,
    log,
    async openFor(delivery, { id, channel, ts, member, app = null }) {
      if (!member) return { refused: "You were not asked." };
      const slackMember = { channel, mayApprove: ctx.addressed.slackMembersApprove };
      const by = await knownBy(ctx.db, "slack", { kind: "slack", value: id }, { slackMember });
      return openEditor(ctx, { delivery, app, channel, ts }, by);
    },
    openToken: async (reference) => (await findSecret(ctx.db, ctx.keyring, reference)) ?? undefined,
  }) as Channel | undefined;
}

/** Returns what doors may know of the channels. */
export function catalogueOf(channels: ReadonlyMap<string, Channel>): ChannelCatalogue {
  const one = (name: string): Channel => {
    const channel = channels.get(name);
    if (!channel) throw new Error(`${name} is not configured`);
    return channel;
  };
  return {
    list: () => [...channels.values()].flatMap(({ name, fields }) => (name === "push" ? [] : [{ name, fields }])),
    parse(name, input) {
      const parsed = one(name).parse(input);
      if ("errors" in parsed) return parsed;
      return { targets: [parsed.target, ...(parsed.others ?? [])] as never };
    },
    check: async (name, target, signal) => (await one(name).check?.(target, signal)) ?? [],
  };
}
