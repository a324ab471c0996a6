import type { FunctionCall, HumanContact, McpRequest } from "@parley/sdk/wire";
import { requestLines } from "./asked-people.ts";

/** The arguments of both tools, which the server has checked. */
type Arguments = Partial<Pick<FunctionCall["spec"], "fn" | "kwargs">> & {
  message?: string;
  options?: HumanContact["spec"]["response_options"];
};

/** Returns what was asked by an MCP tool, what was answered, and how it stands. */
export function toolRequestLines(request: McpRequest): string[] {
  const isPlan = request.kind === "plan";
  const {
    fn,
    kwargs,
    message: msg,
    options: response_options,
  } = (isPlan ? { fn: "plan", kwargs: request.asked } : request.asked) as Arguments;
  const { status, responded_at, expires_at } = request;
  const ended = { responded_at, expires_at, expired: status === "expired", cancelled: status === "cancelled" };
  const decided =
    request.kind !== "contact"
      ? { approved: request.approved ?? undefined, comment: request.comment, user_info: request.decided_by }
      : {
          response: request.structured_response ?? request.response,
          response_option_name: request.response_option_name,
          user_info: request.responder,
        };
  return requestLines({ spec: { fn, kwargs, msg, response_options }, status: { ...ended, ...decided } });
}
