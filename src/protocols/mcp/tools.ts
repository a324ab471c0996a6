import type { Tool } from "@modelcontextprotocol/client";
import { MOST_OUTCOME_WORDS, REPORTS } from "../../requests/model/call-outcome.ts";
import { LONGEST_INQUIRY_ANSWER } from "../../requests/model/inquiry.ts";
import {
  EVIDENCE_KINDS,
  IMAGE_TYPES,
  LONGEST_EVIDENCE_TITLE,
  MOST_EVIDENCE,
  MOST_PLAN_CALLS,
} from "../../requests/model/plan.ts";

const OPEN_WORLD = { readOnlyHint: false, destructiveHint: false, openWorldHint: true } as const;
const READ_ONLY = { readOnlyHint: true } as const;

/** The tool that only waits. */
export const WAIT_TOOL = "wait_for_human_responses";

/** The tool that a client's permission prompt calls, and never the model. */
export const APPROVE_TOOL = "approve";

/** The tool that takes an approved call of a plan. */
export const USE_TOOL = "use_approved_call";

/** The tool that says what became of an approved call. */
const OUTCOME_TOOL = "report_outcome";

/** The tool that answers a question of somebody who is to decide. */
const ANSWER_TOOL = "answer_inquiry";

/** The tools that may wait: always a stream where the client takes one. */
const WAITING: readonly unknown[] = [WAIT_TOOL, "contact_human", "request_approval", APPROVE_TOOL];

/** True for the name of a tool that may wait. */
export function isWaiting(tool: unknown): boolean {
  return WAITING.includes(tool);
}

const TO = {
  type: "string",
  description:
    "Id or exact name of a human, or the name of a group, from list_humans; default: the person or channel configured for this key",
} as const;
const IDEMPOTENCY_KEY = {
  type: "string",
  minLength: 1,
  maxLength: 255,
  description: "The same key with the same arguments is the same request for a day",
} as const;
const MAX_WAIT_SECONDS = {
  type: "integer",
  minimum: 0,
  maximum: 3600,
  description: "Longest time to hold this call",
} as const;

