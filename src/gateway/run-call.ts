import type { Clock } from "../lib/clock.ts";
import { canonicalExact, membersOf, sha256Digest } from "../lib/json/exact-json.ts";
import { functionOf } from "../gate/model/gate-call.ts";
import { consentText } from "../requests/model/consent.ts";
import type { WireGateAnswer } from "../wire/gate.ts";
import { ServerUnreachable, RequestRefused, type GateClient, type CallEnd } from "./gate-client.ts";
import { errorLine, isRequest, progressTokenOf, toolErrorLine, type RpcMessage, type RpcIdentity } from "./messages.ts";
import type { ToolList } from "./tool-list.ts";
import { changedWords, deniedWords, editedWords, pendingWords } from "./words.ts";

/** The parts of a gate that one tool call needs. */
export interface CallContext {
  gate: string;
  client: GateClient;
  tools: ToolList;
  clock: Clock;
  /** Returns a text that no other run has. */
  newRun: () => string;
  /** How long a client is held that receives no progress. */
  holdMs: number;
  toClient(line: string): void;
  /** Passes a request on, and resolves with the answer; null where the server ends without one. */
  exchange(id: RpcIdentity, line: string): Promise<RpcMessage | null>;
}

const BEAT_MS = 10_000;
const HOLD_AGAIN_MS = 20_000;
const ASK_AGAIN_S = 25;
/** The client waits so long for its result until the end of the run is stored; the rest goes on without it. */
const END_MS = 5000;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
/** Above every other, so that progress of the tool itself, which begins anywhere, is never less. */
const PROGRESS_OF_A_SECOND = 1e-6;

type Started = WireGateAnswer & { state: "started" };

/**
 * Answers one `tools/call`: asks whether it may run, keeps the client alive meanwhile, has it run once, and says how it
 * ended. `signal` says that nobody waits for the result any more: it ends the wait, and neither what was asked nor what
 * runs.
 */
export async function answerCall(on: CallContext, call: RpcMessage, signal: AbortSignal): Promise<void> {
  const { id } = call;
  if (id === undefined || !isRequest(call)) return;
  const say = (line: string) => {
    if (!signal.aborted) on.toClient(line);
  };
  try {
    const { name } = call.params;
    const given = call.params["arguments"] ?? {};
    const args = membersOf(given);
    const tool = typeof name === "string" ? await on.tools.find(name, call, signal) : undefined;
    if (!tool) return say(errorLine(id, INVALID_PARAMS, `Unknown tool: ${String(name)}`));
    if (args !== given) return say(errorLine(id, INVALID_PARAMS, "arguments must be an object"));
    const fn = functionOf({ gate: on.gate, tool: tool.name });
    const run = on.newRun();
    const reply = await askedWith(on, call, signal, (wait_seconds) =>
      on.client.ask({ tool, arguments: args, run, wait_seconds }, signal),
    );
    if (reply.state === "started") return await runStarted(on, { call, id, args, fn, run, reply }, signal);
    say(toolErrorLine(id, wordsOf(fn, reply), stateOf(reply)));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof ServerUnreachable || error instanceof RequestRefused) {
      const why = error instanceof ServerUnreachable ? "unreachable" : "refused";
      return say(toolErrorLine(id, `The call did not run: ${error.message}`, { state: why }));
    }
    say(errorLine(id, INTERNAL, "The gate could not pass this on"));
    throw error;
  }
}

function wordsOf(fn: string, reply: Exclude<WireGateAnswer, Started>): string {
  switch (reply.state) {
    case "waiting":
      return pendingWords(fn, reply);
    case "denied":
      return deniedWords(fn, reply);
    case "changed":
      return changedWords(fn);
  }
}

function stateOf(reply: Exclude<WireGateAnswer, Started>): object {
  if (reply.state === "changed") return { state: reply.state, tool: reply.tool };
  return {
    state: reply.state === "waiting" ? "pending" : reply.status,
    call_id: reply.call_id,
    ...(reply.state === "waiting" && { expires_at: reply.expires_at }),
    ...(reply.comment !== undefined && { comment: reply.comment }),
    ...(reply.decided_by && { decided_by: reply.decided_by }),
  };
}

/**
 * Asks until there is a decision: for as long as the client receives progress, and otherwise for as long as clients
 * wait.
 */
