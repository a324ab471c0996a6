import type { Context } from "../context.ts";
import { readExactJson } from "../lib/json/exact-json.ts";
import { transact } from "../core/store/transact.ts";
import { FREEZES_TOPIC, requestTopic, watch } from "../core/store/wake.ts";
import type { Policy } from "../policy/model/policy.ts";
import { bindCall, type BoundCall } from "../requests/model/bound-call.ts";
import type { Request, Audience, ForeignSchema } from "../requests/model/request.ts";
import { readRequest, untilDueMs, waitForRequest } from "../requests/read/read-request.ts";
import { isForPeople, requestCall, type CallInput } from "../requests/create/request-call.ts";
import { Refusal } from "../refusals.ts";
import { functionOf, GATE_DOOR, GOOD_AFTER_MS, sameHashOf, type GateCall } from "./model/gate-call.ts";
import { giveUpCall } from "./end-call.ts";
import type { PreviewWay } from "./model/preview.ts";
import { approvedPreview, type GateWire } from "./requester.ts";
import { dropApproved, startCall } from "./start-call.ts";
import { dropIfAsked, findCallBefore, findSameCalls } from "./store/gate-calls.ts";

/** A call of a tool that wants to run. */
export interface GateCallInput extends CallToAsk {
  /** Which attempt of a gate would run it. */
  run: string;
  /** The gate can preview a call, and the settings of the tool say how. */
  previews: boolean;
}

/** A call behind a gate, and how people are asked about it. */
export interface CallToAsk {
  asker: string;
  gate: string;
  tool: string;
  args: Readonly<Record<string, unknown>>;
  /** The people to ask where no rule decides. */
  audience: Audience;
  /** How long people have. */
  timeoutSeconds: number;
  /** The schema that edited arguments must fit. */
  schema: ForeignSchema | null;
  /** The tool says, and was accepted saying, that a second run changes nothing more. */
  isRepeatable: boolean;
  /** How the call shows its targets, where the settings say so. */
  way?: PreviewWay | undefined;
  /** Data that only the door understands. */
  wire: Readonly<Record<string, unknown>>;
}

/**
 * The reply to a gate: run the call now, once; wait, for people or, where the request is approved, for the call before it
 * in its plan; show the targets first; or do not run it.
 */
export type GateAnswer =
  | { kind: "started"; call: GateCall; request: Request }
  | { kind: "waiting"; request: Request }
  | { kind: "preview"; way: PreviewWay }
  | { kind: "denied"; request: Request };

/** The number of times that a call is asked anew whose approval somebody else has used, or that came too late. */
const MOST_TRIES = 5;

/**
 * Asks whether a call may run, waits for the decision, and starts it where it is approved: policy decides, or people
 * do. The same call of the same agent joins a request that is still open, or whose decision no caller has received yet,
 * so that a caller that could not wait comes back for the outcome. A call without a known end runs again only where its
 * tool is repeatable or a person says so, whatever the policy allows (spec/gate 2).
 *
 * @throws {Refusal} `rate_limited`, `quota_exceeded`
 */
export async function askCall(
  ctx: Context,
  policy: () => Policy,
  input: GateCallInput,
  wait: { waitMs: number; signal: AbortSignal },
): Promise<GateAnswer> {
  const start = ctx.clock.monotonic();
  const leftMs = () => Math.max(0, wait.waitMs - (ctx.clock.monotonic() - start));
  for (let tries = 1; ; tries += 1) {
    const found = await findOrRequest(ctx, policy(), input);
    if ("way" in found) return { kind: "preview", way: found.way };
    const waitMs = leftMs();
    const request = found.state === "open" ? await waitForRequest(ctx, found.id, { ...wait, waitMs }) : found;
    if (request.state === "open" || wait.signal.aborted) return { kind: "waiting", request };
    // A gate of an earlier version would run it whatever became of its targets.
    const isBlind = !input.previews && approvedPreview(request) !== undefined;
    if (request.outcome?.approved === true && isBlind) return { kind: "waiting", request };
    if (request.outcome?.approved !== true) {
      await transact(ctx, (tx) => dropIfAsked(tx, request.id));
      return { kind: "denied", request };
    }
    const call = await startInTurn(ctx, policy, { request, run: input.run }, { ...wait, waitMs: leftMs() });
    if (call === "behind") return { kind: "waiting", request };
    if (call) return { kind: "started", call, request };
    await transact(ctx, (tx) => dropApproved(tx, request));
    if (tries === MOST_TRIES) throw new Refusal("rate_limited", { retry_after: 1 });
  }
}

