import type { Request } from "../../requests/model/request.ts";

/** The door of what agents ask people by a tool. */
export const TOOL_DOOR = "mcp";

/** The run of requests made by a tool, which have none of their own. */
export const TOOL_RUN = "mcp";

/** Returns what such a request is called in the store; its handle is one the server made. */
export const toolRefOf = (callId: string): string => `${TOOL_DOOR}:${callId}`;

/** Returns the handle under which the asker knows a request. */
export function callIdOf({ ref }: Pick<Request, "ref">): string {
  return ref.slice(ref.indexOf(":") + 1);
}
