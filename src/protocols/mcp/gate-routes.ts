import type { RouteShorthandOptions } from "fastify";
import { z } from "zod";
import { approvedArguments, askCall, type GateAnswer } from "../../gate/ask-call.ts";
import { endCall, holdCall, type GatedEnd, type Running } from "../../gate/end-call.ts";
import { judgeTool } from "../../gate/judge-tool.ts";
import { functionOf, GATE_NAME, HELD_MS } from "../../gate/model/gate-call.ts";
import type { ListedTool } from "../../gate/model/tool.ts";
import { membersOf, parseExactJson } from "../../lib/exact-json.ts";
import { turnAfter } from "../../lib/turn.ts";
import { Refusal } from "../../refusals.ts";
import { readDetails } from "../../requests/read.ts";
import type { AddressedAsk } from "../../requests/model/request.ts";
import { readJson } from "../http/body.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest, UsualAudience } from "../http/door.ts";
import { checkedField, fields, integerField, optional, textField, wordField } from "../../wire/fields.ts";
import { checkFields } from "../http/check-fields.ts";
import { held } from "../http/held.ts";
import { agentIdentity } from "../http/principals.ts";
import { requestBody } from "./people-result.ts";
import { parkWait } from "./people-wait.ts";

const BODY_LIMIT_BYTES = 1_048_576;
const MOST_DEPTH = 64;
const LONGEST_WAIT_S = 60;
const A_WEEK_S = 604_800;
const AN_HOUR_S = 3600;
const MOST_TOOLS = 1000;
const JSON_TYPE = "application/json; charset=utf-8";

type Json = Readonly<Record<string, unknown>>;

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
    isObject(value) ? null : { message: `${name} must be an object`, field: name, constraint: "type" },
  );
const toolField = () =>
  checkedField<ListedTool>(
    { type: "object", properties: { name: { type: "string" } }, required: ["name"], additionalProperties: true },
    (value) =>
      isTool(value) ? null : { message: "tool must be an object with a name", field: "tool", constraint: "type" },
  );

const CallBody = fields({
  gate: gateField(),
  tool: toolField(),
  arguments: objectField("arguments"),
  run: runField(),
  timeout_seconds: optional(integerField("timeout_seconds", 60, A_WEEK_S)),
  wait_seconds: optional(integerField("wait_seconds", 0, LONGEST_WAIT_S)),
});
const HoldBody = fields({ run: runField() });
const EndBody = fields({
  run: runField(),
  outcome: wordField("outcome", ["result", "error", "lost"]),
  result_digest: optional(textField("result_digest", 1, 100, { pattern: "^sha256:[0-9a-f]{64}$" })),
});
const ToolsBody = fields({
  gate: gateField(),
  tools: checkedField<ListedTool[]>({ type: "array", maxItems: MOST_TOOLS }, (value) =>
    Array.isArray(value) && value.length <= MOST_TOOLS && value.every(isTool)
      ? null
      : { message: `tools must be a list of at most ${MOST_TOOLS} tools`, field: "tools", constraint: "type" },
  ),
});

interface WithId {
  Params: { id: string };
}

/** What gates say and are told: may this call run, it still runs, it has ended (spec/gate 4). */
export function gateRoutes(app: Door, door: DoorContext, usual: UsualAudience): void {
  app.post("/gate/calls", options("Ask whether a call may run, and start it", CallBody), (request, reply) =>
    takeCall(door, usual, request, reply),
  );

  app.post<WithId>("/gate/calls/:id/hold", options("Say that a call still runs", HoldBody), async (request, reply) => {
    const call = await callOf(door, request);
    const { run } = bodyOf(request, HoldBody);
    return send(reply, { running: await holdCall(door.ctx, { ...call, run }), held_seconds: HELD_S });
  });

  app.post<WithId>("/gate/calls/:id/end", options("Say how a call ended", EndBody), async (request, reply) => {
    const call = await callOf(door, request);
    const { run, ...end } = bodyOf(request, EndBody);
    const { state } = await endCall(door.ctx, { ...call, run }, endOf(end));
    return send(reply, { state });
  });

  app.post("/gate/tools", options("Say which tools there are behind a gate", ToolsBody), async (request, reply) => {
    await agentIdentity(door, request);
    const { gate, tools } = bodyOf(request, ToolsBody);
    const heldBack: string[] = [];
    for (const tool of tools) {
      if (!(await judgeTool(door.ctx, gate, tool)).isAccepted) heldBack.push(tool.name);
    }
    return send(reply, { held_back: heldBack });
  });
}

