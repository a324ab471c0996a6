/** Bodies of the list of programs that ask, for admins. */
import { z } from "zod";
import { wireMoment } from "./time.ts";

const WireAskingAgent = z
  .object({
    principal: z.string(),
    name: z.string().describe("As people see it."),
    asked_at: wireMoment.nullable().describe("When it asked last, people or the crowd; null where it never did."),
    waiting: z.int().describe("Its requests to people that are open."),
    questions: z.int().describe("Its questions to the crowd that are open."),
    newest: z
      .object({
        of: z.int().describe("How many of its newest requests are counted: at most 100."),
        approved: z.int(),
        rejected: z.int().describe("By people or a rule, not by a deadline."),
        median_wait_ms: z.int().nullable().describe("Of those that were answered."),
      })
      .describe("How its newest requests to people ended."),
    frozen: z.boolean(),
    keys: z.array(z.object({ id: z.string(), used_at: wireMoment.nullable() })).describe("Its live keys."),
    grants: z.int().describe("Its permanent permissions."),
  })
  .meta({ id: "AskingAgent", description: "A program that asks, or holds a key for it." });

export const WireAskingAgentPage = z
  .object({ at: wireMoment, agents: z.array(WireAskingAgent), next: z.string().nullable() })
  .meta({ id: "AskingAgentPage", description: "Programs that ask, by name." });
export type WireAskingAgentPage = z.output<typeof WireAskingAgentPage>;
