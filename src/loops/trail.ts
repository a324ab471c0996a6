import type { Context } from "../context.ts";
import { requestScope } from "../lib/request-scope.ts";
import { redact } from "../lib/secret-scan.ts";
import { readTraceParent } from "../lib/traceparent.ts";
import type { Span, Tracer } from "../lib/tracing.ts";
import type { RelayFact } from "../model/relay-fact.ts";
import type { Job, RelayAnswer, RelayAsk } from "../model/relay.ts";
import type { MachineEvent } from "./machine.ts";

/** What is worth a line of the log, or a span. */
export type TrailEvent =
  | RelayFact
  | Extract<MachineEvent, { is: "stage" }>
  | { is: "tokens"; job: Job; tokens: { input: number; output: number }; model: string }
  | { is: "tool"; ask: RelayAsk; job: Job; tool: string; outcome: string; ms: number; bytes: number };

export interface Trail {
  /** Never throws, and never waits. */
  note(event: TrailEvent): void;
}

type Facts = Span["attributes"];

/** What of a prompt is logged. */
const SHOWN_CHARACTERS = 200;
/** Redacted before it is cut, so that no secret is cut in two. */
const LOOKED_AT_CHARACTERS = 2000;
const SPANS = { policy: "policy.evaluate", cache: "cache.lookup", runner: "runner.run" } as const;
const HEX = { trace: 32, span: 16 };

/**
 * Opens what writes asks and jobs of this server into the log and into traces (contract-relay.md, section 18).
 *
 * The ids of a job's trace, of its span and of an ask's follow from what they are called and when they were made: whichever
 * server ends one knows them, also after a restart, and nothing of it is stored but a caller's own `traceparent`.
 *
 * What people or services had a part in, and what failed, is logged at `info`; the rest at `debug`.
 */
