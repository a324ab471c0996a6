import type { PhoneChannel } from "../../channels/kinds.ts";
import type { InboundThread } from "../../requests/model/inbound-message.ts";
import type { ForeignSchema } from "../../requests/model/request.ts";

/** Where people may begin a conversation with an agent, as the operator wrote it down. */
export interface EntryPoint {
  name: string;
  /** The name its agent's keys were issued for. */
  agent: string;
  /** For the people who choose it in the inbox. */
  about: string | null;
  /** True for the Slack app that asks people; the id of another configured app. */
  slack: boolean | string;
  /** Mail to this address, in lower case. */
  email: string | null;
  /** The channels to telephones on which people may begin. */
  phones: readonly PhoneChannel[];
  inbox: boolean;
  /** Who may begin: enrolled humans, or anyone who finds the way. */
  from: "enrolled" | "anyone";
  /** The schema that answers should fit, as it is sent to the agent. */
  responseSchema: ForeignSchema | null;
}

/** Returns the entry point at a place. */
export function entryAt(points: readonly EntryPoint[], place: InboundThread): EntryPoint | undefined {
  return points.find((point) => {
    if (place.channel === "inbox") return point.inbox && point.name === place.entry;
    if (place.channel === "slack") return point.slack === (place.app ?? true);
    if (place.channel === "email") return point.email !== null && place.addresses.includes(point.email);
    return point.phones.includes(place.channel);
  });
}

/** Returns the principal that the conversations of an entry point belong to. */
export function principalOfEntry({ agent }: EntryPoint): string {
  return `agent:${agent}`;
}
