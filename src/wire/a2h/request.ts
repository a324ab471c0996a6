/** Requests to named people, and their decisions (spec/a2h 5). The door checks the bodies that come in. */
import { z } from "zod";
import { CALL_OUTCOME_STATES } from "../../requests/model/call-outcome.ts";
import { VIAS } from "../../requests/model/request.ts";
import { WireContactChannel } from "./channel.ts";
import { wireMoment } from "../time.ts";

const members = z.record(z.string(), z.unknown());
const via = z.enum(VIAS);

export const WireResponseOption = z
  .object({
    name: z.string().describe("Comes back with the decision"),
    title: z.string().describe("The label that people see; the name where it is left out").optional(),
    description: z.string().optional(),
    prompt_fill: z.string().describe("The text of the answer, or its start").optional(),
    interactive: z.boolean().optional(),
  })
  .meta({ id: "ResponseOption", description: "A ready-made way to reject, or to answer." });
export type WireResponseOption = z.output<typeof WireResponseOption>;

export const WireResponder = z
  .object({
    id: z.string().optional(),
    name: z.string(),
    role: z.string().optional(),
    email: z.string().optional(),
    via,
    enrolled: z
      .boolean()
      .describe("False: nobody that the operator has enrolled, but somebody at an address that the request named")
      .optional(),
  })
  .meta({
    id: "Responder",
    description: "Who decided or answered; of people no more than how the agent may know them.",
  });
export type WireResponder = z.output<typeof WireResponder>;

export const WireSlackContext = z
  .object({
    team_id: z.string().optional(),
    channel_id: z.string().optional(),
    user_id: z.string().optional(),
    message_ts: z.string().optional(),
    thread_ts: z.string().optional(),
  })
  .meta({ id: "SlackContext", description: "Where it was answered, if that was on Slack." });
export type WireSlackContext = z.output<typeof WireSlackContext>;

export const WireRequestDelivery = z
  .object({ via: z.string(), state: z.enum(["queued", "sent", "failed"]), at: wireMoment })
  .meta({ id: "RequestDelivery" });
export type WireRequestDelivery = z.output<typeof WireRequestDelivery>;

export const WireFailedValidation = z
  .object({
    at: wireMoment,
    via,
    responder: z.object({ name: z.string() }),
    reason: z.string(),
    input: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    attempts: z.int().optional(),
  })
  .meta({
    id: "FailedValidation",
    description: "An answer that did not count, such as one that does not fit the schema.",
  });
export type WireFailedValidation = z.output<typeof WireFailedValidation>;

export const WireApproval = z
  .object({
    user_info: WireResponder.optional(),
    approved: z.boolean().optional(),
    comment: z.string().optional(),
    at: wireMoment,
    consent_digest: z.string().optional(),
  })
  .meta({ id: "Approval", description: "One approval, where several people have to agree." });
export type WireApproval = z.output<typeof WireApproval>;

export const WireInquiry = z
  .object({
    id: z.string().describe("Answered by `POST /inquiries/ID/answer`"),
    text: z.string(),
    user_info: WireResponder.describe("Who asked"),
    at: wireMoment,
    answer: z.string().describe("Left out until the agent has answered").optional(),
    answered_at: wireMoment.optional(),
  })
  .meta({ id: "Inquiry", description: "A question to the agent by somebody who is to decide." });
export type WireInquiry = z.output<typeof WireInquiry>;

/** Members that the states of calls, contacts and messages share. */
export const outcomeShape = {
  responded_at: wireMoment.optional(),
  user_info: WireResponder.optional(),
  expired: z.boolean().optional(),
  cancelled: z.boolean().optional(),
  failed_validation_details: WireFailedValidation.optional(),
  inquiries: z.array(WireInquiry).describe("Oldest first; left out without any").optional(),
};

const requestStatus = z.object({
  ...outcomeShape,
  ask_id: z.string(),
  requested_at: wireMoment,
  expires_at: wireMoment.optional(),
  resolved_at: wireMoment.optional(),
  slack_context: WireSlackContext.optional(),
  slack_message_ts: z.string().optional(),
  deliveries: z.array(WireRequestDelivery).optional(),
});
/** Members that the states of calls and contacts share. */
export type WireRequestStatus = z.output<typeof requestStatus>;

