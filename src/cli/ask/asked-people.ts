import type { CallStatus, FunctionCall, HumanContact, Message, MessageStatus } from "@parley/sdk/wire";
import { deciderName, type DeciderInReply } from "../../connect/decided-by.ts";
import { localTime } from "../../lib/local-time.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { printable, printableExactly, printableLines } from "../../lib/printable.ts";
import { itemLines } from "./question-lines.ts";

/** A function call, a human contact or a message, as the A2H door says it. */
export interface PeopleRequest {
  spec: Partial<
    Pick<FunctionCall["spec"], "fn" | "kwargs"> &
      Pick<HumanContact["spec"], "msg" | "response_options"> &
      Pick<Message["spec"], "message">
  >;
  status: Status;
}

type Status = Partial<
  Pick<CallStatus, "expires_at" | "approved" | "comment"> &
    Pick<HumanContact["status"], "response_option_name"> &
    Omit<MessageStatus, "user_info">
> & { user_info?: DeciderInReply | undefined };

/** Returns what was asked, what was answered, and how it stands. */
export function requestLines({ spec, status }: PeopleRequest): string[] {
  return [...askedLines(spec), ...answerLines(spec, status), stateLine(status)];
}

function askedLines({ fn, kwargs, msg, message }: PeopleRequest["spec"]): string[] {
  if (fn === undefined) return printableLines(msg ?? message ?? "");
  const rows = Object.entries(kwargs ?? {});
  return [
    printableExactly(fn),
    ...rows.map(([name, value]) => `  ${printableExactly(name)}: ${printableExactly(canonicalExact(value))}`),
  ];
}

function answerLines({ fn, response_options: options }: PeopleRequest["spec"], status: Status): string[] {
  const { comment, response, response_option_name: chosen, humanMessage, expired, cancelled } = status;
  if (expired || cancelled) return [];
  if (fn !== undefined) return comment === undefined ? [] : itemLines(comment);
  const option = options?.find(({ name }) => name === chosen);
  if (option) return itemLines(option.title ?? option.name);
  const value = typeof response === "string" || response === undefined ? response : canonicalExact(response);
  return [humanMessage, value].flatMap((words) => (words ? itemLines(words) : []));
}

function stateLine(status: Status): string {
  const { approved, responded_at: at, expires_at: until, user_info: user } = status;
  if (status.cancelled) return "cancelled";
  if (status.expired) return until === undefined ? "expired" : `expired ${localTime(until)}`;
  if (at === undefined) return until === undefined ? "open" : `open until ${localTime(until)}`;
  const what = approved === undefined ? "answered" : approved ? "approved" : "rejected";
  return `${what} by ${printable(deciderName(user))}, ${localTime(at)}`;
}