/**
 * The tools, in the order of `tools/list`. The first two are the Ask-a-Human specification's, word for word; only their
 * annotations are ours. None declares an `outputSchema`: a client would check tool errors against it
 * (spec/mcp 4).
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
        max_wait_seconds: MAX_WAIT_SECONDS,
      },
      required: ["question_id"],
    },
    annotations: READ_ONLY,
  },
  {
    name: "contact_human",
    description:
      "Ask one named person and get that person's own answer, in words, as one of your options, or as JSON that fits your schema. Waits for a while; a person may take hours. When it returns with status pending, go on with other work and call wait_for_human_responses with the call_id. Calling again with the same arguments joins the request that is open.",
    inputSchema: {
      type: "object",
      properties: {
        message: { type: "string", minLength: 1, maxLength: 40_000, description: "What you want to know or to say" },
        to: TO,
        subject: { type: "string", maxLength: 998, description: "One line: title in the inbox, subject of a mail" },
        options: {
          type: "array",
          maxItems: 25,
          description: "Ready-made answers; the person may still answer in words",
          items: {
            type: "object",
            properties: {
              name: { type: "string", maxLength: 64 },
              title: { type: "string", maxLength: 75 },
              description: { type: "string" },
            },
            required: ["name"],
          },
        },
        response_schema: { type: "object", description: "JSON Schema 2020-12 for a structured answer" },
        timeout_seconds: {
          type: "integer",
          minimum: 60,
          maximum: 604_800,
          default: 86_400,
          description: "How long the person has",
        },
        idempotency_key: IDEMPOTENCY_KEY,
        max_wait_seconds: MAX_WAIT_SECONDS,
      },
      required: ["message"],
    },
    annotations: OPEN_WORLD,
  },
  {
    name: "request_approval",
    description:
      "Ask a person to approve or reject one exact call before you make it. Give the function and the exact arguments: they are shown whole, and the approval is bound to them by consent_digest. For several calls that you know already, give `calls` in place of fn and kwargs: people decide them once, in order, and you take each with use_approved_call just before you run it. A rejection is an answer: read its comment and do not try again. Nobody answering in time counts as rejected. An approval is good for one call.",
    inputSchema: {
      type: "object",
      properties: {
        fn: { type: "string", minLength: 1, maxLength: 256, description: "The function that will be executed" },
        kwargs: { type: "object", description: "The exact arguments that will be executed" },
        calls: {
          type: "array",
          minItems: 1,
          maxItems: MOST_PLAN_CALLS,
          description: "Several calls in the order in which you will run them, in place of fn and kwargs",
          items: {
            type: "object",
            properties: { fn: { type: "string", minLength: 1, maxLength: 256 }, kwargs: { type: "object" } },
            required: ["fn", "kwargs"],
          },
        },
        title: {
          type: "string",
          minLength: 1,
          maxLength: LONGEST_EVIDENCE_TITLE,
          description: "With calls: what they are for, on one line",
        },
        evidence: {
          type: "array",
          maxItems: MOST_EVIDENCE,
          description: "With calls: what people see beside them, and approve with them",
          items: {
            type: "object",
            properties: {
              kind: { type: "string", enum: EVIDENCE_KINDS },
              title: { type: "string", maxLength: LONGEST_EVIDENCE_TITLE },
              text: { type: "string", description: "Of markdown and diff" },
              columns: { type: "array", items: { type: "string" }, description: "Of a table" },
              rows: { type: "array", items: { type: "array", items: { type: "string" } }, description: "Of a table" },
              url: { type: "string", description: "Of a link" },
              digest: { type: "string", description: "Of a link: sha256:… of what stands there" },
              media_type: { type: "string", enum: IMAGE_TYPES, description: "Of an image" },
              data: { type: "string", description: "Of an image: base64" },
            },
            required: ["kind"],
          },
        },
        reason: {
          type: "string",
          maxLength: 2000,
          description: "Shown below a line as the agent's own words; not part of what is approved",
        },
        to: TO,
        reject_options: {
          type: "array",
          maxItems: 25,
          description: "Ready-made ways to reject",
          items: {
            type: "object",
            properties: { name: { type: "string", maxLength: 64 }, title: { type: "string", maxLength: 75 } },
            required: ["name"],
          },
        },
        timeout_seconds: {
          type: "integer",
          minimum: 60,
          maximum: 604_800,
          default: 3600,
          description: "How long people have; after that it counts as rejected",
        },
        idempotency_key: IDEMPOTENCY_KEY,
        max_wait_seconds: MAX_WAIT_SECONDS,
      },
    },
    annotations: OPEN_WORLD,
  },
  {
    name: USE_TOOL,
    description:
      "Take an approved call of request_approval with `calls`, just before you run it: each once, in their order. Run exactly the fn and kwargs that it returns. On an error do not run the call, and do as its message says.",
    inputSchema: {
      type: "object",
      properties: { call_id: { type: "string", description: "From the calls of the decided plan" } },
      required: ["call_id"],
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
  {
    name: OUTCOME_TOOL,
    description:
      "After you have run a call that request_approval or use_approved_call approved, say what became of it: people who approved it see it. `withdrawn` says that you will not run it. Say it once.",
    inputSchema: {
      type: "object",
      properties: {
        call_id: { type: "string", description: "The call_id of the approved call" },
        outcome: { type: "string", enum: [...REPORTS] },
        text: { type: "string", maxLength: MOST_OUTCOME_WORDS, description: "One or two sentences about the result" },
        result_digest: { type: "string", description: "sha256:… of the result, if you have one" },
      },
      required: ["call_id", "outcome"],
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
  {
    name: ANSWER_TOOL,
    description:
      "Answer a question that a person asks you about a request of yours before deciding it. Questions stand in `inquiries` of the request's result; the request stays open. Then go on waiting as `next` says.",
    inputSchema: {
      type: "object",
      properties: {
        inquiry_id: { type: "string", description: "The id from inquiries" },
        answer: { type: "string", minLength: 1, maxLength: LONGEST_INQUIRY_ANSWER },
      },
      required: ["inquiry_id", "answer"],
    },
    annotations: OPEN_WORLD,
  },
  {
    name: "list_humans",
    description:
      "List the people who can be asked by name, with what they know about, and the groups. Never a contact detail.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", maxLength: 200, description: "Words that stand in the name or description" },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 50 },
        cursor: { type: "string", description: "next_cursor of the page before" },
      },
    },
    annotations: READ_ONLY,
  },
  {
    name: APPROVE_TOOL,
    description:
      "For a client's permission prompt, such as Claude Code's --permission-prompt-tool; not for the model. Asks a person whether a tool may run with exactly this input.",
    inputSchema: {
      type: "object",
      properties: {
        tool_name: { type: "string", description: "The tool that asks for permission" },
        input: { type: "object", description: "Its exact input" },
        tool_use_id: { type: "string", description: "The id of this use of the tool" },
      },
      required: ["tool_name", "input"],
    },
    annotations: OPEN_WORLD,
  },
] as const satisfies readonly Tool[];

export type ToolName = (typeof TOOLS)[number]["name"];
