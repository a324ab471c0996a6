import { type Deadline, openDeadline } from "../../lib/deadline.ts";
import type { SchemaProblem } from "../../lib/foreign-schema.ts";
import type { Attestation, ErrorCode } from "../../model/relay.ts";
import type { Answered, Offer, Passed } from "../responder.ts";
import type { Role } from "../roles/role.ts";
import type { Child, TurnEnd } from "./children.ts";
import type { RunnerDeps } from "./deps.ts";
import { buildPrompt, MOST_INPUT_CHARS, type Prompt } from "./prompt.ts";
import { effectiveSchema, firstChars, type Reading, readAnswer } from "./reading.ts";
import { openCalls, type ToolCalls } from "./tool-calls.ts";
import type { PlannedTool } from "./tool-plan.ts";
import { type OpenTools, openTools, ToolFailure } from "./tools.ts";

/** One run: what it answers, with whom, and for how long. */
export interface RunOrder {
  offer: Offer;
  role: Role | null;
  plan: readonly PlannedTool[];
  maxTokens: number;
  limitMs: number;
  /** What the role is given where it is not the ask's own input. */
  input?: unknown;
}

export interface RunWith {
  deps: RunnerDeps;
  child: Child;
  /** As it is attested: `provider/model`. */
  modelName: string;
  signal: AbortSignal;
  /** Keeps what is still being closed, for whoever waits for that. */
  closing(work: Promise<unknown>): void;
}

const MOST_RESULT_BYTES = 65_536;
const MOST_SNIPPET_BYTES = 4096;
const USUAL_CALLS = 5;
const MOST_DOWNGRADED = 1000;
const ASK_FOR_LESS = "Ask for a smaller part, such as a single table, file or record.";

/** What a reply came to, and what it came from. */
interface Said {
  reply: string;
  reading: Reading;
  prompt: Prompt;
}

/** The run ended before there was a reply. */
class Ended extends Error {
  readonly outcome: Answered | Passed;

  constructor(outcome: Answered | Passed) {
    super(outcome.because);
    this.outcome = outcome;
  }
}

/**
 * Has the model answer one ask, once more with what did not fit where its first reply could not be used, and returns what
 * came of it (contract-relay.md, section 12). Never throws: a mistake of ours is `E_INTERNAL`, which goes on to people.
 */
export async function runOnce(order: RunOrder, run: RunWith): Promise<Answered | Passed> {
  using deadline = openDeadline(run.deps.clock, order.limitMs, run.signal);
  const from = run.deps.clock.monotonic();
  let tools: OpenTools | null = null;
  try {
    tools = await openTools(order.plan, run.deps, deadline.signal);
    const calls = openCalls(tools.tools, rulesOf(order), run.deps, deadline.signal);
    const leftMs = (): number => order.limitMs - (run.deps.clock.monotonic() - from);
    const said = await converse({ order, run, tools, calls, leftMs });
    return await outcomeOf(said, order, run, calls);
  } catch (error) {
    return endedBy(error, { order, run, deadline });
  } finally {
    if (tools) run.closing(tools.close());
    run.child.end();
  }
}