export function openTrail(
  ctx: Pick<Context, "clock" | "random" | "keyring" | "log" | "secrets">,
  tracer: Tracer,
): Trail {
  const { log } = ctx;
  /** What runs took that are not over yet. */
  const taken = new WeakMap<Job, { model: string; input: number; output: number }>();

  const derived = (text: string): string => Buffer.from(ctx.keyring.mac("trace", text), "base64url").toString("hex");

  function jobIds({ id, createdAt }: Job): { traceId: string; spanId: string } {
    const digits = derived(`job\n${id}\n${createdAt}`);
    return { traceId: digits.slice(0, HEX.trace), spanId: digits.slice(HEX.trace, HEX.trace + HEX.span) };
  }

  /** An ask belongs to its caller's trace where that is told, else to its job's. */
  function idsOf(ask: RelayAsk, job: Job) {
    const caller = readTraceParent(ask.traceparent) ?? readTraceParent(ask.meta["traceparent"]);
    const { traceId, spanId: parentId } = caller ?? jobIds(job);
    return { traceId, parentId, isSampled: caller?.isSampled ?? true };
  }
  const spanIdOf = ({ id, createdAt }: RelayAsk): string => derived(`ask\n${id}\n${createdAt}`).slice(0, HEX.span);

  function write(level: "info" | "debug", ask: RelayAsk, job: Job, facts: Facts, message: string): void {
    if (!log.isLevelEnabled(level)) return;
    const requestId = requestScope.getStore();
    log[level](
      {
        ...{ job_id: job.id, step_id: ask.stepId, ask_id: ask.id },
        ...(requestId !== undefined && { request_id: requestId }),
        trace_id: idsOf(ask, job).traceId,
        ...facts,
      },
      message,
    );
  }

  /** Tells of a part of an ask, under it. */
  function part(name: string, ask: RelayAsk, job: Job, from: number, to: number, facts: Facts, error?: string): void {
    if (!tracer.isOn) return;
    const { traceId, isSampled } = idsOf(ask, job);
    if (!isSampled) return;
    const spanId = Buffer.from(ctx.random(HEX.span / 2)).toString("hex");
    const parentId = spanIdOf(ask);
    const attributes = { ...namesOf(ask), ...facts };
    tracer.record({ name, traceId, spanId, parentId, from, to, attributes, ...(error !== undefined && { error }) });
  }

  async function asked(ask: RelayAsk, job: Job): Promise<void> {
    if (!log.isLevelEnabled("debug")) return;
    const text = ask.prompt.slice(0, LOOKED_AT_CHARACTERS);
    const { finds, timedOut } = await ctx.secrets.find([{ path: "prompt", text }]);
    const prompt = timedOut ? undefined : [...redact(text, finds)].slice(0, SHOWN_CHARACTERS).join("");
    write("debug", ask, job, { ask_type: ask.type, prompt }, "an ask came");
  }

  function ended(ask: RelayAsk, job: Job, answer: RelayAnswer): void {
    const { status, source, errorCode, policyTrace, attestation, createdAt: to } = answer;
    const isRare = source === "person" || source === "service" || status === "TIMEOUT" || status === "ERROR";
    const facts = { status, source, stage: ask.stage, error_code: errorCode };
    write(isRare ? "info" : "debug", ask, job, { ...facts, ms: to - ask.createdAt }, "an ask was answered");
    if (!tracer.isOn) return;
    if (ask.addressedId !== null) {
      const { status, source } = answer;
      part("human.wait", ask, job, wentToPeopleAt(ask, to), to, { "parley.status": status, "parley.source": source });
    }
    const { traceId, parentId, isSampled } = idsOf(ask, job);
    if (!isSampled) return;
    tracer.record({
      ...{ name: "parley.ask", traceId, spanId: spanIdOf(ask), parentId, from: ask.createdAt, to },
      attributes: {
        ...namesOf(ask),
        ...{ "parley.stage": ask.stage, "parley.status": status, "parley.source": source },
        ...{ "parley.error_code": errorCode, "parley.policy": policyTrace?.policy, "parley.model": attestation?.model },
        "parley.joined_to": ask.joinedTo ?? undefined,
      },
      ...(status === "ERROR" && { error: errorCode ?? "E_INTERNAL" }),
    });
  }

  function jobEnded(job: Job): void {
    if (!tracer.isOn) return;
    tracer.record({
      ...{ name: "parley.job", ...jobIds(job), from: job.createdAt, to: job.updatedAt },
      attributes: {
        ...{ "parley.job_id": job.id, "parley.job_kind": job.kind, "parley.job_state": job.state },
        ...{ "parley.attempts": job.attempts, "parley.epoch": job.epoch },
      },
      ...(job.state === "FAILED" && { error: "FAILED" }),
    });
  }

  function passed({ stage, outcome, ask, job, ms }: Extract<TrailEvent, { is: "stage" }>): void {
    const outline = outlineOf(outcome);
    write("debug", ask, job, { stage, outcome: outline, ms: Math.round(ms) }, "a stage was passed");
    if (stage === "intake" || stage === "people" || outline === "skipped") return;
    const run = stage === "runner" ? taken.get(job) : undefined;
    taken.delete(job);
    const now = ctx.clock.now();
    const facts = {
      "parley.outcome": outline,
      ...(run && { "parley.model": run.model, "parley.tokens_in": run.input, "parley.tokens_out": run.output }),
    };
    const isFailed = stage === "runner" && /(^|: )(failed|E_[A-Z_]+)(:|$)/.test(outcome);
    part(SPANS[stage], ask, job, now - ms, now, facts, isFailed ? "failed" : undefined);
  }

  return {
    note(event) {
      switch (event.is) {
        case "asked":
          return void asked(event.ask, event.job).catch(() => undefined);
        case "escalated":
          return write("info", event.ask, event.job, { stage: "people" }, "an ask was put to people");
        case "ended":
          return ended(event.ask, event.job, event.answer);
        case "job ended":
          return jobEnded(event.job);
        case "stage":
          return passed(event);
        case "tokens": {
          const { input = 0, output = 0 } = taken.get(event.job) ?? {};
          const { model, tokens } = event;
          taken.set(event.job, { model, input: input + tokens.input, output: output + tokens.output });
          return;
        }
        case "tool": {
          const { ask, job, tool, outcome, ms, bytes } = event;
          const now = ctx.clock.now();
          const facts = { "parley.tool": tool, "parley.outcome": outcome, "parley.bytes": bytes };
          const isFailed = outcome === "failed" || outcome === "timeout";
          return part("tool.call", ask, job, now - ms, now, facts, isFailed ? outcome : undefined);
        }
      }
    },
  };
}

function namesOf({ id, jobId, stepId, type, epoch, roleId }: RelayAsk): Facts {
  return {
    ...{ "parley.ask_id": id, "parley.job_id": jobId, "parley.step_id": stepId },
    ...{ "parley.ask_type": type, "parley.epoch": epoch, "parley.role": roleId ?? undefined },
  };
}

/** What of a stage's outcome comes from us alone: what follows may be the words of a provider or of a policy. */
function outlineOf(outcome: string): string {
  return /^[\w ]{1,32}(?=$|:)/.exec(outcome)?.[0] ?? "other";
}

/** People say how long they had it; where others ended it meanwhile, it follows from what the stages before took. */
function wentToPeopleAt({ createdAt, stages }: RelayAsk, to: number): number {
  const people = stages.findLast(({ stage }) => stage === "people");
  if (people && people.ms > 0) return Math.max(createdAt, to - people.ms);
  return Math.min(to, createdAt + stages.reduce((sum, { ms }) => sum + ms, 0));
}