export const WireCallOutcome = z
  .object({
    state: z.enum(CALL_OUTCOME_STATES).describe("`awaited` and `started` are no ends; a report replaces `unknown`"),
    at: wireMoment,
    text: z.string().describe("The agent's words").optional(),
    result_digest: z.string().optional(),
  })
  .meta({ id: "CallOutcome", description: "What became of an approved call, as far as its agent has said." });
export type WireCallOutcome = z.output<typeof WireCallOutcome>;

export const WireCallStatus = requestStatus
  .extend({
    consent_digest: z.string().describe("sha256:… over the function and its arguments"),
    approvals: z.array(WireApproval).optional(),
    approved: z.boolean().optional(),
    comment: z.string().optional(),
    reject_option_name: z.string().optional(),
    kwargs: members.describe("Where people may edit, once they have approved").optional(),
    edited: z.boolean().describe("Where people may edit, once they have approved").optional(),
    receipt: z.string().describe("For an approved prompt of a coding agent: its signed receipt").optional(),
    receipt_key: z.string().describe("Beside a receipt: the id of the key that signs now").optional(),
    outcome: WireCallOutcome.describe("Left out of a call about which nothing was reported or promised").optional(),
  })
  .meta({ id: "CallStatus" });
export type WireCallStatus = z.output<typeof WireCallStatus>;

export const WireContactStatus = requestStatus
  .extend({ response: z.string().optional(), response_option_name: z.string().optional() })
  .meta({ id: "ContactStatus" });
export type WireContactStatus = z.output<typeof WireContactStatus>;

const escalation = z
  .object({ after_seconds: z.int(), channel: WireContactChannel, escalation_msg: z.string() })
  .meta({ id: "Escalation" });

const onTimeout = z.enum(["expire", "keep"]);
/** How long people have, and whether they may ask the agent meanwhile, as it is printed. */
export const waitShape = {
  timeout_seconds: z.int().optional(),
  on_timeout: onTimeout.optional(),
  answers_inquiries: z.boolean().optional(),
};
export const askedShape = {
  channel: WireContactChannel.optional(),
  state: members.optional(),
  ...waitShape,
  escalation: z.array(escalation).optional(),
};

const callSpec = z
  .object({
    fn: z.string(),
    kwargs: members,
    msg: z.string().describe("The agent's own words, which are no part of what is approved").optional(),
    ...askedShape,
    reject_options: z.array(WireResponseOption).optional(),
    editable: z.boolean().optional(),
    kwargs_schema: members.optional(),
  })
  .meta({ id: "CallSpec" });

const contactSpec = z
  .object({
    msg: z.string(),
    subject: z.string().optional(),
    ...askedShape,
    response_options: z.array(WireResponseOption).optional(),
  })
  .meta({ id: "ContactSpec" });

const agentPrompt = z
  .object({
    agent: z.string(),
    subagent: z.string().optional(),
    folder: z.string().optional(),
    use: z.string().optional(),
    use_digest: z.string().optional(),
    reads_notes: z.boolean().optional(),
  })
  .meta({ id: "AgentPrompt", description: "The coding agent whose hook asks, and where in it." })
  .optional();

export const WireFunctionCall = z
  .object({
    run_id: z.string(),
    call_id: z.string(),
    agent_prompt: agentPrompt,
    spec: callSpec,
    status: WireCallStatus,
  })
  .meta({ id: "FunctionCall" });
export type WireFunctionCall = z.output<typeof WireFunctionCall>;

export const WireHumanContact = z
  .object({
    run_id: z.string(),
    call_id: z.string(),
    agent_prompt: agentPrompt,
    spec: contactSpec,
    status: WireContactStatus,
  })
  .meta({ id: "HumanContact" });

const pageShape = { total: z.int(), limit: z.int(), offset: z.int(), has_more: z.boolean() };

export const WireFunctionCallPage = z
  .object({ items: z.array(WireFunctionCall), ...pageShape })
  .meta({ id: "FunctionCallPage" });
export type WireFunctionCallPage = z.output<typeof WireFunctionCallPage>;
export type WireHumanContact = z.output<typeof WireHumanContact>;

export const WireHumanContactPage = z
  .object({ items: z.array(WireHumanContact), ...pageShape })
  .meta({ id: "HumanContactPage" });
