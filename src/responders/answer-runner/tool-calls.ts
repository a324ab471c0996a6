import { openDeadline } from "../../lib/deadline.ts";
import type { Job, Ask } from "../../asks/model/ask.ts";
import type { DecisiveAsk } from "../../asks/model/decision-key.ts";
import { Refusal } from "../../refusals.ts";
import { applyCaps } from "./caps.ts";
import { runCode } from "./code-run.ts";
import type { RunnerDeps, ToolOutcome } from "./deps.ts";
import { ARTIFACT_WRITE, CODE_RUN } from "./tool-plan.ts";
import { type OpenTool, sentenceOf, ToolFailure } from "./tools.ts";

type Args = Readonly<Record<string, unknown>>;

/** The rules by which the model's calls are judged. */
export interface CallRules {
  ask: Ask;
  /** The part of the ask that the model sees, and that its code receives as input. */
  decisive: Pick<DecisiveAsk, "meta" | "envelope">;
  job: Job;
  /** `role.x@v1`. */
  role: string | null;
  mostCalls: number;
  /** The longest result in bytes; the rest is cut. */
  mostResultBytes: number;
}

/** The calls of one run. */
export interface ToolCalls {
  /**
   * Returns the result for the model. For a call that is not permitted or not valid the result is the reason, and the
   * call counts too.
   *
   * @throws {ToolFailure} when the tool failed: that ends the ask
   */
  call(shownName: string, args: unknown): Promise<string>;
  /** Those really called. */
  used(): readonly string[];
  /** Returns the paths of the artifacts written. */
  artifacts(): readonly string[];
  /** Whether something was changed, or policy was asked about this job. The answer then holds for this job only. */
  isOfThisJob(): boolean;
}

/** A call that is not made; its message goes to the model instead. */
class NotCalled extends Error {}

const CODE_WITHIN_MS = 2000;
const MOST_LOOKED_AT_BYTES = 131_072;

/** One run: what it may call, what its calls are judged by, and what they did so far. */
interface Run {
  tools: readonly OpenTool[];
  rules: CallRules;
  deps: RunnerDeps;
  signal: AbortSignal;
  calls: number;
  used: Set<string>;
  written: Set<string>;
  results: { tool: string; result: string }[];
  hasReadData: boolean;
  isOfThisJob: boolean;
}

/** Returns the tools of one run as the model may call them (spec/relay 12). */
export function openCalls(
  tools: readonly OpenTool[],
  rules: CallRules,
  deps: RunnerDeps,
  signal: AbortSignal,
): ToolCalls {
  const run: Run = {
    tools,
    rules,
    deps,
    signal,
    calls: 0,
    used: new Set(),
    written: new Set(),
    results: [],
    hasReadData: false,
    isOfThisJob: false,
  };

  return {
    async call(shownName, given) {
      const from = deps.clock.monotonic();
      const { ask, job } = rules;
      const report = (tool: string, outcome: ToolOutcome, bytes: number): void => {
        const ms = Math.round(deps.clock.monotonic() - from);
        deps.observe?.({ kind: "tool", tool, outcome, ms, bytes, ask, job });
        deps.log.info(
          { tool, ms, bytes, outcome, ask_id: ask.id, job_id: job.id, step_id: ask.stepId },
          "a tool was called",
        );
      };
      try {
        const { outcome, text, tool } = await judged(run, shownName, given);
        report(tool, outcome, Buffer.byteLength(text));
        return text;
      } catch (error) {
        const tool = tools.find(({ shown }) => shown.name === shownName)?.plan.name ?? "other";
        report(tool, error instanceof ToolFailure && error.code === "E_TOOL_TIMEOUT" ? "timeout" : "failed", 0);
        throw error;
      }
    },
    used: () => [...run.used].sort(),
    artifacts: () => [...run.written],
    isOfThisJob: () => run.isOfThisJob,
  };
}

/** Makes a call if it is permitted; returns the result for the model. @throws {ToolFailure} */
async function judged(
  run: Run,
  shownName: string,
  given: unknown,
): Promise<{ outcome: ToolOutcome; text: string; tool: string }> {
  const { rules, deps } = run;
  const tool = run.tools.find(({ shown }) => shown.name === shownName);
  const name = tool?.plan.name ?? "other";
  try {
    if (run.calls++ >= rules.mostCalls) throw new NotCalled("There are no calls left. Reply now.");
    if (!tool) throw new NotCalled("There is no such tool.");
    const args = await prepare(run, tool, given);
    run.used.add(name);
    run.isOfThisJob ||= !tool.isReadOnly;
    // Cut once before, so that looking for secrets is not a matter of minutes, and where none can be cut in two.
    const whole = await inTime(run, tool, args);
    const clean = await deps.redact(headOf(whole, MOST_LOOKED_AT_BYTES));
    const text = cut(clean, rules.mostResultBytes, Buffer.byteLength(whole));
    run.results.push({ tool: name, result: text });
    return { outcome: "done", text, tool: name };
  } catch (error) {
    if (error instanceof NotCalled) return { outcome: "refused", text: error.message, tool: name };
    throw error;
  }
}