async function askedWith(
  { clock, toClient, holdMs }: CallContext,
  call: RpcMessage,
  signal: AbortSignal,
  ask: (waitSeconds: number) => Promise<WireGateAnswer>,
): Promise<WireGateAnswer> {
  const start = clock.monotonic();
  const token = progressTokenOf(call);
  const over = new AbortController();
  const beat = async () => {
    for (;;) {
      await clock.sleep(BEAT_MS, over.signal);
      if (over.signal.aborted || signal.aborted || token === undefined) return;
      const progress = ((clock.monotonic() - start) / 1000) * PROGRESS_OF_A_SECOND;
      const params = { progressToken: token, progress, message: "waiting for a person to decide" };
      toClient(JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params }));
    }
  };
  const beating = beat();
  try {
    for (;;) {
      const leftS = token === undefined ? Math.ceil((holdMs - (clock.monotonic() - start)) / 1000) : ASK_AGAIN_S;
      const reply = await ask(Math.max(0, Math.min(ASK_AGAIN_S, leftS)));
      const isHeld = token !== undefined || clock.monotonic() - start < holdMs;
      if (reply.state !== "waiting" || !isHeld || signal.aborted) return reply;
    }
  } finally {
    over.abort();
    await beating;
  }
}

interface Running {
  call: RpcMessage;
  id: RpcIdentity;
  /** The arguments that the client sent. */
  args: unknown;
  fn: string;
  run: string;
  reply: Started;
}

/** Runs what was approved, and nothing else, and reports how that ended before the client receives the result. */
async function runStarted(on: CallContext, running: Running, signal: AbortSignal): Promise<void> {
  const { call, id, fn, run, reply } = running;
  const { arguments: args, digest } = reply;
  const edited = reply.edited === true;
  const approved = canonicalExact(args);
  const isOfThis = edited || approved === canonicalExact(running.args);
  if (!isOfThis || sha256Digest(consentText(fn, approved)) !== digest) {
    const nothing = "refused before it ran";
    await on.client.end(reply.id, run, { outcome: "error", result_digest: sha256Digest(nothing) });
    throw new Error(`What was approved is not what would run as ${fn}`);
  }
  const line = edited ? JSON.stringify({ ...call.json, params: { ...call.params, arguments: args } }) : call.line;
  const over = new AbortController();
  const holding = hold(on, reply.id, run, [over.signal, signal]);
  const answer = await on.exchange(id, line);
  over.abort();
  await holding;
  const ended = on.client.end(reply.id, run, endOf(answer));
  await Promise.race([ended, on.clock.sleep(END_MS)]);
  if (signal.aborted) return;
  if (!answer) {
    const words = `${fn} was started, and its server ended without an answer: whether it ran is unknown.`;
    return on.toClient(toolErrorLine(id, words, { state: "unknown", call_id: reply.call_id }));
  }
  on.toClient(edited ? withEdited(answer, { fn, approved, reply }) : answer.line);
}

/** Shows that the call runs, until it does not, or nobody waits for its result any more. */
async function hold(
  { client, clock }: CallContext,
  id: string,
  run: string,
  over: readonly AbortSignal[],
): Promise<void> {
  const any = AbortSignal.any([...over]);
  for (;;) {
    await clock.sleep(HOLD_AGAIN_MS, any);
    if (any.aborted) return;
    await client.hold(id, run);
  }
}

/** Returns how a run ended, by the answer of its server; the digest is of the canonical JSON of its result or error. */
function endOf(answer: RpcMessage | null): CallEnd {
  if (!answer) return { outcome: "lost" };
  const { result, error } = answer.json;
  const isError = result === undefined || membersOf(result)["isError"] === true;
  return { outcome: isError ? "error" : "result", result_digest: sha256Digest(canonicalExact(result ?? error)) };
}

function withEdited(
  { json, line }: RpcMessage,
  { fn, approved, reply }: { fn: string; approved: string; reply: Started },
): string {
  const result = membersOf(json["result"]);
  if (result !== json["result"]) return line;
  const content = Array.isArray(result["content"]) ? (result["content"] as unknown[]) : [];
  const text = editedWords(fn, approved, reply.decided_by?.name ?? "a person");
  const meta = { ...membersOf(result["_meta"]), "parley/gate": { state: "edited", arguments: reply.arguments } };
  return JSON.stringify({
    ...json,
    result: { ...result, content: [...content, { type: "text", text }], _meta: meta },
  });
}
