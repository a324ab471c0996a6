import { type AskHumanInput, INPUT_SCHEMA, isQuestion, NO_QUESTION } from "./ask-human.ts";

/** The tool's input as a Standard Schema with JSON Schema (standardschema.dev), which needs no library. */
export const ASK_HUMAN_SCHEMA = {
  "~standard": {
    version: 1,
    vendor: "parley",
    validate: (
      value: unknown,
    ): { value: AskHumanInput; issues?: never } | { issues: { message: string; path: string[] }[] } =>
      isQuestion(value) ? { value } : { issues: [{ message: NO_QUESTION, path: ["question"] }] },
    jsonSchema: { input: () => ({ ...INPUT_SCHEMA }), output: () => ({ ...INPUT_SCHEMA }) },
    types: undefined as { input: AskHumanInput; output: AskHumanInput } | undefined,
  },
} as const;
