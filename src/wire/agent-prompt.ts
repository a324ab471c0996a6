/** The coding agents whose permission prompts people answer: which of them are connected, and their newest prompts. */
import { z } from "zod";
import { wireMoment } from "./time.ts";

/** The ways in which a prompt can stand: it waits, or it is over. */
const PROMPT_OUTCOMES = ["waiting", "approved", "rejected", "answered", "expired", "withdrawn"] as const;

export const WireLastPrompt = z
  .object({
    at: wireMoment,
    tool: z.string().nullable().describe("Null for a question of the agent's model."),
    sentence: z.string().describe("One line about the call or the question, with secrets masked."),
    asked_by: z.string().describe("The name of the key that asked, or the agent's own name where it showed none."),
    outcome: z.enum(PROMPT_OUTCOMES),
    by: z.string().nullable().describe("Whose decision it was; a rule is named as one."),
    settled_at: wireMoment.nullable(),
  })
  .meta({ id: "LastPrompt", description: "The newest permission prompt of a coding agent." });
export type WireLastPrompt = z.output<typeof WireLastPrompt>;

export const WireOwnPrompt = z.object({ last_prompt: WireLastPrompt.nullable() }).meta({ id: "OwnPrompt" });
export type WireOwnPrompt = z.output<typeof WireOwnPrompt>;

export const WireAgentState = z
  .object({
    agent: z.string().describe("Its word in commands."),
    title: z.string(),
    here: z.boolean().describe("It is in use on the server's computer, under the user who runs the server."),
    hook: z.boolean().nullable().describe("Its configuration there has the hook; null where that cannot be read."),
    last_prompt: WireLastPrompt.nullable(),
  })
  .meta({ id: "AgentState" });
export type WireAgentState = z.output<typeof WireAgentState>;

export const WireAgentReport = z.object({ agents: z.array(WireAgentState) }).meta({ id: "AgentReport" });
export type WireAgentReport = z.output<typeof WireAgentReport>;
