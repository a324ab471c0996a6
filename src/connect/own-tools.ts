/**
 * The tools of Parley's MCP server, as part of a pattern: they ask people already. Each is named, because a server
 * whose name begins with Parley's has tools that begin with the same words.
 */
export const OWN_TOOLS =
  "ask_human|check_human_responses|wait_for_human_responses|contact_human|request_approval|use_approved_call|report_outcome|answer_inquiry|list_humans";
