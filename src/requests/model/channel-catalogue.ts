import type { Target } from "./request.ts";

/** A way to reach people outside of Parley. */
export const OUTSIDE_CHANNELS = ["slack", "email", "sms", "whatsapp", "webhook"] as const;
export type OutsideChannel = (typeof OUTSIDE_CHANNELS)[number];

/** One documented field of a channel, as `GET /channels` prints it; names are camelCase. */
export interface ChannelField {
  type: "string" | "boolean" | "array";
  description: string;
  required: boolean;
}

/** A problem of a channel by which somebody is reached. */
export interface ChannelProblem {
  /** JSON pointer into the channel, such as `/slack/channel_or_user_id`. */
  path: string;
  code: string;
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
  ): { targets: readonly Target[] } | { errors: readonly ChannelProblem[] };
  /** Asks the provider whether the target exists; returns nothing wrong where it cannot be asked. */
  check(name: OutsideChannel, target: Target, signal: AbortSignal): Promise<readonly ChannelProblem[]>;
}
