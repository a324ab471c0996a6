/** Decisions that are repeated instead of asking again, as admins see them (spec/relay 9). */
import { z } from "zod";
import { answerSource } from "./ask.ts";
import { nextField } from "../page.ts";

const orNull = z.string().nullable();

export const WireCachedDecision = z
  .object({
    key: z.string(),
    text: orNull,
    json: z.unknown(),
    role: orNull,
    source: answerSource,
    answered_by: orNull,
    model: orNull,
    hits: z.int(),
    created_at: z.string(),
    expires_at: z.string(),
    last_hit_at: orNull,
  })
  .meta({ id: "CachedDecision", description: "A decision that is repeated, and how often it was." });
export type WireCachedDecision = z.output<typeof WireCachedDecision>;

export const WireDecisionPage = z
  .object({
    decisions: z.array(WireCachedDecision),
    next: nextField,
    count: z.int().describe("How many there are, on all pages."),
  })
  .meta({ id: "DecisionPage" });
export type WireDecisionPage = z.output<typeof WireDecisionPage>;

export const WireForgotten = z.object({ forgotten: z.int() }).meta({ id: "Forgotten" });
export type WireForgotten = z.output<typeof WireForgotten>;
