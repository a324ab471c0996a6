import { z } from "zod";
import { text } from "./fields.ts";

const scope = z.enum(["all", "person", "agent"]).describe("Everything, the agents of one person, or one agent");

export const FreezeBody = z
  .object({
    scope,
    agent: text(1, 200)
      .describe("The name of a key, or a principal such as `open:shop-bot`. Needed for `agent`.")
      .optional(),
    person: text(1, 100).describe("The `id` of a person. Left out with `person`, it is whoever asks.").optional(),
    reason: text(0, 500).optional(),
  })
  .meta({ id: "NewFreeze", description: "Whom to freeze, and why." });
export type FreezeBody = z.output<typeof FreezeBody>;

export const WireFreeze = z
  .object({
    id: z.string(),
    scope,
    agent: z.string().nullable().describe("The principal that is frozen; null unless the scope is `agent`"),
    person: z.string().nullable().describe("Whose agents are frozen; null unless the scope is `person`"),
    by: z.string().describe("Who froze: the id of a person, or the name of a key"),
    by_kind: z.enum(["human", "admin", "server"]),
    via: z.string().describe("How it came, such as `web`, `cli`, `email`"),
    reason: z.string().nullable(),
    at: z.string(),
  })
  .meta({ id: "Freeze", description: "Nothing is allowed to whom it covers, and their deadlines stand still." });
export type WireFreeze = z.output<typeof WireFreeze>;

const freezeInForce = WireFreeze.extend({
  by_name: z.string().describe("The name of who froze"),
  person_name: z.string().nullable().describe("The name of the person whose agents are frozen"),
  principals: z
    .array(z.string())
    .describe("The agents that it covers, of those whose asks wait for whoever reads this"),
  may_thaw: z.boolean().describe("Whoever reads this may thaw it"),
}).meta({ id: "FreezeInForce", description: "A freeze, as one of those whose asks or agents it concerns sees it." });

export const WireFreezes = z
  .object({ freezes: z.array(freezeInForce).describe("In force, the oldest first") })
  .meta({ id: "Freezes" });
export type WireFreezes = z.output<typeof WireFreezes>;
