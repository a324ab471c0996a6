/** The bodies that ask named people, and that answer for them (spec/a2h 5, 9 and 11), as the reference shows them: the door checks by itself. */
import { z } from "zod";
import { WireContactChannel } from "./channel.ts";

/** The id that an agent gives a request. */
export const CALL_ID = /^[A-Za-z0-9._~:@+=,-]{1,256}$/;

const members = z.record(z.string(), z.unknown());
const text = (description: string, most: number) => z.string().max(most).describe(description);

/** The name that an agent gives to a request. */
export const requestIdField = z.string().max(256).regex(CALL_ID).describe("Names the request");

/** How long people have. */
export const newTimeoutShape = {
  timeout_seconds: z.int().min(10).max(2_592_000).optional(),
  on_timeout: z.enum(["expire", "keep"]).default("expire"),
};

const NewResponseOptionBody = z
  .object({
    name: text("Comes back with the answer", 64),
    title: text("Label of the button", 75).optional(),
    description: text("Help beside the button", 500).optional(),
    prompt_fill: text("Text of the answer, or its start", 3000).optional(),
    interactive: z.boolean().optional(),
  })
  .meta({ id: "NewResponseOption" });

const NewEscalationBody = z
  .object({ after_seconds: z.int(), channel: WireContactChannel, escalation_msg: text("Stands first", 5000) })
  .meta({ id: "NewEscalation" });

const askedShape = {
  channel: WireContactChannel.optional(),
  state: members.describe("The agent's memory; comes back as it is, and people never see it").optional(),
  ...newTimeoutShape,
  escalation: z.array(NewEscalationBody).max(10).optional(),
};

const namesShape = { run_id: text("Groups the requests of one run", 256), call_id: requestIdField };

export const NewFunctionCallBody = z
  .object({
    ...namesShape,
    spec: z.object({
      fn: text("Function to be run", 256),
      kwargs: members.describe("Its exact arguments"),
      msg: text("The agent's words, no part of what is approved", 40_000).optional(),
      reject_options: z.array(NewResponseOptionBody).max(25).optional(),
      ...askedShape,
      editable: z.boolean().optional(),
      kwargs_schema: members.describe("The schema that edited arguments must fit").optional(),
    }),
  })
  .meta({ id: "NewFunctionCall" });

export const NewHumanContactBody = z
  .object({
    ...namesShape,
    spec: z.object({
      msg: text("The agent's words", 40_000),
      subject: text("Title, and subject of a mail", 998).optional(),
      response_options: z.array(NewResponseOptionBody).max(25).optional(),
      ...askedShape,
    }),
  })
  .meta({ id: "NewHumanContact" });

export const FunctionCallResponseBody = z
  .object({
    approved: z.boolean(),
    comment: text("Why", 5000).optional(),
    reject_option_name: text("One of those that were offered", 64).optional(),
    kwargs: members.describe("Edited arguments, where the agent allows it").optional(),
    consent_digest: z
      .string()
      .describe("The digest that was shown; it must be that of the arguments that would run")
      .optional(),
  })
  .meta({ id: "FunctionCallResponse" });

export const HumanContactResponseBody = z
  .object({
    response: text("The answer", 40_000).optional(),
    response_option_name: text("One of those that were offered", 64).optional(),
  })
  .meta({ id: "HumanContactResponse" });

export const CancellationBody = z.object({ reason: text("Why", 500).optional() }).meta({ id: "Cancellation" });

export const MailEscalationBody = z
  .object({
    escalation_msg: text("Stands first in the mail", 5000),
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
