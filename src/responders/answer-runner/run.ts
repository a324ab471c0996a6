import { type Deadline, openDeadline } from "../../lib/deadline.ts";
import type { SchemaProblem } from "../../lib/json/foreign-schema.ts";
import type { DecisiveAsk } from "../../asks/model/decision-key.ts";
import type { Attestation, ErrorCode, Job } from "../../asks/model/ask.ts";
import type { ResponderAnswer, AskOffer, ResponderPass } from "../responder.ts";
import { type Role, roleName } from "../roles/role.ts";
import type { Child, TurnEnd } from "./children.ts";
import type { Reservation, Tokens } from "../../asks/model/model-budget.ts";
import type { RunnerDeps } from "./deps.ts";
import { buildPrompt, MOST_INPUT_CHARS, type Prompt } from "./prompt.ts";
import { outcomeOf } from "./outcome.ts";
import { effectiveSchema, firstChars, type Reading, readAnswer } from "./reading.ts";
import { openCalls, type ToolCalls } from "./tool-calls.ts";
import type { PlannedTool } from "./tool-plan.ts";
import { type OpenTools, openTools, ToolFailure } from "./tools.ts";

/** One run: what it answers, with whom, and for how long. */
export interface RunOrder {
  offer: AskOffer;
  /** The part of the ask that the model sees. */
  decisive: DecisiveAsk;
  role: Role | null;
  plan: readonly PlannedTool[];
  maxTokens: number;
  limitMs: number;
  /** The input of the role, if it differs from the ask's own input. */
  input?: unknown;
}

export interface RunWith {
  deps: RunnerDeps;
  child: Child;
  /** As it is attested: `provider/model`. */
  modelName: string;
  signal: AbortSignal;
  /** Keeps a closing that is under way, so that the runner waits for it when it ends. */
  closing(work: Promise<unknown>): void;
}

const MOST_RESULT_BYTES = 65_536;
const MOST_SNIPPET_BYTES = 4096;
const USUAL_CALLS = 5;
const ASK_FOR_LESS = "Ask for a smaller part, such as a single table, file or record.";

/** A reply, its reading, and the prompt that it answers. */
interface ReadReply {
  reply: string;
  reading: Reading;
  prompt: Prompt;
}

/** The run ended before there was a reply. */
class Ended extends Error {
  readonly outcome: ResponderAnswer | ResponderPass;

  constructor(outcome: ResponderAnswer | ResponderPass) {
    super(outcome.because);
    this.outcome = outcome;
  }
}

/**
 * Has the model answer one ask, once more with what did not fit where its first reply could not be used, and returns what
 * came of it (spec/relay 12). Never throws: a mistake of ours is `E_INTERNAL`, which goes on to people.
 */
export async function runOnce(order: RunOrder, run: RunWith): Promise<ResponderAnswer | ResponderPass> {
  using deadline = openDeadline(run.deps.clock, order.limitMs, run.signal);
  const from = run.deps.clock.monotonic();
  let tools: OpenTools | null = null;
  try {
    tools = await openTools(order.plan, run.deps, deadline.signal);
    const calls = openCalls(tools.tools, rulesOf(order), run.deps, deadline.signal);
    const leftMs = (): number => order.limitMs - (run.deps.clock.monotonic() - from);
    const outcome = await converse({ order, run, tools, calls, leftMs });
    return finished(outcome, order, run, calls);
  } catch (error) {
    return endedBy(error, { order, run, deadline });
  } finally {
    if (tools) run.closing(tools.close());
    run.child.end();
  }
}

function rulesOf({ offer, decisive, role }: RunOrder) {
  const { ask, job } = offer;
  const isShort = role?.guardrails.has("truncate_long_snippets") ?? false;
  return {
    ask,
    decisive,
    job,
    role: role && roleName(role),
    mostCalls: role?.limits.maxToolCalls ?? USUAL_CALLS,
    mostResultBytes: isShort ? MOST_SNIPPET_BYTES : MOST_RESULT_BYTES,
  };
}

interface Conversation {
  order: RunOrder;
  run: RunWith;
  tools: OpenTools;
  calls: ToolCalls;
  leftMs(): number;
}

async function converse(conversation: Conversation): Promise<ReadReply> {
  const { order, run } = conversation;
  const role = order.role && roleName(order.role);
  const first = await say(conversation, []);
  if (first.reading.misfits.length === 0) return first;
  run.deps.observe?.({ kind: "misfit", role, attempt: 1 });
  const second = await say(conversation, first.reading.misfits);
  if (second.reading.misfits.length > 0) run.deps.observe?.({ kind: "misfit", role, attempt: 2 });
  return second;
}

