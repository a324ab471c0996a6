import { isDeepStrictEqual } from "node:util";
import { functionOf } from "../gate/model/gate-call.ts";
import type { ListedTool } from "../gate/model/tool.ts";
import type { WireGateAnswer } from "../wire/gate.ts";
import { findAlikeNames } from "./alike-names.ts";
import { ServerUnreachable, RequestRefused } from "./gate-client.ts";
import type { Gathering } from "./gathering.ts";
import type { JudgedTools } from "./judged-tools.ts";
import { CODE, errorLine, lineOf, toolErrorLine } from "./messages.ts";
import type { Rounds } from "./rounds.ts";
import { hasSameTargets, PreviewFailed, previewCall, type PreviewContext } from "./preview-call.ts";
import { refuseRun, runLeg, startRun, type RunContext, type StartedReply } from "./run.ts";
import { progressTokenOf, type ClientCall } from "./tool-call.ts";
import { behindWords, changedWords, deniedWords, otherTargetsWords, pendingWords, unshownWords } from "./words.ts";

/** The parts of a gate that one tool call needs. */
export interface CallContext extends RunContext, PreviewContext {
  judged: JudgedTools;
  gathering: Gathering;
  rounds: Rounds;
  /** Returns a text that no other run has. */
  newRun: () => string;
  /** How long a client is held that receives no progress. */
  holdMs: number;
}

const BEAT_MS = 10_000;
const ASK_AGAIN_S = 25;
/** Above every other, so that progress of the tool itself, which begins anywhere, is never less. */
const PROGRESS_OF_A_SECOND = 1e-6;

/**
 * Answers one `tools/call`: asks whether it may run, keeps the client alive meanwhile, has it run once, and says how it
 * ended. The next round of a call that runs asks nobody. `signal` says that nobody waits for the result any more: it ends
 * the wait, and neither what was asked nor what runs.
 */
export async function answerCall(on: CallContext, call: ClientCall, signal: AbortSignal): Promise<void> {
  const say = (line: string) => {
    if (!signal.aborted) on.toClient(line);
  };
  try {
    if (call.nextRound) return await continueRun(on, call, signal);
    const { id, args } = call;
    const start = on.clock.monotonic();
    const place = on.gathering.place();
    const tool = await on.tools.find(call, signal);
    if (!tool) return say(unknownToolLine(call));
    const alike = findAlikeNames(args, tool["inputSchema"]);
    if (alike) return say(errorLine(id, CODE.invalidParams, alikeWords(alike)));
    if (await on.judged.isPlanned(tool, signal)) await on.gathering.join({ tool, arguments: args }, place, signal);
    const asking = { call, tool, run: on.newRun(), start };
    const says = "waiting for a person to decide";
    const reply = await withProgress(on, { ...asking, says }, signal, () => askedFor(on, asking, signal));
    if (reply.state === "started") return await runStarted(on, asking, reply, signal);
    const fn = functionOf({ gate: on.gate, tool: tool.name });
    say(toolErrorLine(id, wordsOf(fn, reply), stateOf(reply)));
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof PreviewFailed) {
      return say(toolErrorLine(call.id, unshownWords(call.name, error.message), { state: "preview_failed" }));
    }
    if (error instanceof ServerUnreachable || error instanceof RequestRefused) {
      const why = error instanceof ServerUnreachable ? "unreachable" : "refused";
      return say(toolErrorLine(call.id, `The call did not run: ${error.message}`, { state: why }));
    }
    say(errorLine(call.id, CODE.internal, "The gate could not pass this on"));
    throw error;
  }
}

/** A call that is asked about, of a tool as its server listed it then. */
interface Asking {
  call: ClientCall;
  tool: ListedTool;
  run: string;
  /** When the call came, in ms of the monotonic clock. */
  start: number;
}

/** Asks about a call, and shows its targets where the server wants them seen. */
async function askedFor(on: CallContext, asking: Asking, signal: AbortSignal): Promise<StartedReply | EndReply> {
  const { call, tool, run } = asking;
  const { args } = call;
  const ask = () =>
    askedWith(on, asking, signal, (wait_seconds) =>
      on.client.ask({ tool, arguments: args, run, wait_seconds, previews: true }, signal),
    );
  let reply = await ask();
  if (reply.state === "preview") {
    const preview = await previewCall(on, call, reply.way, signal);
    await on.client.plan({ calls: [{ tool, arguments: args, preview }], run: on.newRun() }, signal);
    reply = await ask();
  }
  if (reply.state === "preview") throw new PreviewFailed("the server does not take them");
  return reply;
}

