import { functionOf } from "../gate/model/gate-call.ts";
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
    const place = on.gathering.place();
    const tool = await on.tools.find(call, signal);
    if (!tool) return say(errorLine(id, CODE.invalidParams, `Unknown tool: ${call.name}`));
    const alike = findAlikeNames(args, tool["inputSchema"]);
    if (alike) return say(errorLine(id, CODE.invalidParams, alikeWords(alike)));
    if (await on.judged.isPlanned(tool, signal)) await on.gathering.join({ tool, arguments: args }, place, signal);
    const fn = functionOf({ gate: on.gate, tool: tool.name });
    const run = on.newRun();
    const ask = () =>
      askedWith(on, call, signal, (wait_seconds) =>
        on.client.ask({ tool, arguments: args, run, wait_seconds, previews: true }, signal),
      );
    let reply = await ask();
    if (reply.state === "preview") {
      const preview = await previewCall(on, call, reply.way, signal);
      await on.client.plan({ calls: [{ tool, arguments: args, preview }], run: on.newRun() }, signal);
      reply = await ask();
    }
    if (reply.state === "preview") throw new PreviewFailed("the server does not take them");
    if (reply.state === "started") return await runStarted(on, { call, fn, run, reply }, signal);
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

/** Runs a call that was started, unless its targets are no longer those that people saw. */
async function runStarted(
  on: CallContext,
  { call, fn, run: name, reply }: { call: ClientCall; fn: string; run: string; reply: StartedReply },
  signal: AbortSignal,
): Promise<void> {
  const run = startRun(on, { call, fn, run: name, reply });
  const { preview } = reply;
  if (!preview) return runLeg(on, run, call, signal);
  let isSame = false;
  try {
    isSame = await hasSameTargets(on, call, preview, signal);
  } finally {
    if (!isSame) await refuseRun(on, run);
  }
  if (isSame) return runLeg(on, run, call, signal);
  const state = { state: "targets_changed", call_id: reply.id };
  if (!signal.aborted) on.toClient(toolErrorLine(call.id, otherTargetsWords(fn), state));
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
 * wait.
 */
async function askedWith(
  { clock, toClient, holdMs }: CallContext,
  call: ClientCall,
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
      toClient(lineOf({ jsonrpc: "2.0", method: "notifications/progress", params }));
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
