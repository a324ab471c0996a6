import type { AskType } from "../../core/model/ask-type.ts";
import type { ResponderAnswer, AskOffer, ResponderPass, Responder } from "../responder.ts";
import { decisiveAsk, type DecisiveAsk } from "../../asks/model/decision-key.ts";
import { checkInstalled } from "../../lib/installed.ts";
import { inputProblems, type Role } from "../roles/role.ts";
import { type Children, openChildren } from "./children.ts";
import type { RunnerDeps, RunnerSettings } from "./deps.ts";
import { openPlaces, type ConcurrencySlots } from "./places.ts";
import { runOnce } from "./run.ts";
import { ARTIFACT_WRITE, type PlannedTool, planTools } from "./tool-plan.ts";
import type { ModelAddress } from "./wire.ts";

/** Where the answer-runner stands. */
export interface RunnerState {
  /** `provider/model`; null while none is set, or its key is missing. */
  model: string | null;
  /** Why it answered nothing when it was last asked, or null; it is asked again all the same. */
  trouble: string | null;
  busy: number;
  queued: number;
}

export interface Runner {
  responder: Responder;
  state(): RunnerState;
  /** Ends every process and connection. */
  close(): Promise<void>;
}

const MOST_BUSY = 8;
const MOST_QUEUED = 256;
const MOST_MS = 60_000;
const GRACE_MS = 1000;
const USUAL_TOKENS = 512;
const MOST_TOKENS = 8192;

/** Where each provider's own programs look for its key. */
const USUAL_KEY: Readonly<Record<ModelAddress["provider"], string | null>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
  // A model of one's own, such as Ollama or vLLM, often wants none.
  "openai-compatible": null,
};

/**
 * Opens the responder that has a model answer (spec/relay 12). Off, with the reason in every pass, until
 * a model and its key are set.
 *
 * @throws {Error} one sentence for the operator, where the packages of the model's provider are not installed
 */
export function openRunner(deps: RunnerDeps): Runner {
  const found = addressOf(deps.settings, deps.env);
  if ("off" in found) return offRunner(found.off);

  const { address, key } = found;
  checkInstalled(`The model ${deps.settings.model} is configured`, ["ai", `@ai-sdk/${address.provider}`]);
  const modelName = `${address.provider}/${address.model}`;
  const children = openChildren({
    address,
    env: { ...pick(deps.env, ["PATH", "LANG"]), ...key },
    clock: deps.clock,
    onFailure: (text) =>
      void deps.redact(text).then((words) => deps.log.warn({ output: words }, "a process of the answer-runner failed")),
  });
  const places = openPlaces(MOST_BUSY, MOST_QUEUED);
  const closing = new Set<Promise<unknown>>();
  let isOverBudget = false;

  function keepClosing(work: Promise<unknown>): void {
    const done = work.catch(() => undefined).finally(() => closing.delete(done));
    closing.add(done);
  }

  const running: Running = { deps, modelName, children, places, keepClosing };

  async function respond(offer: AskOffer, signal: AbortSignal): Promise<ResponderAnswer | ResponderPass> {
    const from = deps.clock.monotonic();
    const order = await orderFor(offer, deps);
    if ("kind" in order) return order;
    isOverBudget = !(await deps.budget.isLeft());
    if (isOverBudget) return pass("over budget");

    const work = () => takeTurn(running, { ...order, offer }, from, signal);
    const { ask } = offer;
    // A run that may leave changes or artifacts with its job is not shared with an ask of another job.
    const mayChange = order.plan.some(({ name, settings }) => name === ARTIFACT_WRITE || settings?.read_only === false);
    const isShared = ask.decisionKey !== null && !mayChange;
    if (!isShared || ask.decisionKey === null) return work();
    return (await deps.share(ask.decisionKey, ask.id, signal, work)) ?? pass("the run it shares did not end");
  }

  return {
    responder: { name: "runner", respond },
    state: () => ({
      model: modelName,
      trouble: isOverBudget ? "over budget" : children.trouble,
      busy: places.busy,
      queued: places.queued,
    }),
    async close() {
      await children.close();
      await Promise.all(closing);
    },
  };
}

/** The parts that all runs of one runner share. */
interface Running {
  deps: RunnerDeps;
  modelName: string;
  children: Children;
  places: ConcurrencySlots;
  /** Has the runner's end wait for this. */
  keepClosing(work: Promise<unknown>): void;
}

/** Has a child answer as soon as there is a place, with what is left of the offer's time since `from`. */
async function takeTurn(
  running: Running,
  order: OfferedOrder,
  from: number,
  signal: AbortSignal,
): Promise<ResponderAnswer | ResponderPass> {
  const { places, deps } = running;
  const entered = await places.enter(signal);
  if (entered === null) return pass("saturated");
  if (!entered) return pass("stopped");
  try {
    const leftMs = order.offer.leftMs - (deps.clock.monotonic() - from);
    const limitMs = Math.floor(Math.min(leftMs, order.timeoutMs, MOST_MS));
    if (limitMs <= 0) return pass("no time left");
    return await bounded(running, order, limitMs, signal);
  } finally {
    places.leave();
  }
}