async function say(
  { order, run, tools, calls, leftMs }: Conversation,
  errorsToMend: readonly SchemaProblem[],
): Promise<ReadReply> {
  const { offer, decisive, role, maxTokens } = order;
  const { job, options, rounds } = offer;
  const prompt = buildPrompt({
    ask: { ...decisive, constraints: { ...decisive.constraints, maxTokens } },
    role,
    options,
    rounds,
    toolNames: tools.tools.map(({ plan }) => plan.name),
    schema: effectiveSchema(decisive, role),
    errorsToMend,
    input: order.input,
  });
  const shown = tools.tools.map((tool) => tool.shown);
  const turn = {
    system: prompt.system,
    user: prompt.user,
    tools: shown,
    maxTokens,
    maxRounds: (role?.limits.maxToolCalls ?? USUAL_CALLS) + 2,
    maxInputChars: MOST_INPUT_CHARS,
    limitMs: Math.max(1, Math.round(leftMs())),
  };
  let failure: unknown = null;
  const money = spending(run, role, job);
  const end = await run.child.takeTurn(turn, {
    ...money,
    async call(name, args) {
      try {
        return await calls.call(name, args);
      } catch (error) {
        failure = error;
        return null;
      }
    },
  });
  await money.settled();
  if (!end) throw failure;
  if (!("text" in end)) throw new Ended(passFor(end));
  const reply = await run.deps.redact(end.text);
  return { reply, reading: await readAnswer(reply, { ask: decisive, role, options }, run.deps.schemas), prompt };
}

/** Reserves the tokens of each call of the model before it, and settles them after it. */
function spending({ deps, modelName }: RunWith, role: Role | null, job: Job) {
  let reservation: Reservation | null = null;
  const settling: Promise<void>[] = [];
  return {
    async maySpend(most: Tokens): Promise<boolean> {
      reservation = await deps.budget.reserve(most);
      return reservation !== null;
    },
    spent(tokens: Tokens | null): void {
      const settled = reservation?.settle(tokens).catch((error: unknown) => {
        deps.log.warn({ error: String(error) }, "what a model took was not written down");
      });
      if (settled) settling.push(settled);
      reservation = null;
      const name = role && roleName(role);
      if (tokens) deps.observe?.({ kind: "tokens", tokens, role: name, model: modelName, job });
    },
    /** Resolves once all reported tokens are stored. */
    settled: () => Promise.all(settling),
  };
}

function passFor(end: Exclude<TurnEnd, { text: string }>): ResponderPass {
  const failed = (code: ErrorCode): ResponderPass => {
    return { kind: "pass", because: `failed: ${end.says}`, error: { code, text: end.says } };
  };
  switch (end.why) {
    case "model":
    case "time":
      return failed("E_MODEL");
    case "budget":
      return {
        kind: "pass",
        because: "over budget",
        error: { code: "E_BUDGET", text: "the month's budget is used up" },
      };
    case "ours":
    case "gone":
      return failed("E_INTERNAL");
  }
}

function endedBy(
  error: unknown,
  { order, run, deadline }: { order: RunOrder; run: RunWith; deadline: Deadline },
): ResponderAnswer | ResponderPass {
  if (error instanceof Ended) return error.outcome;
  if (run.signal.aborted) return { kind: "pass", because: "stopped" };
  if (deadline.signal.aborted) return passFor({ why: "time", says: `no answer in ${order.limitMs} ms` });
  if (error instanceof ToolFailure) {
    const { code, message } = error;
    const failed = {
      status: "ERROR" as const,
      cacheable: false,
      error: { code, text: message },
      askBack: ASK_FOR_LESS,
    };
    return { kind: "answer", ...failed, because: `failed: ${code}` };
  }
  run.deps.log.warn({ error: error instanceof Error ? error.stack : String(error) }, "the answer-runner failed");
  return {
    kind: "pass",
    because: "failed: E_INTERNAL",
    error: { code: "E_INTERNAL", text: "the answer-runner failed" },
  };
}

/** Returns what the last reply comes to, with what only the server may say of it. */
function finished(
  { reading, reply, prompt }: ReadReply,
  order: RunOrder,
  run: RunWith,
  calls: ToolCalls,
): ResponderAnswer | ResponderPass {
  const { ask, options, trace, rounds } = order.offer;
  const role = order.role;
  if (ask.type === "POLICY_DECISION") return { kind: "pass", because: "an opinion", opinion: opinionIn(reading) };

  const outcome = outcomeOf(reading, reply, { role, options });
  if (outcome.kind === "pass") {
    const { askBack, ...rest } = outcome;
    // After enough rounds people are asked without another question back.
    return rounds.length < run.deps.maxAskBackRounds ? outcome : askBack === undefined ? outcome : rest;
  }
  const written = new Set(calls.artifacts());
  const { artifacts = [], ...answer } = outcome;
  const kept = artifacts.filter((path) => written.has(path));
  const dropped = artifacts.length - kept.length;
  if (dropped > 0) run.deps.log.warn({ ask_id: ask.id, dropped }, "a model named artifacts that it did not write");
  const attestation: Attestation = {
    context_hash: ask.contextHash,
    role_id: role?.id ?? "none",
    role_version: role?.version ?? 0,
    model: run.modelName,
    prompt_fingerprint: prompt.fingerprint,
    tools_used: calls.used(),
    policy_version: trace.policy_version,
  };
  const cacheable = answer.cacheable && !calls.isOfThisJob();
  return { ...answer, cacheable, ...(kept.length > 0 && { artifacts: kept }), attestation };
}

function opinionIn({ json, text = "" }: Reading): string {
  const { decision, rules } = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  if (typeof decision !== "string") return firstChars(text, 200) || "none";
  const names = Array.isArray(rules) ? rules.filter((rule): rule is string => typeof rule === "string") : [];
  return firstChars(names.length > 0 ? `${decision} (${names.join(", ")})` : decision, 200);
}
