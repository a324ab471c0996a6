import { deciderName, type DeciderInReply } from "../../connect/decided-by.ts";
import { localTime } from "../../lib/local-time.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { printable, printableExactly, printableLines } from "../../lib/printable.ts";
import { itemLines } from "./question-lines.ts";

/** How a request to people stands. */
interface Status {
  expires_at?: string;
  resolved_at?: string;
  approved?: boolean;
  comment?: string;
  response?: unknown;
  response_option_name?: string;
  humanMessage?: string;
  responded_at?: string;
  expired?: boolean;
  cancelled?: boolean;
  user_info?: DeciderInReply;
}

/** A function call, a human contact or a message, as the A2H door says it. */
export interface PeopleRequest {
  call_id?: string;
  spec: {
    fn?: string;
    kwargs?: Record<string, unknown>;
    msg?: string;
    message?: string;
    response_options?: { name: string; title?: string }[];
  };
  status: Status;
}

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
