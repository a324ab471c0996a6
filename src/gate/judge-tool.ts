import { checkPin } from "../asks/pin-tool.ts";
import type { Context } from "../context.ts";
import { membersOf } from "../lib/json/exact-json.ts";
import { functionOf } from "./model/gate-call.ts";
import type { ListedTool } from "./model/tool.ts";

/** The properties of a tool that the gate may rely on. */
export interface JudgedTool {
  /** It is what it was when it was first seen, or last accepted. */
  isAccepted: boolean;
  /** It says, and was accepted saying, that it only reads, or that a second run changes nothing more. */
  isRepeatable: boolean;
}

/**
 * Returns whether a tool is what it was when it was first seen behind this gate, or last accepted (spec/gate 5): name,
 * title, description, schemas and annotations. A changed definition is noted, for `parley tools list`.
 */
export async function judgeTool(ctx: Pick<Context, "db">, gate: string, definition: ListedTool): Promise<JudgedTool> {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  const pinned = await checkPin(ctx, `gate/${functionOf({ gate, tool: name })}`, {
    name,
    description: typeof description === "string" ? description : "",
    inputSchema: membersOf(inputSchema),
    more: { title, outputSchema, annotations },
  });
  const { readOnlyHint, idempotentHint } = membersOf(annotations);
  const isAccepted = pinned === "same";
  return { isAccepted, isRepeatable: isAccepted && (readOnlyHint === true || idempotentHint === true) };
}
