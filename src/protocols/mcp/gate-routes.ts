import type { RouteShorthandOptions } from "fastify";
import type { z } from "zod";
import { approvedArguments, askCall, type GateAnswer } from "../../gate/ask-call.ts";
import { endCall, holdCall, type GatedEnd, type Running } from "../../gate/end-call.ts";
import { judgeTool } from "../../gate/judge-tool.ts";
import type { GatedToolSettings } from "../../gate/model/tool.ts";
import { approvedPreview } from "../../gate/requester.ts";
import { planCalls, planPreviewed, type CallToPlan } from "../../gate/plan-calls.ts";
import { functionOf, HELD_MS } from "../../gate/model/gate-call.ts";
import { parseExactJson } from "../../lib/json/exact-json.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import { Refusal } from "../../refusals.ts";
import { readDetails } from "../../requests/read/read-request.ts";
import { readJson } from "../http/body.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest, UsualAudience } from "../http/door.ts";
import { checkFields } from "../http/check-fields.ts";
import { held } from "../http/held.ts";
import { agentIdentity } from "../http/principals.ts";
import { approvalBody } from "./people-result.ts";
import { parkWait } from "./people-wait.ts";
import {
  GateCallBody,
  GateCallEndBody,
  GateCallHoldBody,
  GatePlanBody,
  GateToolsBody,
  isGateObject,
  WireEndedGateCall,
  WireGateAnswer,
  WireGatePlan,
  WireHeldGateCall,
  WireJudgedGateTools,
} from "../../wire/gate.ts";
import { consentDigestOf } from "../../requests/model/consent.ts";

const BODY_LIMIT_BYTES = 1_048_576;
/** As of a plan of the A2H door. */
const PLAN_BODY_BYTES = 4_194_304;
const MOST_PLAN_VALUES = 300_000;
const MOST_DEPTH = 64;
const AN_HOUR_S = 3600;
const JSON_TYPE = "application/json; charset=utf-8";

interface WithId {
  Params: { id: string };
}

/** Mounts the routes by which gates ask to run a call, and report that it still runs or has ended (spec/gate 4). */
export function gateRoutes(app: Door, door: DoorContext, usual: UsualAudience): void {
  app.post(
    "/gate/calls",
    options("Ask whether a call may run, and start it", GateCallBody, WireGateAnswer),
    (http, reply) => takeCall(door, usual, http, reply),
  );

  app.post(
    "/gate/plans",
    options("Ask about calls that a client sent together", GatePlanBody, WireGatePlan, PLAN_BODY_BYTES),
    (http, reply) => takePlan(door, usual, http, reply),
  );

  app.post<WithId>(
    "/gate/calls/:id/hold",
    options("Say that a call still runs", GateCallHoldBody, WireHeldGateCall),
    async (http, reply) => {
      const call = await callOf(door, http);
      const { run } = bodyOf(http, GateCallHoldBody);
      return send(reply, {
        running: await holdCall(door.ctx, { ...call, run }),
        held_seconds: HELD_S,
      } satisfies WireHeldGateCall);
    },
  );

  app.post<WithId>(
    "/gate/calls/:id/end",
    options("Say how a call ended", GateCallEndBody, WireEndedGateCall),
    async (http, reply) => {
      const call = await callOf(door, http);
      const { run, ...end } = bodyOf(http, GateCallEndBody);
      const { state } = await endCall(door.ctx, { ...call, run }, endOf(end));
      return send(reply, { state } satisfies WireEndedGateCall);
    },
  );

  app.post(
    "/gate/tools",
    options("Say which tools there are behind a gate", GateToolsBody, WireJudgedGateTools),
    async (http, reply) => {
      const { principal: asker } = await agentIdentity(door, http);
      const { gate, tools } = bodyOf(http, GateToolsBody);
      const heldBack: string[] = [];
      for (const definition of tools) {
        const { isAccepted } = await judgeTool(door.ctx, { asker, gate, definition });
        if (!isAccepted) heldBack.push(definition.name);
      }
      const planned = tools.map(({ name }) => name).filter((tool) => isPlanned(settingsOf(door, { gate, tool })));
      const judged: WireJudgedGateTools = { held_back: heldBack, ...(planned.length > 0 && { planned }) };
      return send(reply, judged);
    },
  );
}

const HELD_S = HELD_MS / 1000;