/** Returns the arguments that a tool is called with. @throws {NotCalled} where they do not fit, or it may not be */
async function prepare(run: Run, tool: OpenTool, given: unknown): Promise<Args> {
  const { plan, shown } = tool;
  const problems = await run.deps.schemas.validate(shown.inputSchema, given);
  if (problems.length > 0 || typeof given !== "object" || given === null) {
    const list = problems.map(({ path, message }) => `${path || "the arguments"} ${message}`).join("; ");
    throw new NotCalled(`The arguments do not fit: ${list || "they must be an object"}`);
  }
  const capsArgs = plan.settings?.caps_args ?? {};
  const capped = applyCaps(given as Args, plan.caps, { capsArgs, inputSchema: shown.inputSchema });
  if ("problem" in capped) throw new NotCalled(`E_CAPS_VIOLATION: ${capped.problem}`);
  if (!tool.isReadOnly) await permit(run, tool);
  return capped.args;
}

/**
 * Checks a call that may change something. The author of the prompt is not trusted: a run that has read data may not
 * send any out.
 *
 * @throws {NotCalled}
 */
async function permit(run: Run, { plan: { name, caps, settings } }: OpenTool): Promise<void> {
  const { rules, deps, hasReadData } = run;
  if (caps.read_only) throw new NotCalled(`E_CAPS_VIOLATION: ${name} may change something`);
  if (!settings) return;
  if (hasReadData) throw new NotCalled("E_POLICY_DENY: this run has read data, so it may change nothing");
  const { ask, job, role } = rules;
  run.isOfThisJob = true;
  const { isAllowed, reason } = await deps.allowWrite({ ask, job, role, tool: name });
  if (!isAllowed) throw new NotCalled(`E_POLICY_DENY: ${reason}`);
}

/** Waits no longer than the tool may take, whether it listens to the signal or not. */
async function inTime(run: Run, tool: OpenTool, args: Args): Promise<string> {
  const { deps, signal } = run;
  const ms = timeoutOf(tool.plan.settings?.timeout_ms ?? CODE_WITHIN_MS * 6, tool.plan.caps.timeout_ms);
  using deadline = openDeadline(deps.clock, ms, signal);
  const late = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener("abort", () => reject(new Error("it took too long")), { once: true });
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([perform(run, tool, args, deadline.signal), late]);
  } catch (error) {
    if (error instanceof NotCalled) throw error;
    const { name } = tool.plan;
    if (deadline.signal.aborted && !signal.aborted) {
      throw new ToolFailure("E_TOOL_TIMEOUT", `${name} gave no result in ${ms / 1000} s`);
    }
    throw new ToolFailure("E_TOOL_ERROR", `${name}: ${await deps.redact(sentenceOf(error))}`);
  }
}

async function perform(
  run: Run,
  { plan, server, isReadOnly }: OpenTool,
  args: Args,
  stop: AbortSignal,
): Promise<string> {
  if (server && plan.settings) {
    const text = await server.call(plan.settings.tool, args, stop);
    if (isReadOnly) run.hasReadData = true;
    return text;
  }
  if (plan.name === CODE_RUN) return runCode(codeJob(run, args), run.deps.clock, stop);
  if (plan.name === ARTIFACT_WRITE) return writeArtifact(run, args);
  throw new Error(`nothing knows the tool ${plan.name}`);
}

function codeJob({ rules, results }: Run, args: Args) {
  const { meta, envelope } = rules.decisive;
  return { code: String(args["code"]), input: meta["input"] ?? envelope?.facts ?? null, results };
}

async function writeArtifact({ rules, deps, written }: Run, args: Args): Promise<string> {
  const path = String(args["path"]);
  const bytes = new TextEncoder().encode(await deps.redact(String(args["content"])));
  try {
    await deps.artifacts.write({ jobId: rules.job.id, epoch: rules.ask.epoch }, path, bytes);
  } catch (error) {
    if (error instanceof Refusal) throw new NotCalled(`${path} was not written: ${error.message}`);
    throw error;
  }
  written.add(path);
  return `Written: ${path}, ${bytes.length} bytes`;
}

function timeoutOf(usualMs: number, capMs: number | undefined): number {
  return capMs === undefined ? usualMs : Math.min(usualMs, capMs);
}

/** Cuts a text, and says how long it was. */
function cut(text: string, mostBytes: number, wholeBytes: number): string {
  const kept = headOf(text, mostBytes);
  return kept === text && wholeBytes <= MOST_LOOKED_AT_BYTES ? text : `${kept}\n[cut: ${wholeBytes} bytes]`;
}

/** Returns the beginning of a text that has at most so many bytes, none of its characters halved. */
function headOf(text: string, mostBytes: number): string {
  if (Buffer.byteLength(text) <= mostBytes) return text;
  return Buffer.from(text)
    .subarray(0, mostBytes)
    .toString("utf8")
    .replace(/(?<!\uFFFD)\uFFFD+$/u, "");
}