/** Runs a call that was started, unless its targets or its tool are no longer those of the approval. */
async function runStarted(on: CallContext, asking: Asking, reply: StartedReply, signal: AbortSignal): Promise<void> {
  const { gate, tools } = on;
  const { call, tool } = asking;
  const { id: call_id, preview } = reply;
  const fn = functionOf({ gate, tool: tool.name });
  const run = startRun(on, { call, fn, run: asking.run, reply });
  const refusal = async () => {
    const says = "looking at the targets again";
    const look = () => !preview || hasSameTargets(on, call, preview, signal);
    if (!(await withProgress(on, { ...asking, says }, signal, look))) {
      return toolErrorLine(call.id, otherTargetsWords(fn), { state: "targets_changed", call_id });
    }
    // Its server may have changed the tool while people decided.
    const listed = await tools.find(call, signal);
    if (!listed) return unknownToolLine(call);
    return isDeepStrictEqual(listed, tool)
      ? null
      : toolErrorLine(call.id, changedWords(fn), { state: "changed", tool: fn });
  };
  let refused: string | null | undefined;
  try {
    refused = await refusal();
  } finally {
    if (refused !== null || signal.aborted) await refuseRun(on, run);
  }
  if (signal.aborted) return;
  return refused === null ? runLeg(on, run, call, signal) : on.toClient(refused);
}

function unknownToolLine({ id, name }: ClientCall): string {
  return errorLine(id, CODE.invalidParams, `Unknown tool: ${name}`);
}

/** Only the run that got this `input_required`, with the same tool and arguments, goes on (spec/gate 6). */
async function continueRun(on: CallContext, call: ClientCall, signal: AbortSignal): Promise<void> {
  const run = on.rounds.take(call);
  if (run) return runLeg(on, run, call, signal);
  const says = "This continues no call that runs on this connection: make the call again without requestState";
  on.toClient(errorLine(call.id, CODE.invalidParams, says));
}

function alikeWords([one, other]: readonly [string, string]): string {
  return `Two names in the arguments or their schema differ in capitals alone: ${JSON.stringify([one, other])}`;
}

type EndReply = Exclude<WireGateAnswer, StartedReply | { state: "preview" }>;

function wordsOf(fn: string, reply: EndReply): string {
  switch (reply.state) {
    case "waiting":
      return reply.status === "approved" ? behindWords(fn, reply) : pendingWords(fn, reply);
    case "denied":
      return deniedWords(fn, reply);
    case "changed":
      return changedWords(fn);
  }
}

function stateOf(reply: EndReply): object {
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
 * wait, from when the call came.
 */
async function askedWith(
  { clock, holdMs }: CallContext,
  { call, start }: Asking,
  signal: AbortSignal,
  ask: (waitSeconds: number) => Promise<WireGateAnswer>,
): Promise<WireGateAnswer> {
  const isTold = progressTokenOf(call) !== undefined;
  for (;;) {
    const leftS = isTold ? ASK_AGAIN_S : Math.ceil((holdMs - (clock.monotonic() - start)) / 1000);
    const reply = await ask(Math.max(0, Math.min(ASK_AGAIN_S, leftS)));
    const isHeld = isTold || clock.monotonic() - start < holdMs;
    if (reply.state !== "waiting" || !isHeld || signal.aborted) return reply;
  }
}

/** Sends progress with these words, to a client that asked for it, until what the call waits for is there. */
async function withProgress<T>(
  { clock, toClient }: CallContext,
  { call, start, says: message }: Asking & { says: string },
  signal: AbortSignal,
  wait: () => T | Promise<T>,
): Promise<T> {
  const token = progressTokenOf(call);
  const over = new AbortController();
  const beat = async () => {
    for (;;) {
      await clock.sleep(BEAT_MS, over.signal);
      if (over.signal.aborted || signal.aborted || token === undefined) return;
      const progress = ((clock.monotonic() - start) / 1000) * PROGRESS_OF_A_SECOND;
      const params = { progressToken: token, progress, message };
      toClient(lineOf({ jsonrpc: "2.0", method: "notifications/progress", params }));
    }
  };
  const beating = beat();
  try {
    return await wait();
  } finally {
    over.abort();
    await beating;
  }
}
