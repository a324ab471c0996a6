import type { ChannelField } from "../../channels/kind.ts";
import type { OutsideChannel } from "../../channels/kinds.ts";
import type { Target } from "./request.ts";

/** A problem of a channel by which somebody is reached. */
export interface FieldError {
  /** JSON pointer into the channel, such as `/slack/channel_or_user_id`. */
  path: string;
  code:
    "pattern" | "required" | "type" | "too_long" | "unknown_field" | "channel_unavailable" | "recipient_not_allowed";
  message: string;
}

/** The ways to reach people that are configured on this server, besides the inbox. */
export interface ChannelCatalogue {
  list(): readonly { name: OutsideChannel; fields: Readonly<Record<string, ChannelField>> }[];
  /**
   * Makes targets of what somebody sent, in snake_case and without nulls: the first is whom it names, others are further
   * recipients. Pure; the channel is a configured one.
   */
  parse(
    name: OutsideChannel,
    input: Readonly<Record<string, unknown>>,
  ): { targets: readonly Target[] } | { errors: readonly FieldError[] };
  /** Asks the provider whether the target exists; returns nothing wrong where it cannot be asked. */
  check(name: OutsideChannel, target: Target, signal: AbortSignal): Promise<readonly FieldError[]>;
}
