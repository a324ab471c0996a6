import { readTraceParent, type TraceParent } from "../../lib/tracing/traceparent.ts";
import type { Tracer } from "../../lib/tracing/tracing.ts";
import type { Context } from "../../context.ts";
import type { McpRequest } from "./message.ts";
import { TOOLS } from "./tools.ts";

const SPAN_BYTES = 8;

/**
 * Runs what answers a message, and tells of it under the span that `_meta.traceparent` names (spec/mcp 3).
 * A message that names none, or one of a trace that is not recorded, makes no span.
 */
export function underTrace<T>(
  ctx: Pick<Context, "clock" | "random">,
  tracer: Tracer,
  call: McpRequest,
  answer: () => Promise<T>,
): Promise<T> {
  const parent = tracer.isOn ? readTraceParent(call.meta["traceparent"]) : null;
  return parent?.isSampled ? answerInSpan(ctx, tracer, { ...call, parent }, answer) : answer();
}

async function answerInSpan<T>(
  { clock, random }: Pick<Context, "clock" | "random">,
  tracer: Tracer,
  { method, params, parent }: McpRequest & { parent: TraceParent },
  answer: () => Promise<T>,
): Promise<T> {
  const tool = method === "tools/call" ? TOOLS.find(({ name }) => name === params["name"])?.name : undefined;
  const from = clock.now();
  let error: string | undefined = "failed";
  try {
    const answered = await answer();
    error = undefined;
    return answered;
  } finally {
    tracer.record({
      name: tool === undefined ? "mcp.message" : `tools/call ${tool}`,
      traceId: parent.traceId,
      parentId: parent.spanId,
      spanId: Buffer.from(random(SPAN_BYTES)).toString("hex"),
      from,
      to: clock.now(),
      attributes: { "mcp.method.name": METHODS.has(method) ? method : "other", "gen_ai.tool.name": tool },
      ...(error !== undefined && { error }),
    });
  }
}

/** The methods that a trace may name. A method's name that a client made up is never recorded. */
const METHODS: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "server/discover",
  "tools/list",
  "tools/call",
  "tasks/get",
  "tasks/cancel",
  "tasks/update",
  "subscriptions/listen",
]);
