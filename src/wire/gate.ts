/** Requests of gates, and the replies to them (spec/gate 4). */
import { z } from "zod";
import { CALL_STATES, GATE_NAME } from "../gate/model/gate-call.ts";
import type { ListedTool } from "../gate/model/tool.ts";
import { membersOf } from "../lib/json/exact-json.ts";
import { checkedField, fields, integerField, optional, textField, wordField } from "./fields.ts";
import { toolApprovalShape } from "./mcp.ts";

const LONGEST_WAIT_S = 60;
const A_WEEK_S = 604_800;
const MOST_TOOLS = 1000;

type Json = Readonly<Record<string, unknown>>;

/** True for a JSON object, and false for an integer that kept its digits. */
export function isGateObject(value: unknown): value is Json {
  return value === membersOf(value);
}

const runField = () => textField("run", 1, 64);
const gateField = () =>
  checkedField<string>({ type: "string", pattern: GATE_NAME.source }, (value) =>
    typeof value === "string" && GATE_NAME.test(value)
      ? null
      : {
          message: "gate must be a small letter, and then up to 63 of small letters, digits, _ and -",
          field: "gate",
          constraint: "pattern",
        },
  );
const objectField = (name: string) =>
  checkedField<Json>({ type: "object", additionalProperties: true }, (value) =>
    isGateObject(value) ? null : { message: `${name} must be an object`, field: name, constraint: "type" },
  );

const toolField = () =>
  checkedField<ListedTool>(
    { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: true },
    (value) =>
      isTool(value) ? null : { message: "tool must be an object with a name", field: "tool", constraint: "type" },
  );

export const GateCallBody = fields({
  gate: gateField(),
  tool: toolField(),
  arguments: objectField("arguments"),
  run: runField(),
  timeout_seconds: optional(integerField("timeout_seconds", 60, A_WEEK_S)),
  wait_seconds: optional(integerField("wait_seconds", 0, LONGEST_WAIT_S)),
}).meta({ id: "GateCallQuestion" });

export const GateCallHoldBody = fields({ run: runField() }).meta({ id: "GateCallHold" });

export const GateCallEndBody = fields({
  run: runField(),
  outcome: wordField("outcome", ["result", "error", "lost"]),
  result_digest: optional(textField("result_digest", 1, 100, { pattern: "^sha256:[0-9a-f]{64}$" })),
}).meta({ id: "GateCallEnd" });

export const GateToolsBody = fields({
  gate: gateField(),
  tools: checkedField<ListedTool[]>({ type: "array", maxItems: MOST_TOOLS }, (value) =>
    Array.isArray(value) && value.length <= MOST_TOOLS && value.every(isTool)
      ? null
      : { message: `tools must be a list of at most ${MOST_TOOLS} tools`, field: "tools", constraint: "type" },
  ),
}).meta({ id: "GateTools" });

const heldSeconds = z.int().describe("For so long a sign of life holds the call");
const shared = { id: z.string(), ...toolApprovalShape };

export const WireGateAnswer = z
  .union([
    z.object({
      state: z.literal("started"),
      ...shared,
      arguments: z.unknown().describe("The arguments to run the call with, once"),
      edited: z.boolean(),
      digest: z.string(),
      held_seconds: heldSeconds,
    }),
    z.object({ state: z.enum(["waiting", "denied"]), ...shared }),
    z.object({ state: z.literal("changed"), tool: z.string() }),
  ])
  .meta({ id: "GateAnswer", description: "Whether a call runs now, waits for people, or may not run." });
export type WireGateAnswer = z.output<typeof WireGateAnswer>;

export const WireHeldGateCall = z
  .object({ running: z.boolean(), held_seconds: heldSeconds })
  .meta({ id: "HeldGateCall" });
export type WireHeldGateCall = z.output<typeof WireHeldGateCall>;

export const WireEndedGateCall = z.object({ state: z.enum(CALL_STATES) }).meta({ id: "EndedGateCall" });
export type WireEndedGateCall = z.output<typeof WireEndedGateCall>;

export const WireJudgedGateTools = z
  .object({ held_back: z.array(z.string()).describe("Tools that are not what was accepted, by name") })
  .meta({ id: "JudgedGateTools" });
export type WireJudgedGateTools = z.output<typeof WireJudgedGateTools>;

function isTool(value: unknown): value is ListedTool {
  return isGateObject(value) && typeof value["name"] === "string" && value["name"].length <= 200;
}
