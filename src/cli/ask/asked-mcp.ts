import { requestLines } from "./asked-people.ts";

/** A request made by an MCP tool, as the server returns it. */
export interface ToolRequest {
  asked: {
    fn?: string;
    kwargs?: Record<string, unknown>;
    message?: string;
    options?: { name: string; title?: string }[];
  };
  status: string;
  approved?: boolean | null;
  comment?: string;
  response?: string;
  response_option_name?: string;
  structured_response?: unknown;
  decided_by?: { name?: string };
  responder?: { name?: string };
  responded_at?: string;
  expires_at?: string;
}

/** Returns what was asked, what was answered, and how it stands. */
export function toolRequestLines({ asked, status, approved, ...rest }: ToolRequest): string[] {
  const { fn, kwargs, message, options } = asked;
  const { comment, response, response_option_name, structured_response, responded_at, expires_at } = rest;
  return requestLines({
    spec: {
      ...(fn !== undefined && { fn, kwargs: kwargs ?? {} }),
      ...(message !== undefined && { msg: message }),
      ...(options && { response_options: options }),
    },
    status: {
      ...(typeof approved === "boolean" && { approved }),
      ...(comment !== undefined && { comment }),
      response: structured_response ?? response,
      ...(response_option_name !== undefined && { response_option_name }),
      ...(responded_at !== undefined && { responded_at }),
      ...(expires_at !== undefined && { expires_at }),
      expired: status === "expired",
      cancelled: status === "cancelled",
      user_info: rest.decided_by ?? rest.responder ?? {},
    },
  });
}
