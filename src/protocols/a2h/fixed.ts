import { leavesOf } from "../../requests/model/audience.ts";
import type { Audience, Request } from "../../requests/model/request.ts";
import { TOOL_DOOR } from "../http/tool-request.ts";
import { writtenOf } from "./written.ts";

/**
 * True for a request to which whoever asked adds nobody who decides: it came by a hook or a tool, it names a person, a group
 * or a channel by its name, or it asks whom the operator wrote down.
 */
export function isFixed(request: Request): boolean {
  if (request.door === TOOL_DOOR || request.promptOf !== undefined) return true;
  const { channel } = JSON.parse(writtenOf(request).spec) as { channel?: unknown };
  return isNamedBy(channel, request.audience);
}

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
