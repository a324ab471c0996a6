import type { Config } from "../../config/config.ts";
import { readPolicy, UnreadableFile } from "../policy/input.ts";

/** Where settings name somebody, such as `people.groups.finance`. */
export interface NamedIn {
  /** No server starts while these name somebody who is not there. */
  refused: string[];
  /** Here whoever is left is asked, or everybody who sees all. */
  passedOver: string[];
}

/** Returns where the settings and the policy file name a person, by number or by exact name. */
export async function namedInSettings(
  config: Pick<Config, "webhookTargets" | "contacts" | "people" | "relayRules" | "relay">,
  { id, name }: { id: string; name: string },
): Promise<NamedIn> {
  const isSettingNamed = (called: unknown) => String(called) === id || called === name;
  const placesIn = <T>(block: Readonly<Record<string, T>> | undefined, path: string, names: (one: T) => boolean) =>
    Object.entries(block ?? {}).flatMap(([key, one]) => (names(one) ? [path.replace("*", key)] : []));
  const { channels, defaultChannel } = config.contacts;
  const { groups } = config.people;
  const usual = config.relayRules.people?.default ?? null;
  return {
    refused: [
      ...placesIn(config.webhookTargets, "webhook_targets.*.humans", ({ humans }) => humans.includes(id)),
      ...placesIn(channels, "a2h.channels.*", (channel) => namesHuman(channel, id)),
      ...(String(defaultChannel) === id || namesHuman(defaultChannel, id) ? ["a2h.default_channel"] : []),
    ],
    passedOver: [
      ...placesIn(groups, "people.groups.*", (members) => members.some(isSettingNamed)),
      ...(usual !== null && isSettingNamed(usual) ? ["relay.people.default"] : []),
      ...(await rulesThatAsk(config.relay.policyFile, isSettingNamed)),
    ],
  };
}

/** True where a channel as it was written, or one inside of it, is a human of this number. */
function namesHuman(channel: unknown, id: string): boolean {
  if (typeof channel !== "object" || channel === null) return false;
  const { human, channel_id: known } = channel as { human?: { id?: unknown } | null; channel_id?: unknown };
  if (String(human?.id) === id || String(known) === id) return true;
  return Object.values(channel).some((inside) => namesHuman(inside, id));
}

async function rulesThatAsk(policyFile: string, isSettingNamed: (called: unknown) => boolean): Promise<string[]> {
  try {
    const { rules } = await readPolicy(policyFile);
    return rules.flatMap(({ to, id, index }) =>
      isSettingNamed(to) ? [`the policy's rule ${id ?? `number ${index + 1}`}`] : [],
    );
  } catch (error) {
    // One that is not there names nobody; parley policy lint reports other problems.
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
}
