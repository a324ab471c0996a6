import { kindOf } from "../../channels/kinds.ts";

const PUSH =
  "that the person has signed in on the device (parley link) and allowed notifications there (docs/how-to/push.md)";

/** Returns what to look at when a channel reaches nobody. */
export function channelRemedy(channel: string): string {
  return `Check ${channel === "push" ? PUSH : (kindOf(channel)?.remedy ?? "its settings")}.`;
}
