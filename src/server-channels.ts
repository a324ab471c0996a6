import type { Channel } from "./channels/channel.ts";
import { emailChannel } from "./channels/email/email.ts";
import { slackChannel } from "./channels/slack/slack.ts";
import { twilioChannels } from "./channels/twilio/twilio.ts";
import { webhookChannel } from "./channels/webhook/webhook.ts";
import type { Config } from "./config.ts";
import type { Context } from "./context.ts";
import type { GuardedFetch } from "./lib/guarded-fetch.ts";
import type { ChannelCatalogue, OutsideChannel } from "./model/channel-catalogue.ts";
import { findSecret } from "./store/sealed-secrets.ts";
import { knownBy } from "./verbs/hear.ts";
import { openEditor } from "./verbs/open-editor.ts";
import { phoneMemory } from "./verbs/phone-memory.ts";

/** Told of a message that will never arrive. */
export type OnFailed = (deliveryId: string, code: string) => Promise<void>;

/** Returns every channel that is configured; what is not is inert. */
export function openChannels(
  ctx: Context,
  config: Config,
  { onFailed, guardedFetch }: { onFailed: OnFailed; guardedFetch: GuardedFetch },
): Channel[] {
  const { clock, fetch, log } = ctx;
  const slack = slackChannel(config.slack, {
    ...{ clock, fetch, log },
    async openFor(delivery, { id, channel, member }) {
      if (!member) return { refused: "You were not asked." };
      const slackMember = { channel, mayApprove: ctx.addressed.slackMembersApprove };
      return openEditor(ctx, delivery, await knownBy(ctx.db, "slack", { kind: "slack", value: id }, { slackMember }));
    },
    openToken: async (reference) => (await findSecret(ctx.db, ctx.keyring, reference)) ?? undefined,
  });
  const entries = config.addressed.entryPoints.flatMap(({ email: at }) => (at === null ? [] : [at]));
  const email = emailChannel({ ...config.email, entries }, { clock, log, onFailed });
  const phones = twilioChannels(
    { ...config.twilio, publicUrl: config.callableUrl },
    {
      ...{ fetch, onFailed },
      now: () => clock.now(),
      memory: phoneMemory(ctx),
    },
  );
  const webhook = webhookChannel(config.webhookTargets ?? {}, {
    guardedFetch,
    now: () => clock.now(),
    publicUrl: () => config.publicUrl,
  });
  return [slack, email, ...phones, webhook].filter((channel) => channel !== undefined) as Channel[];
}

/** Returns what doors may know of the channels. */
export function catalogueOf(channels: ReadonlyMap<string, Channel>): ChannelCatalogue {
  const one = (name: OutsideChannel): Channel => {
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
