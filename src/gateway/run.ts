import { functionOf } from "../gate/model/gate-call.ts";
import type { Clock } from "../lib/clock.ts";
import { canonicalExact, isJsonObject, membersOf, readExactJson, sha256Digest } from "../lib/json/exact-json.ts";
import { consentText } from "../requests/model/consent.ts";
import type { WireGateAnswer } from "../wire/gate.ts";
import type { CallEnd, GateClient } from "./gate-client.ts";
import { isReadable, lineOf, toolErrorLine, type RpcIdentity, type RpcJson, type ServerMessage } from "./messages.ts";
import { callLine, knowsRounds, type ClientCall } from "./tool-call.ts";
import { editedWords, misfitWords, unknownWords, unreadableWords } from "./words.ts";

/** The parts of a gate that a run needs. */
export interface RunContext {
  gate: string;
  client: GateClient;
  clock: Clock;
  /** Keeps a run whose answer asks for a next round. */
  rounds: { keep(run: Run, result: RpcJson): void };
  toClient(line: string): void;
  /** Passes a request on, and resolves with the answer; null where the server ends without one. */
  exchange(id: RpcIdentity, line: string): Promise<ServerMessage | null>;
}

export type StartedReply = WireGateAnswer & { state: "started" };

/** A call that was started, until its end is known. */
export interface Run {
  tool: string;
  fn: string;
  run: string;
  /** The arguments that the client sent, in canonical JSON. */
  asked: string;
  /** The arguments that were approved. */
  args: RpcJson;
  reply: StartedReply;
  /** Ends the signs of life. */
  over: AbortController;
  /** Resolves after the last sign of life. */
  held: Promise<void>;
}

const HOLD_AGAIN_MS = 20_000;
/** The client waits so long for its result until the end of the run is stored; the rest goes on without it. */
const END_MS = 5000;

/** Makes a run of a call that was started, and shows from then on that it runs. */
export function startRun(
  on: RunContext,
  { call, fn, run, reply }: { call: ClientCall; fn: string; run: string; reply: StartedReply },
): Run {
  const over = new AbortController();
  const asked = canonicalExact(call.args);
  const args = reply.edited ? membersOf(reply.arguments) : call.args;
  const held = hold(on, { id: reply.id, run }, over.signal);
  return { tool: call.name, fn, run, asked, args, reply, over, held };
}

/**
 * Sends one leg of a run, with what was approved and nothing else, and reports how the run ended before the client
 * receives the result. An answer `input_required` does not end it: the run waits for its next round.
 */
export async function runLeg(on: RunContext, run: Run, call: ClientCall, signal: AbortSignal): Promise<void> {
  const line = callLine(call, run.args);
  if (!isApproved(on.gate, run, line)) {
    await refuseRun(on, run);
    throw new Error(`What was approved is not what would run as ${run.fn}`);
  }
  const stop = () => run.over.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const answer = await on.exchange(call.id, line);
  signal.removeEventListener("abort", stop);
  const isRound = answer !== null && knowsRounds(call) && isInputRequired(answer);
  if (isRound && !signal.aborted) {
    on.rounds.keep(run, membersOf(answer.json["result"]));
    return on.toClient(answer.line);
  }
  await endRun(on, run, isRound ? { outcome: "lost" } : endOf(answer, call));
  if (!signal.aborted) on.toClient(clientLine(run, call, answer));
}

/** Reports that a run was started, and that its server has not got it. */
export function refuseRun(on: Pick<RunContext, "client" | "clock">, run: Run): Promise<void> {
  return endRun(on, run, { outcome: "error", result_digest: sha256Digest("refused before it ran") });
}

/** Ends the signs of life of a run, and reports its end. */
export async function endRun(on: Pick<RunContext, "client" | "clock">, run: Run, end: CallEnd): Promise<void> {
  run.over.abort();
  await run.held;
  await Promise.race([on.client.end(run.reply.id, run.run, end), on.clock.sleep(END_MS)]);
}

/** The digest is computed again over the very text that the server gets (spec/gate 3). */
function isApproved(gate: string, { asked, reply }: Run, line: string): boolean {
  const { name, arguments: args = {} } = membersOf(membersOf(readExactJson(line))["params"]);
  const canonical = canonicalExact(args);
  const isOfThis = canonical === canonicalExact(reply.arguments) && (reply.edited || canonical === asked);
  return isOfThis && sha256Digest(consentText(functionOf({ gate, tool: String(name) }), canonical)) === reply.digest;
}

function isInputRequired({ json }: ServerMessage): boolean {
  const { resultType, inputRequests, requestState } = membersOf(json["result"]);
  const asks = isJsonObject(inputRequests) && Object.keys(inputRequests).length > 0;
  return resultType === "input_required" && (asks || typeof requestState === "string");
}

/** Shows that a call runs, until it does not, or nobody waits for its result any more. */
async function hold(
  { client, clock }: RunContext,
  { id, run }: { id: string; run: string },
  over: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(HOLD_AGAIN_MS, over);
    if (over.aborted) return;
    await client.hold(id, run);
  }
}

/** A client that does not know rounds takes every result for a complete one, also one that asks for more. */
function isOfClient({ json }: ServerMessage, call: ClientCall): boolean {
  const { resultType = "complete" } = membersOf(json["result"]);
  return knowsRounds(call) || resultType === "complete";
}

/** Returns how a run ended; the digest is of the canonical JSON of the result or error, else of the line. */
function endOf(answer: ServerMessage | null, call: ClientCall): CallEnd {
  if (!answer) return { outcome: "lost" };
  const { result, error } = answer.json;
  const isError = result === undefined || membersOf(result)["isError"] === true || !isOfClient(answer, call);
  const text = isReadable(answer) ? textOr(answer.line, () => canonicalExact(result ?? error)) : answer.line;
  return { outcome: isError ? "error" : "result", result_digest: sha256Digest(text) };
}

/** A value can be nested too deep to be written. */
function textOr(other: string, write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) return other;
    throw error;
  }
}

function clientLine({ fn, args, reply }: Run, call: ClientCall, answer: ServerMessage | null): string {
  const { id: call_id } = reply;
  if (!answer) return toolErrorLine(call.id, unknownWords(fn), { state: "unknown", call_id });
  if (!isReadable(answer)) return toolErrorLine(call.id, unreadableWords(fn), { state: "unreadable", call_id });
  if (!isOfClient(answer, call)) return toolErrorLine(call.id, misfitWords(fn), { state: "misfit", call_id });
  const { json, line } = answer;
  const result = membersOf(json["result"]);
  if (!reply.edited || result !== json["result"]) return line;
  const content = Array.isArray(result["content"]) ? (result["content"] as unknown[]) : [];
  const text = editedWords(fn, canonicalExact(args), reply.decided_by?.name ?? "a person");
  const meta = { ...membersOf(result["_meta"]), "parley/gate": { state: "edited", arguments: args } };
  const edited = { ...json, result: { ...result, content: [...content, { type: "text", text }], _meta: meta } };
  return textOr(line, () => lineOf(edited));
}
