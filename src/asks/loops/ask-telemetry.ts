import type { Context } from "../../context.ts";
import { requestScope } from "../../lib/tracing/request-scope.ts";
import { redact } from "../../lib/secrets/secret-scan.ts";
import { readTraceParent } from "../../lib/tracing/traceparent.ts";
import type { Span, Tracer } from "../../lib/tracing/tracing.ts";
import type { AskFact } from "../model/fact.ts";
import type { Job, AskAnswer, Ask } from "../model/ask.ts";
import type { MachineEvent } from "./machine.ts";

/** An event that is logged or recorded as a span. */
export type AskTelemetryEvent =
  | AskFact
  | Extract<MachineEvent, { kind: "stage" }>
  | { kind: "tokens"; job: Job; tokens: { input: number; output: number }; model: string }
  | { kind: "tool"; ask: Ask; job: Job; tool: string; outcome: string; ms: number; bytes: number };

export interface AskTelemetry {
  /** Never throws, and never waits. */
  note(event: AskTelemetryEvent): void;
}

type Facts = Span["attributes"];

interface Asked {
  ask: Ask;
  job: Job;
}

/** A part of an ask's time, as a span. */
type Part = Pick<Span, "name" | "from" | "to" | "error"> & { facts: Facts };

/** The most characters of a prompt that are logged. */
const SHOWN_CHARACTERS = 200;
/** Redacted before it is cut, so that no secret is cut in two. */
const LOOKED_AT_CHARACTERS = 2000;
const SPANS = { policy: "policy.evaluate", cache: "cache.lookup", runner: "runner.run" } as const;
const HEX = { trace: 32, span: 16 };

/**
 * Opens what writes asks and jobs of this server into the log and into traces (spec/relay 18).
 *
 * The ids of a job's trace, of its span and of an ask's follow from what they are called and when they were made: whichever
 * server ends one knows them, also after a restart, and nothing of it is stored but a caller's own `traceparent`.
 *
 * Events are logged at `info` where people or services took part or something failed; the rest at `debug`.
 */
export function openAskTelemetry(
  ctx: Pick<Context, "clock" | "random" | "keyring" | "log" | "secrets">,
  tracer: Tracer,
): AskTelemetry {
  const writer: Writer = { ...ctx, tracer, ids: traceIds(ctx.keyring) };
  /** The tokens that open runs have used so far. */
  const taken: Taken = new WeakMap();
  return {
    note(event) {
      switch (event.kind) {
        case "asked":
          return void asked(writer, event).catch(() => undefined);
        case "escalated":
          return write(writer, "info", event, { facts: { stage: "people" }, message: "an ask was put to people" });
        case "ended":
          return ended(writer, event, event.answer);
        case "job ended":
          return jobEnded(writer, event.job);
        case "stage":
          return passed(writer, event, taken);
        case "tokens": {
          const { input = 0, output = 0 } = taken.get(event.job) ?? {};
          const { model, tokens } = event;
          taken.set(event.job, { model, input: input + tokens.input, output: output + tokens.output });
          return;
        }
        case "tool":
          return toolCalled(writer, event);
      }
    },
  };
}

type Taken = WeakMap<Job, { model: string; input: number; output: number }>;

/** The services that lines and spans are written with. */
interface Writer extends Pick<Context, "clock" | "random" | "log" | "secrets"> {
  tracer: Tracer;
  ids: TraceIds;
}

/** The ids under which asks and jobs stand in traces. */
interface TraceIds {
  ofJob(job: Job): { traceId: string; spanId: string };
  /** An ask belongs to its caller's trace if that is known, else to its job's. */
  traceOf(asked: Asked): { traceId: string; parentId: string; isSampled: boolean };
  spanOf(ask: Ask): string;
}

function traceIds(keyring: Context["keyring"]): TraceIds {
  const derived = (text: string): string => Buffer.from(keyring.mac("trace", text), "base64url").toString("hex");

  function ofJob({ id, createdAt }: Job): { traceId: string; spanId: string } {
    const digits = derived(`job\n${id}\n${createdAt}`);
    return { traceId: digits.slice(0, HEX.trace), spanId: digits.slice(HEX.trace, HEX.trace + HEX.span) };
  }
  return {
    ofJob,
    traceOf({ ask, job }) {
      const caller = readTraceParent(ask.traceparent) ?? readTraceParent(ask.meta["traceparent"]);
      const { traceId, spanId: parentId } = caller ?? ofJob(job);
      return { traceId, parentId, isSampled: caller?.isSampled ?? true };
    },
    spanOf: ({ id, createdAt }) => derived(`ask\n${id}\n${createdAt}`).slice(0, HEX.span),
  };
}

function write(
  { log, ids }: Writer,
  level: "info" | "debug",
  asked: Asked,
  { facts, message }: { facts: Facts; message: string },
): void {
  if (!log.isLevelEnabled(level)) return;
  const { ask, job } = asked;
  const requestId = requestScope.getStore();
  log[level](
    {
      job_id: job.id,
      step_id: ask.stepId,
      ask_id: ask.id,
      ...(requestId !== undefined && { request_id: requestId }),
      trace_id: ids.traceOf(asked).traceId,
      ...facts,
    },
    message,
  );
}

/** Tells of a part of an ask, under it. */
function part({ tracer, ids, random }: Writer, asked: Asked, { facts, ...span }: Part): void {
  if (!tracer.isOn) return;
  const { traceId, isSampled } = ids.traceOf(asked);
  if (!isSampled) return;
  const spanId = Buffer.from(random(HEX.span / 2)).toString("hex");
  const parentId = ids.spanOf(asked.ask);
  const attributes = { ...namesOf(asked.ask), ...facts };
  tracer.record({ ...span, traceId, spanId, parentId, attributes });
}