function rulesOf({ offer, role }: RunOrder) {
  const { ask, job } = offer;
  const isShort = role?.guardrails.has("truncate_long_snippets") ?? false;
  return {
    ask,
    job,
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

async function converse(conversation: Conversation): Promise<Said> {
  const { order, run } = conversation;
  const role = order.role && `${order.role.id}@v${order.role.version}`;
  const first = await say(conversation, []);
  if (first.reading.misfits.length === 0) return first;
  run.deps.observe?.({ is: "misfit", role, attempt: 1 });
  const second = await say(conversation, first.reading.misfits);
  if (second.reading.misfits.length > 0) run.deps.observe?.({ is: "misfit", role, attempt: 2 });
  return second;
}

async function say(
  { order, run, tools, calls, leftMs }: Conversation,
  errorsToMend: readonly SchemaProblem[],
): Promise<Said> {
  const { offer, role, maxTokens } = order;
  const { ask, job, options, rounds } = offer;
  const prompt = buildPrompt({
    ask,
    job,
    role,
    options,
    rounds,
    toolNames: tools.tools.map(({ plan }) => plan.name),
    schema: effectiveSchema(ask, role),
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
  const end = await run.child.takeTurn(turn, {
    ...spending(run, role),
    async call(name, args) {
      try {
        return await calls.call(name, args);
      } catch (error) {
        failure = error;
        return null;
      }
    },
  });
  if (!end) throw failure;
  if (!("text" in end)) throw new Ended(passFor(end));
  const reply = await run.deps.redact(end.text);
  return { reply, reading: await readAnswer(reply, { ask, role, options }, run.deps.schemas), prompt };
}

/** What the model takes is reserved before, and settled after, each of its calls. */
function spending({ deps, modelName }: RunWith, role: Role | null) {
  let reserved = { input: 0, output: 0 };
  return {
    async maySpend(most: { input: number; output: number }): Promise<boolean> {
      reserved = most;
      return deps.budget.reserve(most);
    },
    spent(tokens: { input: number; output: number } | null): void {
      const settled = deps.budget.settle(reserved, tokens);
      settled.catch((error: unknown) =>
        deps.log.warn({ error: String(error) }, "what a model took was not written down"),
      );
      const name = role && `${role.id}@v${role.version}`;
      if (tokens) deps.observe?.({ is: "tokens", tokens, role: name, model: modelName });
    },
  };
}

function passFor(end: Exclude<TurnEnd, { text: string }>): Passed {
  const failed = (code: ErrorCode): Passed => {
    return { is: "pass", because: `failed: ${end.says}`, error: { code, text: end.says } };
  };
  switch (end.why) {
    case "model":
    case "time":
      return failed("E_MODEL");
    case "budget":
      return { is: "pass", because: "over budget", error: { code: "E_BUDGET", text: "the month's budget is used up" } };
    case "ours":
    case "gone":
      return failed("E_INTERNAL");
  }
}

function endedBy(
  error: unknown,
  { order, run, deadline }: { order: RunOrder; run: RunWith; deadline: Deadline },
): Answered | Passed {
  if (error instanceof Ended) return error.outcome;
  if (run.signal.aborted) return { is: "pass", because: "stopped" };
  if (deadline.signal.aborted) return passFor({ why: "time", says: `no answer in ${order.limitMs} ms` });
  if (error instanceof ToolFailure) {
    const { code, message } = error;
    const failed = {
      status: "ERROR" as const,
      cacheable: false,
      error: { code, text: message },
      askBack: ASK_FOR_LESS,
    };
    return { is: "answer", ...failed, because: `failed: ${code}` };
  }
  run.deps.log.warn({ error: error instanceof Error ? error.stack : String(error) }, "the answer-runner failed");
  return { is: "pass", because: "failed: E_INTERNAL", error: { code: "E_INTERNAL", text: "the answer-runner failed" } };
}

async function outcomeOf(said: Said, order: RunOrder, run: RunWith, calls: ToolCalls): Promise<Answered | Passed> {
  const { reading, reply, prompt } = said;
  const { offer, role } = order;
  const attestation: Attestation = {
    context_hash: offer.ask.contextHash,
    role_id: role?.id ?? "none",
    role_version: role?.version ?? 0,
    model: run.modelName,
    prompt_fingerprint: prompt.fingerprint,
    tools_used: calls.used(),
    policy_version: offer.trace.policy_version,
  };
  if (reading.misfits.length > 0) return downgraded(reading, reply, { order, attestation });
  if (offer.ask.type === "POLICY_DECISION") return { is: "pass", because: `machine opinion: ${opinionIn(reading)}` };
  if (reading.error !== undefined) {
    const error = { code: "E_MODEL" as const, text: reading.error };
    return { is: "pass", because: "the model could not answer", error, ...roundBack(reading, order, run) };
  }
  if (reading.askBack !== undefined || reading.isUnsure) {
    return { is: "pass", because: "insufficient", ...roundBack(reading, order, run) };
  }
  const written = new Set(calls.artifacts());
  const named = (reading.artifacts ?? []).filter((path) => written.has(path));
  const dropped = (reading.artifacts?.length ?? 0) - named.length;
  if (dropped > 0)
    run.deps.log.warn({ ask_id: offer.ask.id, dropped }, "a model named artifacts that it did not write");
  return {
    is: "answer",
    status: "ANSWERED",
    ...(reading.text !== undefined && { text: reading.text }),
    ...(reading.json !== undefined && { json: reading.json }),
    ...(named.length > 0 && { artifacts: named }),
    ...(reading.truncated && { truncated: true }),
    cacheable: !calls.hasChangedAnything(),
    attestation,
    because: "answered",
  };
}

function downgraded(
  { misfits, code = "E_JSON_SCHEMA" }: Reading,
  reply: string,
  { order, attestation }: { order: RunOrder; attestation: Attestation },
): Answered | Passed {
  const { offer, role } = order;
  const text = misfits.map(({ path, message }) => `${path || "the reply"} ${message}`).join("; ");
  const error = { code, text: firstChars(text, 500) };
  const { type } = offer.ask;
  // Of options somebody has to pick one, and of an opinion nobody needs half.
  if (type === "POLICY_DECISION" || (type === "CHOICE" && offer.options.length > 0)) {
    return { is: "pass", because: `failed: ${code}`, error };
  }
  const common = { is: "answer" as const, cacheable: false, error, attestation, because: `downgraded: ${code}` };
  if (role?.guardrails.has("must_return_json")) return { ...common, status: "ERROR" };
  return { ...common, status: "ANSWERED", text: firstChars(reply.trim(), MOST_DOWNGRADED) };
}

/** The question that people are shown beside the ask; none where there were enough rounds already. */
function roundBack({ askBack }: Reading, { offer }: RunOrder, { deps }: RunWith): { askBack?: string } {
  return askBack !== undefined && offer.rounds.length < deps.maxAskBackRounds ? { askBack } : {};
}

function opinionIn({ json, text = "" }: Reading): string {
  const { decision, rules } = (typeof json === "object" && json !== null ? json : {}) as Record<string, unknown>;
  if (typeof decision !== "string") return firstChars(text, 200) || "none";
  const names = Array.isArray(rules) ? rules.filter((rule): rule is string => typeof rule === "string") : [];
  return firstChars(names.length > 0 ? `${decision} (${names.join(", ")})` : decision, 200);
}
