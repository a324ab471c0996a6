import { checkPin, countToolPins } from "../asks/tools/pin-tool.ts";
import type { Context } from "../context.ts";
import { chargeLimit } from "../core/limits.ts";
import type { Tx } from "../core/store/db.ts";
import { membersOf } from "../lib/json/exact-json.ts";
import { functionOf } from "./model/gate-call.ts";
import { pinName, pinsLimitedWith } from "./model/pin-name.ts";
import type { ListedTool } from "./model/tool.ts";
import { Refusal } from "../refusals.ts";

/** The properties of a tool that the gate may rely on. */
export interface JudgedTool {
  /** It is what it was when it was first seen, or last accepted. */
  isAccepted: boolean;
  /** It says, and was accepted saying, that it only reads, or that a second run changes nothing more. */
  isRepeatable: boolean;
}

/** How many gates and tools an agent may name anew in an hour, and how many of its tools are kept. */
const NEW_GATES_AN_HOUR = 30;
const NEW_TOOLS_AN_HOUR = 3000;
const MOST_TOOLS = 10_000;

/** A tool of a gate, and the agent that names it. */
export interface NamedTool {
  asker: string;
  gate: string;
  definition: ListedTool;
}

/**
 * Returns whether a tool is what it was when this agent first named it behind this gate, or last accepted (spec/gate 5):
 * name, title, description, schemas and annotations. A changed definition is noted, for `parley tools list`.
 *
 * @throws {Refusal} `rate_limited`, `quota_exceeded` where the agent names too many new ones
 */
export async function judgeTool(
  ctx: Pick<Context, "db" | "wake">,
  { asker, gate, definition }: NamedTool,
): Promise<JudgedTool> {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  const fn = functionOf({ gate, tool: name });
  const pinned = await checkPin(
    ctx,
    pinName(asker, fn),
    {
      name,
      description: typeof description === "string" ? description : "",
      inputSchema: membersOf(inputSchema),
      more: { title, outputSchema, annotations },
    },
    // Before pins had an agent, their names had none: such a pin is the first of every agent.
    { from: `gate/${fn}`, admit: (tx) => admitTool(tx, asker, gate) },
  );
  const { readOnlyHint, idempotentHint } = membersOf(annotations);
  const isAccepted = pinned === "same";
  return { isAccepted, isRepeatable: isAccepted && (readOnlyHint === true || idempotentHint === true) };
}

async function admitTool(tx: Tx, asker: string, gate: string): Promise<void> {
  const pins = pinsLimitedWith(asker);
  const isNewGate = (await countToolPins(tx, pinName(asker, `${gate}.`), 1)) === 0;
  if (isNewGate) await chargeLimit(tx, "gates", pins, NEW_GATES_AN_HOUR);
  await chargeLimit(tx, "tools of gates", pins, NEW_TOOLS_AN_HOUR);
  if ((await countToolPins(tx, pins, MOST_TOOLS)) < MOST_TOOLS) return;
  throw new Refusal("quota_exceeded", { limit: MOST_TOOLS }, `The gates of this agent have ${MOST_TOOLS} tools.`);
}
