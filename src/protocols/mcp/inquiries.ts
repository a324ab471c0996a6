import { answerInquiry } from "../../requests/inbox/inquire.ts";
import { inquiryIdOf } from "../../requests/model/inquiry.ts";
import type { Request } from "../../requests/model/request.ts";
import type { RequestDetails } from "../../requests/read/read-request.ts";
import { withoutSteering } from "../../lib/printable.ts";
import { wireTime } from "../http/question.ts";
import type { WireToolInquiry } from "../../wire/mcp.ts";
import type { Exchange } from "./exchange.ts";
import { checked } from "./people.ts";
import { InquiryAnswer } from "./people-fields.ts";
import type { JsonMembers } from "./rpc.ts";
import { toolResult } from "./tool-result.ts";

const GO_ON = "The person has your answer. Go on waiting for the decision: wait_for_human_responses.";

/**
 * Stores the agent's answer to a question of somebody who is to decide (spec/mcp 4.7).
 *
 * @throws {Refusal} `invalid_input`, `inquiry_not_found`, `inquiry_answered`; `already_decided`, `request_expired` or
 *   `request_cancelled` once the request is over
 */
export async function answerAskedBack({ door, principal }: Exchange, given: object): Promise<JsonMembers> {
  const { inquiry_id: id, answer } = checked(InquiryAnswer, given);
  await answerInquiry(door.ctx, { asker: principal, id }, answer);
  return toolResult(JSON.stringify({ inquiry_id: id, answered: true }), GO_ON);
}

/** Returns the questions to the agent of a request, as its results show them; undefined without any. */
export function inquiriesOf({ id, inquiries }: Request, { humans }: RequestDetails): WireToolInquiry[] | undefined {
  return inquiries?.map(({ person, text, at, answer }, i) => {
    const by = humans.get(person);
    return {
      id: inquiryIdOf(id, i + 1),
      text: withoutSteering(text),
      asked_by: by ? { id: String(by.number), name: withoutSteering(by.name) } : { name: "somebody" },
      asked_at: wireTime(at),
      ...(answer !== undefined && { answer }),
    };
  });
}