/** Ends within a second of the limit, whatever hangs. */
async function bounded(
  { deps, modelName, children, keepClosing }: Running,
  order: OfferedOrder,
  limitMs: number,
  signal: AbortSignal,
): Promise<ResponderAnswer | ResponderPass> {
  const stop = new AbortController();
  const from = deps.clock.monotonic();
  const child = children.take();
  const run = runOnce(
    { ...order, limitMs },
    { deps, child, modelName, signal: AbortSignal.any([signal, stop.signal]), closing: keepClosing },
  );
  const words = `no answer in ${limitMs} ms`;
  const late = deps.clock.sleep(limitMs + GRACE_MS, AbortSignal.any([signal, stop.signal])).then((): ResponderPass => {
    child.end();
    return signal.aborted ? pass("stopped") : pass(`failed: ${words}`, { code: "E_MODEL", text: words });
  });
  keepClosing(run);
  const outcome = await Promise.race([run, late]);
  stop.abort();
  const isFailed = outcome.error !== undefined;
  const kind = isFailed ? "failed" : outcome.kind === "answer" ? "answered" : "passed";
  deps.observe?.({ kind: "run", outcome: kind, ms: Math.round(deps.clock.monotonic() - from) });
  return outcome;
}

interface Order {
  decisive: DecisiveAsk;
  role: Role | null;
  plan: readonly PlannedTool[];
  maxTokens: number;
  timeoutMs: number;
  input?: unknown;
}

type OfferedOrder = Order & { offer: AskOffer };

/** Returns the order of a run, or the answer or pass that makes a run unnecessary. */
async function orderFor({ ask }: AskOffer, deps: RunnerDeps): Promise<Order | ResponderAnswer | ResponderPass> {
  if (ask.type === "APPROVAL") return pass("never asked for an approval");
  if (ask.type === "POLICY_DECISION" && !deps.policyAdvice) return pass("off for policy decisions");
  const role = roleOf(ask, deps);
  if (role === "missing") return fail("E_ROLE_NOT_FOUND", `there is no role ${ask.roleId}`);

  if (role) {
    const [problem] = await inputProblems(role, ask.meta, deps.schemas);
    if (problem) return fail("E_ROLE_INPUT", `${problem.path || "meta.input"} ${problem.message}`);
  }
  const decisive = decisiveAsk(ask);
  const plan = planTools(decisive, role, deps.tools);
  if ("skip" in plan) return pass(plan.skip);
  if ("violation" in plan) return fail("E_CAPS_VIOLATION", plan.violation);

  const { maxTokens, timeoutS } = role?.limits ?? { maxTokens: null, timeoutS: null };
  const isAdvice = ask.type === "POLICY_DECISION";
  return {
    decisive,
    role,
    // An opinion is formed from what is written, and from nothing else.
    plan: isAdvice || (role?.limits.maxToolCalls ?? 1) === 0 ? [] : plan.tools,
    maxTokens: Math.min(ask.constraints.maxTokens ?? maxTokens ?? USUAL_TOKENS, MOST_TOKENS),
    timeoutMs: (timeoutS ?? MOST_MS / 1000) * 1000,
    ...(isAdvice && { input: adviceInput(decisive.meta, deps) }),
  };
}

function roleOf(ask: { type: AskType; roleId: string | null }, { roles }: RunnerDeps): Role | null | "missing" {
  // Whose opinion is asked is not the asker's to choose.
  if (ask.roleId !== null && ask.type !== "POLICY_DECISION") return roles.find(ask.roleId) ?? "missing";
  const usual = roles.defaultOf(ask.type);
  return usual === null ? null : roles.find(usual);
}

function adviceInput(meta: Readonly<Record<string, unknown>>, { policyText }: RunnerDeps): unknown {
  return { action: meta["action"] ?? "unknown", resource: meta["resource"] ?? "", policy_yaml: policyText() };
}

function pass(because: string, error?: ResponderPass["error"]): ResponderPass {
  return { kind: "pass", because, ...(error && { error }) };
}

function fail(code: "E_ROLE_NOT_FOUND" | "E_ROLE_INPUT" | "E_CAPS_VIOLATION", text: string): ResponderAnswer {
  return { kind: "answer", status: "ERROR", cacheable: false, error: { code, text }, because: `failed: ${code}` };
}

function offRunner(off: string): Runner {
  return {
    responder: { name: "runner", respond: async () => pass(off) },
    state: () => ({ model: null, trouble: off, busy: 0, queued: 0 }),
    close: async () => undefined,
  };
}

function addressOf(
  { model, baseUrl, apiKeyEnv, temperature }: RunnerSettings,
  env: RunnerDeps["env"],
): { address: ModelAddress; key: Record<string, string> } | { off: string } {
  if (model === undefined) return { off: "no model is set" };
  const slash = model.indexOf("/");
  const provider = model.slice(0, slash) as ModelAddress["provider"];
  if (!Object.hasOwn(USUAL_KEY, provider)) return { off: `there is no provider ${provider}` };
  if (provider === "openai-compatible" && baseUrl === undefined) return { off: "the model's address is not set" };
  const keyName = apiKeyEnv ?? USUAL_KEY[provider];
  const key = keyName === null ? {} : pick(env, [keyName]);
  if (keyName !== null && !key[keyName]) return { off: `the environment has no ${keyName}` };
  return { address: { provider, model: model.slice(slash + 1), baseUrl: baseUrl ?? null, keyName, temperature }, key };
}

function pick(env: RunnerDeps["env"], names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, env[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}