const HELD_S = HELD_MS / 1000;

async function takeCall(
  door: DoorContext,
  usual: UsualAudience,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const agent = await agentIdentity(door, request);
  const body = bodyOf(request, CallBody);
  await turnAfter(request.body as Buffer);
  const { gate, tool, run, timeout_seconds: timeoutSeconds = AN_HOUR_S, wait_seconds: waitSeconds = 0 } = body;
  const { isAccepted, isRepeatable } = await judgeTool(door.ctx, gate, tool);
  if (!isAccepted) return send(reply, { state: "changed", tool: functionOf({ gate, tool: tool.name }) });
  using _place = waitSeconds > 0 ? parkWait(door, agent.principal) : undefined;
  const audience = await usual(agent, "approval");
  const answer = await held(door, request, reply, (signal) =>
    askCall(
      door.ctx,
      () => door.policy.current().policy,
      {
        asker: agent.principal,
        gate,
        tool: tool.name,
        args: body.arguments,
        run,
        audience,
        timeoutSeconds,
        schema: isObject(tool["inputSchema"]) ? tool["inputSchema"] : null,
        isRepeatable,
        wire: {},
      },
      { waitMs: waitSeconds * 1000, signal },
    ),
  );
  return send(reply, await shown(door, answer));
}

/** What a gate needs to go on, and what a model needs to know. */
async function shown({ ctx }: DoorContext, answer: GateAnswer): Promise<object> {
  const { ask } = answer;
  const body = { state: answer.is, id: ask.id, ...requestBody(ask, await readDetails(ctx, ask)) };
  if (answer.is !== "started") return body;
  const { args, isEdited } = approvedArguments(ask);
  return { ...body, arguments: args, edited: isEdited, digest: digestOf(ask), held_seconds: HELD_S };
}

function digestOf({ digest, outcome }: AddressedAsk): string | null {
  return outcome?.digest ?? digest;
}

/** Returns which call is meant, and by whom: a stranger learns nothing of what is wrong with a body. */
async function callOf(door: DoorContext, request: FastifyRequest): Promise<Omit<Running, "run">> {
  const { principal } = await agentIdentity(door, request);
  return { askId: (request.params as WithId["Params"]).id, asker: principal };
}

function endOf({
  outcome,
  result_digest: digest,
}: {
  outcome: GatedEnd["outcome"];
  result_digest?: string | undefined;
}): GatedEnd {
  if (outcome === "lost") return { outcome };
  if (digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(digest)) return { outcome, digest };
  const message = "result_digest must be sha256: and 64 hexadecimal digits";
  throw new Refusal("invalid_input", { field: "result_digest", constraint: "pattern" }, message);
}

/** Returns the checked body, in which integers of any size keep their digits. @throws {Refusal} */
function bodyOf<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const value = readJson(bytes, parseExactJson, { maxDepth: MOST_DEPTH });
  if (!isObject(value)) throw new Refusal("body_not_object");
  const checked = checkFields(schema, value);
  if ("error" in checked) throw checked.error;
  return checked.value;
}

function isObject(value: unknown): value is Json {
  return value === membersOf(value);
}

function isTool(value: unknown): value is ListedTool {
  return isObject(value) && typeof value["name"] === "string" && value["name"].length <= 200;
}

function options(summary: string, reads: z.ZodType): RouteShorthandOptions {
  return {
    bodyLimit: BODY_LIMIT_BYTES,
    config: { takesBody: true, reads, maxBodyBytes: BODY_LIMIT_BYTES },
    schema: { tags: ["mcp"], summary, response: { 200: z.looseObject({}).describe("What the gate is told") } },
  };
}

function send(reply: FastifyReply, body: object): FastifyReply {
  return reply.type(JSON_TYPE).send(JSON.stringify(body));
}