async function takeCall(
  door: DoorContext,
  usual: UsualAudience,
  http: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const agent = await agentIdentity(door, http);
  const body = bodyOf(http, GateCallBody);
  await yieldAfterLarge(http.body as Buffer);
  const { gate, tool, run, timeout_seconds: timeoutSeconds = AN_HOUR_S, wait_seconds: waitSeconds = 0 } = body;
  const named = { asker: agent.principal, gate, definition: tool };
  const { isAccepted, isRepeatable } = await judgeTool(door.ctx, named);
  if (!isAccepted)
    return send(reply, { state: "changed", tool: functionOf({ gate, tool: tool.name }) } satisfies WireGateAnswer);
  using _place = waitSeconds > 0 ? parkWait(door, agent.principal) : undefined;
  const audience = await usual(agent, "approval");
  const answer = await held(door, http, reply, (signal) =>
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
        schema: isGateObject(tool["inputSchema"]) ? tool["inputSchema"] : null,
        isRepeatable,
        previews: body.previews ?? false,
        way: settingsOf(door, { gate, tool: tool.name })?.preview,
        wire: {},
      },
      { waitMs: waitSeconds * 1000, signal },
    ),
  );
  return send(reply, await shown(door, answer));
}

async function takePlan(
  door: DoorContext,
  usual: UsualAudience,
  http: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const agent = await agentIdentity(door, http);
  const body = bodyOf(http, GatePlanBody, MOST_PLAN_VALUES);
  await yieldAfterLarge(http.body as Buffer);
  const { gate, run, timeout_seconds: timeoutSeconds = AN_HOUR_S } = body;
  const asker = agent.principal;
  const calls: CallToPlan[] = [];
  for (const { tool, arguments: args, preview } of body.calls) {
    const { isAccepted, isRepeatable } = await judgeTool(door.ctx, { asker, gate, definition: tool });
    if (!isAccepted) continue;
    const { planned = false, preview: way } = settingsOf(door, { gate, tool: tool.name }) ?? {};
    const call = { tool: tool.name, args, isRepeatable };
    if (way && preview) calls.push({ ...call, shown: { preview, way } });
    // A call with targets to show is a plan by itself, the only call of its body.
    else if (isPlanned({ planned, preview: way })) calls.push(call);
  }
  const audience = await usual(agent, "approval");
  const { policy } = door.policy.current();
  const input = { asker, gate, run, audience, timeoutSeconds };
  const [first] = calls;
  const plan = first?.shown
    ? await planPreviewed(door.ctx, policy, input, { ...first, shown: first.shown })
    : await planCalls(door.ctx, policy, { ...input, calls: calls.filter((call) => !call.shown) });
  return send(reply, { plan: plan?.id ?? null } satisfies WireGatePlan);
}

function isPlanned(settings: GatedToolSettings | undefined): boolean {
  return settings?.planned === true && !settings.preview;
}

function settingsOf({ config }: DoorContext, named: Parameters<typeof functionOf>[0]): GatedToolSettings | undefined {
  const fn = functionOf(named);
  return Object.hasOwn(config.gate.tools, fn) ? config.gate.tools[fn] : undefined;
}

/** Returns the answer for the gate, including the result that it shows to its model. */
async function shown({ ctx }: DoorContext, answer: GateAnswer): Promise<WireGateAnswer> {
  if (answer.kind === "preview") return { state: "preview", way: answer.way };
  const { request } = answer;
  const stands = { id: request.id, ...approvalBody(request, await readDetails(ctx, request)) };
  if (answer.kind !== "started") return { state: answer.kind, ...stands };
  const { args, isEdited } = approvedArguments(request);
  const preview = approvedPreview(request);
  return {
    state: "started",
    ...stands,
    arguments: args,
    edited: isEdited,
    digest: consentDigestOf(request),
    held_seconds: HELD_S,
    ...(preview && { preview }),
  };
}

/** Returns the call and its caller: a stranger learns nothing of what is wrong with a body. */
async function callOf(door: DoorContext, http: FastifyRequest): Promise<Omit<Running, "run">> {
  const { principal } = await agentIdentity(door, http);
  return { requestId: (http.params as WithId["Params"]).id, asker: principal };
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
function bodyOf<T>(http: FastifyRequest, schema: z.ZodType<T>, maxValues?: number): T {
  const bytes = Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0);
  const value = readJson(bytes, parseExactJson, {
    maxDepth: MOST_DEPTH,
    ...(maxValues !== undefined && { maxValues }),
  });
  if (!isGateObject(value)) throw new Refusal("body_not_object");
  const checked = checkFields(schema, value);
  if ("error" in checked) throw checked.error;
  return checked.value;
}

function options(
  summary: string,
  reads: z.ZodType,
  reply: z.ZodType,
  bodyBytes = BODY_LIMIT_BYTES,
): RouteShorthandOptions {
  return {
    bodyLimit: bodyBytes,
    config: { takesBody: true, reads, maxBodyBytes: bodyBytes },
    schema: {
      tags: ["mcp"],
      summary,
      response: { 200: { description: "What the gate is told", content: { "application/json": { schema: reply } } } },
    },
  };
}

function send(reply: FastifyReply, body: object): FastifyReply {
  return reply.type(JSON_TYPE).send(JSON.stringify(body));
}
