import type { RequestId } from "../../core/model/ids.ts";
import type { Request } from "./request.ts";

/** People put at most so many questions to the agent of one request. */
export const MOST_INQUIRIES = 10;
export const LONGEST_INQUIRY = 1000;
export const LONGEST_INQUIRY_ANSWER = 5000;

/** The mark, among the fields of a request's door, that its agent answers inquiries. */
export const ANSWERS_INQUIRIES = { answers_inquiries: true } as const;

/** True where the agent of the request has said that it answers inquiries. */
export function answersInquiries({ wire }: Pick<Request, "wire">): boolean {
  return wire["answers_inquiries"] === true;
}

/** Returns the id of the inquiry at this place, from 1 on: the id of its request, and the place. */
export function inquiryIdOf(requestId: RequestId, place: number): string {
  return `${requestId}.${place}`;
}

/** Returns the request and the place that an inquiry's id names; undefined for anything else. */
export function readInquiryId(id: string): { requestId: RequestId; place: number } | undefined {
  const [, requestId, place] = /^(ask_[0-9A-Za-z]{1,60})\.([1-9]\d?)$/.exec(id) ?? [];
  return requestId === undefined ? undefined : { requestId, place: Number(place) };
}

/** True while the agent has not been told of an inquiry, which ends its waits. */
export function isAskedBack({ state, inquiries = [] }: Pick<Request, "state" | "inquiries">): boolean {
  return state === "open" && inquiries.some(({ toldAt, answer }) => toldAt === undefined && answer === undefined);
}

/** Returns the words with which somebody is told that the agent has answered their inquiry. */
export function inquiryAnsweredWords(agent: string): string {
  return `${agent} has answered your question.`;
}
