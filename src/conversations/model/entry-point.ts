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
  sms: boolean;
  whatsapp: boolean;
  inbox: boolean;
  /** Who may begin: enrolled humans, or anyone who finds the way. */
  from: "enrolled" | "anyone";
  /** The schema that answers should fit, as it is sent to the agent. */
  responseSchema: ForeignSchema | null;
}

/** Returns the entry point at a place. */
export function entryAt(points: readonly EntryPoint[], place: InboundThread): EntryPoint | undefined {
  return points.find((point) => {
    switch (place.channel) {
      case "slack":
        return place.app === null ? point.slack === true : point.slack === place.app;
      case "email":
        return point.email !== null && place.addresses.includes(point.email);
      case "sms":
        return point.sms;
      case "whatsapp":
        return point.whatsapp;
      case "inbox":
        return point.inbox && point.name === place.entry;
    }
  });
}

/** Returns the principal that the conversations of an entry point belong to. */
export function principalOfEntry({ agent }: EntryPoint): string {
  return `agent:${agent}`;
}
