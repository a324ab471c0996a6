/** Messages of the Model Context Protocol, and requests of its tools (spec/mcp 1 and 10). The protocol's own shapes are only outlined. */
import { z } from "zod";
import { wireMoment } from "./time.ts";

const members = z.record(z.string(), z.unknown());

/** As the reference shows it: the door checks by itself. */
export const McpMessageBody = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int()]).optional(),
    method: z.string(),
    params: members.optional(),
  })
  .meta({ id: "McpMessage", description: "One message of the Model Context Protocol" });

export const WireMcpReply = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string(), z.int(), z.null()]).optional(),
    result: members.optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .meta({
    id: "McpReply",
    description: "Its reply; a tool that waits replies as an event stream where the client takes one",
  });
export type WireMcpReply = z.output<typeof WireMcpReply>;

const responder = { id: z.string().optional(), name: z.string() };
const person = z.object(responder).meta({ id: "ToolPerson", description: "A person as agents know one." });
const decider = z.object({ kind: z.enum(["person", "agent", "policy", "cache"]), ...responder }).meta({
  id: "ToolDecider",
  description: "Who decided; `cache`: somebody who allowed exactly this earlier.",
});
const times = { responded_at: wireMoment.optional(), expires_at: wireMoment };
const inquiry = z
  .object({
    id: z.string(),
    text: z.string(),
    asked_by: person,
    asked_at: wireMoment,
    answer: z.string().optional(),
  })
  .meta({ id: "ToolInquiry", description: "A question to the agent by somebody who is to decide." });
export type WireToolInquiry = z.output<typeof inquiry>;
const inquiries = z.array(inquiry).optional();
const calls = { call_id: z.string() };

/** How a request for an approval stands, in the words of the tools' results (spec/mcp 4.3). */
export const toolApprovalShape = {
  ...calls,
  kind: z.literal("approval"),
  status: z.enum(["approved", "rejected", "pending", "expired", "cancelled"]),
  approved: z.boolean().nullable(),
  comment: z.string().optional(),
  reject_option_name: z.string().optional(),
  consent_digest: z.string(),
  decided_by: decider.optional(),
  inquiries,
  expired: z.boolean(),
  ...times,
};
const toolApproval = z.object(toolApprovalShape);
export type WireToolApproval = z.output<typeof toolApproval>;

/** How a plan stands, in the words of the tools' results (spec/mcp 4.6). */
const { call_id: _call, kind: _kind, reject_option_name: _option, ...decisionShape } = toolApprovalShape;
const toolPlan = z.object({
  plan_id: z.string(),
  kind: z.literal("plan"),
  ...decisionShape,
  approved_calls: z.int().optional(),
  calls: z.array(
    z.object({ call_id: z.string(), fn: z.string(), approved: z.boolean().nullable(), comment: z.string().optional() }),
  ),
});
export type WireToolPlan = z.output<typeof toolPlan>;

/** How a question to people stands, in the words of the tools' results (spec/mcp 4.2). */
const toolContact = z.object({
  ...calls,
  kind: z.literal("contact"),
  status: z.enum(["answered", "pending", "expired", "cancelled"]),
  response: z.string().optional(),
  response_option_name: z.string().optional(),
  structured_response: z.unknown().optional(),
  responder: person.optional(),
  inquiries,
  expired: z.literal(true).optional(),
  ...times,
});
export type WireToolContact = z.output<typeof toolContact>;

const asked = members.describe("The arguments of the tool");
export const WireMcpRequest = z
  .union([toolApproval.extend({ asked }), toolPlan.extend({ asked }), toolContact.extend({ asked })])
  .meta({ id: "McpRequest", description: "How what a tool asked of people stands." });
export type WireMcpRequest = z.output<typeof WireMcpRequest>;
