/** The state of the server, as admins see it: its channels, a test message on one, its promises, and its record. */
import { z } from "zod";
import { VIAS } from "../requests/model/request.ts";
import { CHANNELS } from "../channels/kinds.ts";

const orNull = z.string().nullable();
const channel = z.enum(CHANNELS);

export const WireChannelState = z
  .object({
    channel,
    configured: z.boolean(),
    sent_at: orNull,
    failed_at: orNull,
    failed: z.int().describe("Messages that were given up since the last one that was sent."),
    failing_since: orNull.describe("When the first of them was given up."),
    error: orNull.describe("The last error: of a message that was given up, or that will be tried again."),
    retrying: z.int().describe("Messages that failed and will be tried again."),
  })
  .meta({ id: "ChannelState", description: "A way to reach people, and what became of its messages." });
export type WireChannelState = z.output<typeof WireChannelState>;

export const WireChannelReport = z.object({ channels: z.array(WireChannelState) }).meta({ id: "ChannelReport" });
export type WireChannelReport = z.output<typeof WireChannelReport>;

export const WireChannelTest = z
  .object({
    id: z.string(),
    channel,
    person: z.string(),
    state: z.enum(["sending", "retrying", "sent", "failed", "answered", "over"]),
    attempts: z.int(),
    error: orNull,
    via: z.enum(VIAS).nullable(),
  })
  .meta({ id: "ChannelTest" });
export type WireChannelTest = z.output<typeof WireChannelTest>;

export const NewChannelTestBody = z
  .object({
    channel: z.enum(CHANNELS),
    person: z.string().optional(),
  })
  .meta({ id: "NewChannelTest" });
export type NewChannelTestBody = z.output<typeof NewChannelTestBody>;

export const WireHealthReport = z
  .object({
    holds: z.boolean(),
    quick: z.boolean(),
    findings: z.array(
      z.object({
        check: z.string(),
        promise: z.string(),
        offenders: z.array(z.string()).describe("The first rows that break it."),
      }),
    ),
  })
  .meta({ id: "HealthReport" });
export type WireHealthReport = z.output<typeof WireHealthReport>;

export const WireAuditChain = z
  .object({ holds: z.boolean(), entries: z.int(), broken_at: z.int().nullable(), unsealed: z.int() })
  .meta({ id: "AuditChain" });
export type WireAuditChain = z.output<typeof WireAuditChain>;
