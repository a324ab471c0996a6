/** Questions to the agent of an ask by those who are to decide (docs/how-to/inbox.md). */
import { z } from "zod";
import { text } from "./fields.ts";

const textOrNull = z.string().nullable();

const inquiry = z
  .object({
    name: textOrNull,
    mine: z.boolean(),
    text: z.string(),
    at: z.string(),
    told_at: textOrNull.describe("When its agent got it; null where it has not looked since"),
    answer: textOrNull,
    answered_at: textOrNull,
  })
  .meta({ id: "AskInquiry", description: "A question to the agent by somebody who is to decide, and its answer." });

export const inquiriesField = z.array(inquiry).describe("Oldest first");

export const InquiryBody = z
  .object({ text: text(1, 1000).describe("The question to the agent.") })
  .meta({ id: "NewInquiry", description: "A question to the agent of an ask, which stays open." });
export type InquiryBody = z.output<typeof InquiryBody>;

export const WireInquiredAsk = z
  .object({ id: z.string(), inquiries: inquiriesField })
  .meta({ id: "InquiredAsk", description: "An ask whose agent was asked back." });
export type WireInquiredAsk = z.output<typeof WireInquiredAsk>;
