import type { ChannelState, Webhook } from "@parley/sdk/admin";
import { moment } from "../moment.ts";
import { useChannels, useEndpoints } from "./queries.ts";
import { text } from "./text.ts";

/** Something that is to reach people or agents, and what it fails with. */
export interface Failure {
  href: string;
  name: string;
  says: string;
}

/** Returns whether the messages of a channel fail: none has been taken since one was given up, or one is tried again. */
export function isFailing({ configured, failed, retrying }: ChannelState): boolean {
  return configured && (failed > 0 || retrying > 0);
}

/** Returns what the deliveries of a webhook fail with, or failed with until it was given up; null where they arrive. */
export function failureOf({ failing_since: since, last_error: error }: Webhook): string | null {
  return since === null ? null : text.webhooks.failing(moment(since), error);
}

/** Lists what does not arrive now: messages to people, and events for agents; undefined until both are read. */
export function useFailures(): { data: readonly Failure[] | undefined; error: unknown } {
  const [channels, webhooks] = [useChannels(), useEndpoints()];
  const error = channels.error ?? webhooks.error;
  if (!channels.data || !webhooks.data) return { data: undefined, error };
  const ways = channels.data.filter(isFailing).map((one) => ({
    href: `/console/channels/${one.channel}`,
    name: text.channel(one.channel),
    says: text.channels.failing(one, one.failing_since && moment(one.failing_since)),
  }));
  const hooks = webhooks.data.flatMap((one) => {
    const says = failureOf(one);
    return says === null ? [] : [{ href: `/console/webhooks/${one.id}`, name: text.webhooks.of(one.agent), says }];
  });
  return { data: [...ways, ...hooks], error };
}
