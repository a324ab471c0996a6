/** Requests of gates, and the replies to them (spec/gate 4). */
import { z } from "zod";
import { CALL_STATES, GATE_NAME } from "../gate/model/gate-call.ts";
import { readPreview, type Preview } from "../gate/model/preview.ts";
import type { ListedTool } from "../gate/model/tool.ts";
import { membersOf } from "../lib/json/exact-json.ts";
import { MOST_PLAN_CALLS } from "../requests/model/plan.ts";
import { custom, integer, list, text } from "./fields.ts";
import { toolApprovalShape } from "./mcp.ts";

const LONGEST_WAIT_S = 60;
const A_WEEK_S = 604_800;
const MOST_TOOLS = 1000;

type Json = Readonly<Record<string, unknown>>;

/** True for a JSON object, and false for an integer that kept its digits. */
export function isGateObject(value: unknown): value is Json {
  return value === membersOf(value);
}

const run = text(1, 64);
const gate = custom<string>(
  { type: "string", pattern: GATE_NAME.source },
  (value) => typeof value === "string" && GATE_NAME.test(value),
  { says: "must be a small letter, and then up to 63 of small letters, digits, _ and -", constraint: "pattern" },
);
const tool = custom<ListedTool>(
  { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: true },
  isTool,
  { says: "must be an object with a name", constraint: "type" },
);

const args = custom<Json>({ type: "object", additionalProperties: true }, isGateObject, {
  says: "must be an object",
  constraint: "type",
});

export const GateCallBody = z
  .object({
    gate,
    tool,
    arguments: args,
    run,
    timeout_seconds: integer(60, A_WEEK_S).optional(),
    wait_seconds: integer(0, LONGEST_WAIT_S).optional(),
    previews: z.boolean().optional().describe("The gate can preview a call"),
  })
  .meta({ id: "GateCallQuestion" });

const preview = custom<Preview>(
  { type: "object", properties: { targets: { type: "array" }, digest: { type: "string" } }, required: ["targets"] },
  (value) => isGateObject(value) && readPreview(value) !== undefined,
  { says: "must be a readable preview of at most 500 targets", constraint: "type" },
);

export const GatePlanBody = z
  .object({
    gate,
    run,
    calls: list(z.object({ tool, arguments: args, preview: preview.optional() }), [1, MOST_PLAN_CALLS], {
      says: `must be a list of 1 to ${MOST_PLAN_CALLS} calls`,
      constraint: "size",
    }),
    timeout_seconds: integer(60, A_WEEK_S).optional(),
  })
  .meta({ id: "GatePlanQuestion" });

export const GateCallHoldBody = z.object({ run }).meta({ id: "GateCallHold" });

export const GateCallEndBody = z
  .object({
    run,
    outcome: z.enum(["result", "error", "lost"]),
    result_digest: text(1, 100).meta({ pattern: "^sha256:[0-9a-f]{64}$" }).optional(),
  })
  .meta({ id: "GateCallEnd" });

export const GateToolsBody = z
  .object({
    gate,
    tools: custom<ListedTool[]>(
      { type: "array", maxItems: MOST_TOOLS },
      (value) => Array.isArray(value) && value.length <= MOST_TOOLS && value.every(isTool),
      { says: `must be a list of at most ${MOST_TOOLS} tools`, constraint: "type" },
    ),
  })
  .meta({ id: "GateTools" });

const heldSeconds = z.int().describe("For so long a sign of life holds the call");
const shared = { id: z.string(), ...toolApprovalShape };

const previewWay = z
  .union([z.object({ tool: z.string() }), z.object({ arguments: z.record(z.string(), z.unknown()) })])
  .meta({
    id: "PreviewWay",
    description: "How a call shows its targets: by another tool, or by the same with these arguments as well.",
  });

export const WireGateAnswer = z
  .union([
    z.object({
      state: z.literal("started"),
      ...shared,
      arguments: z.unknown().describe("The arguments to run the call with, once"),
      edited: z.boolean(),
      digest: z.string(),
      held_seconds: heldSeconds,
      preview: z
        .object({ digest: z.string(), way: previewWay })
        .optional()
        .describe("The call runs only while its preview has this digest"),
    }),
    z.object({ state: z.enum(["waiting", "denied"]), ...shared }),
    z.object({ state: z.literal("changed"), tool: z.string() }),
    z.object({ state: z.literal("preview"), way: previewWay }),
  ])
  .meta({
    id: "GateAnswer",
    description: "Whether a call runs now, waits for people, shows its targets first, or may not run.",
  });
export type WireGateAnswer = z.output<typeof WireGateAnswer>;

export const WireGatePlan = z
  .object({ plan: z.string().nullable().describe("The request that stands for the plan, if one was made") })
  .meta({ id: "GatePlan" });
export type WireGatePlan = z.output<typeof WireGatePlan>;

export const WireHeldGateCall = z
  .object({ running: z.boolean(), held_seconds: heldSeconds })
  .meta({ id: "HeldGateCall" });
export type WireHeldGateCall = z.output<typeof WireHeldGateCall>;

export const WireEndedGateCall = z.object({ state: z.enum(CALL_STATES) }).meta({ id: "EndedGateCall" });
export type WireEndedGateCall = z.output<typeof WireEndedGateCall>;

export const WireJudgedGateTools = z
  .object({
    held_back: z.array(z.string()).describe("Tools that are not what was accepted, by name"),
    planned: z.array(z.string()).optional().describe("Tools whose calls are planned, by name; left out of none"),
  })
  .meta({ id: "JudgedGateTools" });
export type WireJudgedGateTools = z.output<typeof WireJudgedGateTools>;

function isTool(value: unknown): value is ListedTool {
  return isGateObject(value) && typeof value["name"] === "string" && value["name"].length <= 200;
}
