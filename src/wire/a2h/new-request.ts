/** The bodies that ask named people, and that answer for them (spec/a2h 5, 9 and 11). */
import { z } from "zod";
import { integer, members } from "../fields.ts";
import { WireContactChannel } from "./channel.ts";
import { text } from "./fields.ts";
import { MOST_OUTCOME_WORDS, REPORTS } from "../../requests/model/call-outcome.ts";

/** The id that an agent gives a request. */
export const CALL_ID = /^[A-Za-z0-9._~:@+=,-]{1,256}$/;
/** The longest words of an agent, in code points. */
export const MOST_WORDS = 40_000;
const MOST_OPTIONS = 25;
const MOST_STEPS = 10;
const LONGEST_S = 2_592_000;

export const NO_CONTROLS = [/\p{Cc}/u, "control characters"] as const;
const ONE_LINE = [/[\r\n]/, "line breaks"] as const;

/** The name that an agent gives to a request. */
export const requestIdField = text({ min: 1, max: 256, pattern: CALL_ID }).describe("Names the request");

/** How long people have, and whether they may ask the agent meanwhile. */
export const newWaitShape = {
  timeout_seconds: integer(10, LONGEST_S).optional(),
  on_timeout: z.enum(["expire", "keep"]).meta({ default: "expire" }).optional(),
  answers_inquiries: z.boolean().describe("The agent answers questions of people who are to decide").optional(),
};

const NewResponseOptionBody = z
  .object({
    name: text({ min: 1, max: 64, without: ONE_LINE }).describe("Comes back with the answer"),
    title: text({ max: 75 }).describe("Label of the button").optional(),
    description: text({ max: 500 }).describe("Help beside the button").optional(),
    prompt_fill: text({ max: 3000 }).describe("Text of the answer, or its start").optional(),
    interactive: z.boolean().optional(),
  })
  .meta({ id: "NewResponseOption" });
export type NewResponseOptionBody = z.output<typeof NewResponseOptionBody>;
export const newOptionsField = z.array(NewResponseOptionBody).max(MOST_OPTIONS);

const escalationWords = text({ min: 1, max: 5000 });

export const NewEscalationBody = z
  .object({
    after_seconds: integer(1, LONGEST_S),
    escalation_msg: escalationWords.describe("Stands first"),
    channel: WireContactChannel,
  })
  .meta({ id: "NewEscalation" });

export const newStepsField = z.array(NewEscalationBody).max(MOST_STEPS);

const channel = WireContactChannel.optional();
export const state = members.describe("The agent's memory; comes back as it is, and people never see it").optional();
export const timingShape = { ...newWaitShape, escalation: newStepsField.optional() };

const namesShape = {
  run_id: text({ min: 1, max: 256, without: NO_CONTROLS }).describe("Groups the requests of one run"),
  call_id: requestIdField,
};

/** The shortest and the longest time for which a prompt may be without a wait. */
const LEASE_S = [20, 600] as const;

const toolName = text({ min: 1, max: 256, without: NO_CONTROLS });
const agentName = text({ min: 1, max: 64, pattern: /^[a-z][a-z0-9-]*$/ });
const use = text({ min: 1, max: 128, without: NO_CONTROLS });
const useDigest = text({ max: 71, pattern: /^sha256:[0-9a-f]{64}$/ });

const agentPrompt = z
  .object({
    agent: agentName.describe("The coding agent whose hook asks"),
    subagent: text({ max: 200, without: NO_CONTROLS }).describe("The agent below it that asks").optional(),
    folder: text({ max: 1000, without: NO_CONTROLS }).describe("The folder from which it asks").optional(),
    use: use
      .describe(
        "Names one use of a tool: while a request of it waits, the same request is that one, whatever its call_id",
      )
      .optional(),
    use_digest: useDigest
      .describe("Over the session, the tool and its input, by which the end of the use finds this request")
      .optional(),
    reads_notes: z.boolean().describe("The hook after a tool gives its agent the notes of people").optional(),
    lease_seconds: integer(...LEASE_S)
      .describe("The request is withdrawn after so long without a wait of its agent")
      .optional(),
  })
  .meta({
    id: "NewAgentPrompt",
    description: "Set by hooks: nobody is added to those who decide about such a request.",
  });
export type NewAgentPrompt = z.output<typeof agentPrompt>;