/** Starts a call, after the call before it where it is one of a plan; `behind` where that has not run in time. */
async function startInTurn(
  ctx: Context,
  policy: () => Policy,
  { request, run }: { request: Request; run: string },
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<Awaited<ReturnType<typeof startCall>>> {
  const until = ctx.clock.monotonic() + waitMs;
  const before = request.plan === undefined ? undefined : await findCallBefore(ctx.db, request.id);
  const topics = [FREEZES_TOPIC, ...(before ? [requestTopic(before.requestId)] : [])];
  using changes = watch(ctx, topics, [ctx.stopping, signal]);
  for (;;) {
    const call = await startCall(ctx, request, { run, policyVersion: policy().policyVersion });
    const leftMs = until - ctx.clock.monotonic();
    if (call !== "behind" || leftMs <= 0 || ctx.stopping.aborted || signal.aborted) return call;
    await changes.next(Math.min(leftMs, untilDueMs(ctx, request)));
  }
}

/** Returns the request that stands for this call, or makes one; how to preview the call, where people are to see that. */
async function findOrRequest(
  ctx: Context,
  policy: Policy,
  input: GateCallInput,
): Promise<Request | { way: PreviewWay }> {
  const { wanted, request } = await findCall(ctx, input, input.run);
  if (request) return request;
  const call = callInputOf(ctx, policy, wanted);
  const { way } = input;
  if (way && input.previews && (call.forPeople || (await isForPeople(ctx, policy, call)))) return { way };
  return (await requestCall(ctx, policy, call)).request;
}

/** Returns the request that stands for this call already, and whether the same call has no known end. */
export async function findCall(
  ctx: Context,
  input: CallToAsk,
  run?: string,
): Promise<{ wanted: FoundCall; request: Request | null }> {
  const { asker, gate, tool } = input;
  const bound = bindCall(functionOf({ gate, tool }), input.args);
  const sameHash = sameHashOf({ asker, gate, tool, args: bound.canonical });
  const wanted: FoundCall = { input, bound, sameHash, unknown: null };
  for (const call of await findSameCalls(ctx.db, asker, sameHash)) {
    if (call.state === "asked" || (call.state === "started" && call.run === run)) {
      const request = await readOrForget(ctx, call);
      if (request) return { wanted, request };
    } else if (call.state === "unknown" || (await giveUpCall(ctx, call.requestId))) wanted.unknown ??= call;
  }
  return { wanted, request: null };
}

/** Returns the request of a call; one whose request is gone will not run. */
async function readOrForget(ctx: Context, { requestId }: GateCall): Promise<Request | null> {
  try {
    return await readRequest(ctx, requestId);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "request_not_found") throw error;
    await transact(ctx, (tx) => dropIfAsked(tx, requestId));
    return null;
  }
}

/** A call, and the digests by which it is found again. */
export interface FoundCall {
  input: CallToAsk;
  bound: BoundCall;
  sameHash: string;
  /** The same call, started before, whose end nobody knows. */
  unknown: GateCall | null;
  /** The preview that people are shown beside it. */
  preview?: GateWire["gate"]["preview"];
}

/** Returns a call as it is put to people. */
export function callInputOf(
  ctx: Pick<Context, "newId" | "schemas">,
  policy: Policy,
  { input, bound, sameHash, unknown, preview }: FoundCall,
): CallInput {
  const { asker, gate, tool, timeoutSeconds, schema, isRepeatable } = input;
  const { fn } = bound;
  const again = unknown !== null && !isRepeatable;
  const wire: GateWire = {
    gate: {
      name: gate,
      tool,
      same_hash: sameHash,
      policy_version: policy.policyVersion,
      good_for_ms: timeoutSeconds * 1000 + GOOD_AFTER_MS,
      repeatable: isRepeatable,
      again_of: unknown?.requestId ?? null,
      ...(preview && { preview }),
    },
    reports: "door",
    starts_after_ms: GOOD_AFTER_MS,
  };
  return {
    door: GATE_DOOR,
    asker,
    ref: `${GATE_DOOR}:${ctx.newId("call")}`,
    title: again ? `${fn}, which may have run already` : fn,
    words: "",
    bound,
    rejectOptions: [],
    editable: true,
    ...(schema && ctx.schemas.examine(schema) === null && { kwargsSchema: schema }),
    audience: input.audience,
    timeoutSeconds,
    sameHash,
    wire: { ...input.wire, ...wire },
    forPeople: again,
  };
}

/** Returns the arguments that were approved, as they came or as a person has changed them. */
export function approvedArguments({ form, outcome }: Request): { args: unknown; isEdited: boolean } {
  if (form.kind !== "approval") throw new Error("a gated call is an approval");
  return { args: readExactJson(outcome?.kwargs ?? form.kwargs), isEdited: outcome?.edited ?? false };
}
