/** Contact channels name the people to ask (spec/a2h 7 and 16). */
import { z } from "zod";
import { OUTSIDE_CHANNELS } from "../../channels/kinds.ts";

export const WireContactChannel = z.record(z.string(), z.unknown()).meta({
  id: "ContactChannel",
  description: `The people to ask: inbox, human, channel_id, ${OUTSIDE_CHANNELS.join(", ")}, or any_of, all_of, quorum`,
});
export type WireContactChannel = z.output<typeof WireContactChannel>;

const field = z.object({
  type: z.enum(["string", "boolean", "array"]),
  description: z.string(),
  required: z.boolean(),
});

export const WireChannelFields = z
  .object({
    channels: z.record(z.string(), z.record(z.string(), field)).describe("Its fields, by the name of a channel"),
  })
  .meta({ id: "ChannelFields" });
export type WireChannelFields = z.output<typeof WireChannelFields>;

export const WireChannelError = z
  .object({ path: z.string(), code: z.string(), message: z.string() })
  .meta({ id: "ChannelError" });
export type WireChannelError = z.output<typeof WireChannelError>;

export const WireChannelVerdict = z
  .object({
    valid: z.boolean(),
    errors: z.array(WireChannelError).optional(),
    channel: WireContactChannel.optional(),
  })
  .meta({ id: "ChannelVerdict" });
export type WireChannelVerdict = z.output<typeof WireChannelVerdict>;

export const ChannelToValidateBody = z
  .object({ channel: WireContactChannel.optional() })
  .meta({ id: "ChannelToValidate" });