async function asked(writer: Writer, { ask, job }: Asked): Promise<void> {
  if (!writer.log.isLevelEnabled("debug")) return;
  const text = ask.prompt.slice(0, LOOKED_AT_CHARACTERS);
  const { finds, timedOut } = await writer.secrets.find([{ path: "prompt", text }]);
  const prompt = timedOut ? undefined : [...redact(text, finds)].slice(0, SHOWN_CHARACTERS).join("");
  write(writer, "debug", { ask, job }, { facts: { ask_type: ask.type, prompt }, message: "an ask came" });
}

function ended(writer: Writer, { ask, job }: Asked, answer: AskAnswer): void {
  const { status, source, errorCode, createdAt: to } = answer;
  const isRare = source === "person" || source === "service" || status === "TIMEOUT" || status === "ERROR";
  const facts = { status, source, stage: ask.stage, error_code: errorCode, ms: to - ask.createdAt };
  write(writer, isRare ? "info" : "debug", { ask, job }, { facts, message: "an ask was answered" });
  if (!writer.tracer.isOn) return;
  if (ask.addressedId !== null || ask.questionId !== null) {
    part(
      writer,
      { ask, job },
      {
        name: "human.wait",
        from: wentToPeopleAt(ask, to),
        to,
        facts: { "parley.status": status, "parley.source": source },
      },
    );
  }
  recordAsk(writer, { ask, job }, answer);
}

/** Tells of an ask from its beginning to its answer. */
function recordAsk({ tracer, ids }: Writer, { ask, job }: Asked, answer: AskAnswer): void {
  const { status, source, errorCode, policyTrace, attestation, createdAt: to } = answer;
  const { traceId, parentId, isSampled } = ids.traceOf({ ask, job });
  if (!isSampled) return;
  tracer.record({
    name: "parley.ask",
    traceId,
    spanId: ids.spanOf(ask),
    parentId,
    from: ask.createdAt,
    to,
    attributes: {
      ...namesOf(ask),
      "parley.stage": ask.stage,
      "parley.status": status,
      "parley.source": source,
      "parley.error_code": errorCode,
      "parley.policy": policyTrace?.policy,
      "parley.model": attestation?.model,
      "parley.joined_to": ask.joinedTo ?? undefined,
    },
    ...(status === "ERROR" && { error: errorCode ?? "E_INTERNAL" }),
  });
}

function jobEnded({ tracer, ids }: Writer, job: Job): void {
  if (!tracer.isOn) return;
  tracer.record({
    name: "parley.job",
    ...ids.ofJob(job),
    from: job.createdAt,
    to: job.updatedAt,
    attributes: {
      "parley.job_id": job.id,
      "parley.job_kind": job.kind,
      "parley.job_state": job.state,
      "parley.attempts": job.attempts,
      "parley.epoch": job.epoch,
    },
    ...(job.state === "FAILED" && { error: "FAILED" }),
  });
}

function passed(
  writer: Writer,
  { stage, outcome, ask, job, ms }: Extract<AskTelemetryEvent, { kind: "stage" }>,
  taken: Taken,
): void {
  const outline = outlineOf(outcome);
  const line = { stage, outcome: outline, ms: Math.round(ms) };
  write(writer, "debug", { ask, job }, { facts: line, message: "a stage was passed" });
  if (stage === "intake" || stage === "people" || outline === "skipped") return;
  const run = stage === "runner" ? taken.get(job) : undefined;
  taken.delete(job);
  const now = writer.clock.now();
  const facts = {
    "parley.outcome": outline,
    ...(run && { "parley.model": run.model, "parley.tokens_in": run.input, "parley.tokens_out": run.output }),
  };
  const isFailed = stage === "runner" && /(^|: )(failed|E_[A-Z_]+)(:|$)/.test(outcome);
  const span = { name: SPANS[stage], from: now - ms, to: now, ...(isFailed && { error: "failed" }) };
  part(writer, { ask, job }, { ...span, facts });
}

function toolCalled(
  writer: Writer,
  { ask, job, tool, outcome, ms, bytes }: Extract<AskTelemetryEvent, { kind: "tool" }>,
): void {
  const now = writer.clock.now();
  const facts = { "parley.tool": tool, "parley.outcome": outcome, "parley.bytes": bytes };
  const isFailed = outcome === "failed" || outcome === "timeout";
  const span = { name: "tool.call", from: now - ms, to: now, ...(isFailed && { error: outcome }) };
  part(writer, { ask, job }, { ...span, facts });
}

function namesOf({ id, jobId, stepId, type, epoch, roleId }: Ask): Facts {
  return {
    "parley.ask_id": id,
    "parley.job_id": jobId,
    "parley.step_id": stepId,
    "parley.ask_type": type,
    "parley.epoch": epoch,
    "parley.role": roleId ?? undefined,
  };
}

/** Returns the part of a stage's outcome that Parley wrote. The rest may quote a provider or a policy. */
function outlineOf(outcome: string): string {
  return /^[\w ]{1,32}(?=$|:)/.exec(outcome)?.[0] ?? "other";
}

/** People say how long they had it; where others ended it meanwhile, it follows from what the stages before took. */
function wentToPeopleAt({ createdAt, stages }: Ask, to: number): number {
  const people = stages.findLast(({ stage }) => stage === "people");
  if (people && people.ms > 0) return Math.max(createdAt, to - people.ms);
  return Math.min(to, createdAt + stages.reduce((sum, { ms }) => sum + ms, 0));
}
