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
  const { fn, kwargs, message: msg, options: response_options } = asked;
  return requestLines({
    spec: { fn, kwargs, msg, response_options },
    status: {
      ...rest,
      approved: approved ?? undefined,
      response: rest.structured_response ?? rest.response,
      expired: status === "expired",
      cancelled: status === "cancelled",
      user_info: rest.decided_by ?? rest.responder ?? {},
    },
  });
}
