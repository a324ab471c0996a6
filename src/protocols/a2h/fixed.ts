import { leavesOf } from "../../requests/model/audience.ts";
import type { Audience } from "../../requests/model/request.ts";

/** How the hooks of coding agents call what they ask. */
const HOOK_IDS = "claude:";

/** True for what a coding agent's hook asks about. */
export const isOfHook = (callId: string): boolean => callId.startsWith(HOOK_IDS);

/**
 * True where a channel, as it was written, names a person, a group, a target or a channel by its name; without one, where the
 * operator wrote down who is asked.
 */
export function isNamedBy(channel: unknown, audience: Audience): boolean {
  if (channel === undefined) return leavesOf(audience)[0]?.target.via !== "inbox";
  const isName = (at: unknown): boolean => {
    if (typeof at !== "object" || at === null) return false;
    return Object.entries(at).some(
      ([name, one]) => ["human", "channel_id", "webhook"].includes(name) || isName(one as unknown),
    );
  };
  return isName(channel);
}
