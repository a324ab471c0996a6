/** The tools that the MCP server `parley` offers to an agent in an attempt (spec/assignment 6). */
export const PARLEY_TOOLS = [
  "ask_human",
  "check_human_responses",
  "wait_for_human_responses",
  "contact_human",
  "request_approval",
  "use_approved_call",
  "report_outcome",
  "answer_inquiry",
  "list_humans",
] as const;

/** A day: people are slow, and agents are not to give up on them. */
export const TOOL_TIMEOUT_MS = 86_400_000;
