import type { Tool } from "@modelcontextprotocol/client";

const OPEN_WORLD = { readOnlyHint: false, destructiveHint: false, openWorldHint: true } as const;
const READ_ONLY = { readOnlyHint: true } as const;

/** The tool that waits: always a stream where the client takes one, and a task where it declares tasks. */
export const WAIT_TOOL = "wait_for_human_responses";

/**
 * The tools, in the order of `tools/list`. The first two are the Ask-a-Human specification's, word for word; only their
 * annotations are ours. None declares an `outputSchema`: a client would check tool errors against it
 * (contract-mcp.md, section 4).
 */
export const TOOLS = [
  {
    name: "ask_human",
    description:
      "Request human input when you're uncertain, the decision involves subjective judgment, or you need a reality check on your assumptions. Humans will provide their opinions asynchronously - this tool returns immediately and you should poll for responses.",
    inputSchema: {
      type: "object",
      properties: {
        question: {
          type: "string",
          description: "The question to ask humans. Be specific and provide context.",
        },
        type: {
          type: "string",
          enum: ["text", "multiple_choice"],
          default: "text",
          description: "Type of response: 'text' for open-ended, 'multiple_choice' for predefined options",
        },
        options: {
          type: "array",
          items: { type: "string" },
          description: "Options for multiple choice questions (2-10 items)",
        },
        audience: {
          type: "array",
          items: {
            type: "string",
            enum: ["technical", "product", "ethics", "creative", "general"],
          },
          default: ["general"],
          description: "Target audience for the question",
        },
        min_responses: {
          type: "number",
          minimum: 1,
          maximum: 50,
          default: 5,
          description: "Minimum number of human responses needed",
        },
        timeout_seconds: {
          type: "number",
          minimum: 60,
          maximum: 86400,
          default: 3600,
          description: "How long to wait for responses (in seconds)",
        },
      },
      required: ["question"],
    },
    annotations: OPEN_WORLD,
  },
  {
    name: "check_human_responses",
    description: "Check the status and responses for a previously submitted human question.",
    inputSchema: {
      type: "object",
      properties: {
        question_id: {
          type: "string",
          description: "The question_id returned from ask_human",
        },
      },
      required: ["question_id"],
    },
    annotations: READ_ONLY,
  },
  {
    name: WAIT_TOOL,
    description:
      "Wait until people have answered a question that was asked before. Returns as soon as enough answers are in or the question has ended, otherwise after a while with what there is so far; call it again to go on waiting. Ending the call ends the wait, never the question.",
    inputSchema: {
      type: "object",
      properties: {
        question_id: { type: "string", description: "Handle from ask_human, contact_human or request_approval" },
        min_responses: {
          type: "integer",
          minimum: 1,
          maximum: 50,
          description: "Return once this many answers are in; default all that were asked for",
        },
        max_wait_seconds: {
          type: "integer",
          minimum: 0,
          maximum: 3600,
          description: "Longest time to hold this call",
        },
      },
      required: ["question_id"],
    },
    annotations: READ_ONLY,
  },
] as const satisfies readonly Tool[];

export type ToolName = (typeof TOOLS)[number]["name"];
