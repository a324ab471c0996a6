/** "Tool Definition" and "Check Status Tool" of the Ask-a-Human agent API, word for word. */
export const SEEDED_TOOLS = [
  JSON.parse(`{
  "name": "ask_human",
  "description": "Request human input when you're uncertain, the decision involves subjective judgment, or you need a reality check on your assumptions. Humans will provide their opinions asynchronously - this tool returns immediately and you should poll for responses.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "question": {
        "type": "string",
        "description": "The question to ask humans. Be specific and provide context."
      },
      "type": {
        "type": "string",
        "enum": ["text", "multiple_choice"],
        "default": "text",
        "description": "Type of response: 'text' for open-ended, 'multiple_choice' for predefined options"
      },
      "options": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Options for multiple choice questions (2-10 items)"
      },
      "audience": {
        "type": "array",
        "items": {
          "type": "string",
          "enum": ["technical", "product", "ethics", "creative", "general"]
        },
        "default": ["general"],
        "description": "Target audience for the question"
      },
      "min_responses": {
        "type": "number",
        "minimum": 1,
        "maximum": 50,
        "default": 5,
        "description": "Minimum number of human responses needed"
      },
      "timeout_seconds": {
        "type": "number",
        "minimum": 60,
        "maximum": 86400,
        "default": 3600,
        "description": "How long to wait for responses (in seconds)"
      }
    },
    "required": ["question"]
  }
}`),
  JSON.parse(`{
  "name": "check_human_responses",
  "description": "Check the status and responses for a previously submitted human question.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "question_id": {
        "type": "string",
        "description": "The question_id returned from ask_human"
      }
    },
    "required": ["question_id"]
  }
}`),
] as readonly { name: string; description: string; inputSchema: object }[];