export const NewFunctionCallBody = z
  .object({
    ...namesShape,
    agent_prompt: agentPrompt.optional(),
    reports: z
      .enum(["start", "end"])
      .describe("The agent claims the call before it runs it and reports its end, or it reports the end alone")
      .optional(),
    spec: z.object({
      fn: toolName.describe("Function to be run"),
      kwargs: members.describe("Its exact arguments"),
      msg: text({ max: MOST_WORDS }).describe("The agent's words, no part of what is approved").optional(),
      channel,
      reject_options: newOptionsField.optional(),
      state,
      ...timingShape,
      editable: z.boolean().optional(),
      kwargs_schema: members.describe("The schema that edited arguments must fit").optional(),
    }),
  })
  .meta({ id: "NewFunctionCall" });

export const NewHumanContactBody = z
  .object({
    ...namesShape,
    agent_prompt: agentPrompt.optional(),
    spec: z.object({
      msg: text({ min: 1, max: MOST_WORDS }).describe("The agent's words"),
      subject: text({ max: 998, without: ONE_LINE }).describe("Title, and subject of a mail").optional(),
      channel,
      response_options: newOptionsField.optional(),
      state,
      ...timingShape,
    }),
  })
  .meta({ id: "NewHumanContact" });

export const NotesGivenBody = z
  .object({
    run_id: namesShape.run_id,
    notes: z
      .array(text({ min: 1, max: 128, without: NO_CONTROLS }))
      .min(1)
      .max(50)
      .describe("Their ids"),
  })
  .meta({ id: "NotesGiven", description: "The agent of a session has these notes of people." });

export const FunctionCallResponseBody = z
  .object({
    approved: z.boolean(),
    comment: text({ max: 5000 }).describe("Why").optional(),
    reject_option_name: text({ max: 64 }).describe("One of those that were offered").optional(),
    kwargs: members.describe("Edited arguments, where the agent allows it").optional(),
    consent_digest: text({ max: 100 })
      .describe("The digest that was shown; it must be that of the arguments that would run")
      .optional(),
  })
  .meta({ id: "FunctionCallResponse" });

export const HumanContactResponseBody = z
  .object({
    response: text({ max: MOST_WORDS }).describe("The answer").optional(),
    response_option_name: text({ max: 64 }).describe("One of those that were offered").optional(),
  })
  .meta({ id: "HumanContactResponse" });

export const CancellationBody = z
  .object({ reason: text({ max: 500 }).describe("Why").optional() })
  .meta({ id: "Cancellation" });

export const InquiryAnswerBody = z
  .object({ text: text({ min: 1, max: 5000 }).describe("The agent's answer") })
  .meta({ id: "InquiryAnswer" });

export const ClaimBody = z
  .object({ run: text({ min: 1, max: 64, without: NO_CONTROLS }).describe("The run that goes on with the decision") })
  .meta({ id: "Claim" });

export const MailEscalationBody = z
  .object({
    escalation_msg: escalationWords.describe("Stands first in the mail"),
    channel: members.describe("Its email member says whom to write to").optional(),
    additional_recipients: z
      .array(
        z.object({
          address: z.string().describe("Mail address"),
          field: z.enum(["to", "cc", "bcc"]).optional(),
        }),
      )
      .optional(),
  })
  .meta({ id: "MailEscalation" });

export const OutcomeBody = z
  .object({
    outcome: z.enum(REPORTS).describe("How the approved call ended; `withdrawn`: it will not be run"),
    result_digest: text({ max: 71, pattern: /^sha256:[0-9a-f]{64}$/ })
      .describe("Of the result of the call")
      .optional(),
    text: text({ max: MOST_OUTCOME_WORDS }).describe("Words for people; secrets are taken out").optional(),
  })
  .meta({ id: "NewCallOutcome", description: "What became of an approved call." });

export const UseOutcomeBody = OutcomeBody.extend({
  agent: agentName.describe("The coding agent in which the use ended"),
  tool: toolName,
  use: use.describe("As in the request of the prompt, where the agent names its uses").optional(),
  use_digest: useDigest.describe("As in the request of the prompt").optional(),
  run_id: text({ min: 1, max: 256, without: NO_CONTROLS })
    .describe("The session, as in the requests of its prompts: the reply has the notes that wait for its agent")
    .optional(),
}).meta({
  id: "NewUseOutcome",
  description: "What became of a use of a tool, whether or not its prompt was approved here.",
});
