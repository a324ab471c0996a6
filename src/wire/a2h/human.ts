/** Humans who can be asked, as they travel (spec/a2h 15). */
import { z } from "zod";
import { OUTSIDE_CHANNELS, type OutsideChannel } from "../../channels/kinds.ts";
import { text } from "./fields.ts";
import { wireMoment } from "../time.ts";

const INBOX_SCOPES = ["addressed", "all"] as const;

export const WireHuman = z
  .object({ id: z.string(), name: z.string(), description: z.string().optional() })
  .meta({ id: "Human", description: "A human as agents see one." });
export type WireHuman = z.output<typeof WireHuman>;

const place = z.record(z.string(), z.unknown()).optional();
type Places = Record<"inbox" | OutsideChannel, typeof place>;
const channels = Object.fromEntries(["inbox", ...OUTSIDE_CHANNELS].map((name) => [name, place])) as Places;

export const WireHumanChannel = z.object(channels).meta({
  id: "HumanChannel",
  description: "One way to reach a human: exactly one of these channels, and its fields.",
});
export type WireHumanChannel = z.output<typeof WireHumanChannel>;

export const WireEnrolledHuman = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    role: z.string().optional(),
    inboxScope: z.enum(INBOX_SCOPES),
    prioritizedContactChannels: z.array(WireHumanChannel),
    createdAt: wireMoment,
    updatedAt: wireMoment,
  })
  .meta({ id: "EnrolledHuman", description: "A human as admins see one." });
export type WireEnrolledHuman = z.output<typeof WireEnrolledHuman>;

export const WireAnyHuman = z.union([WireEnrolledHuman, WireHuman]).meta({ id: "AnyHuman" });
export type WireAnyHuman = z.output<typeof WireAnyHuman>;

export const WireHumanPage = z
  .object({ humans: z.array(WireAnyHuman), nextCursor: z.string().optional() })
  .meta({ id: "HumanPage" });
export type WireHumanPage = z.output<typeof WireHumanPage>;

const group = z.object({ name: z.string(), humans: z.array(WireHuman) }).meta({ id: "Group" });

export const WireGroupList = z.object({ groups: z.array(group) }).meta({ id: "GroupList" });
export type WireGroupList = z.output<typeof WireGroupList>;

export const NewHumanBody = z
  .object({
    name: text({ min: 1, max: 200, pattern: /\S/, says: "must not be empty" }).describe("How people are called"),
    prioritizedContactChannels: z.array(WireHumanChannel).min(1).max(10),
    description: text({ max: 2000 }).describe("Agents read it").optional(),
    role: text({ max: 100 }).describe("The person's role").optional(),
    inboxScope: z.enum(INBOX_SCOPES).meta({ default: "addressed" }).optional(),
  })
  .meta({ id: "NewHuman" });
export type NewHumanBody = z.input<typeof NewHumanBody>;

export const HumanChangeBody = NewHumanBody.partial().meta({ id: "HumanChange" });
export type HumanChangeBody = z.input<typeof HumanChangeBody>;
