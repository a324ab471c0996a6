import { z } from "zod";
import type { QuestionId } from "../../core/model/ids.ts";
import { readWhenBack } from "../../core/read-when-back.ts";
import { isFinal, readQuestion, waitForQuestion, type QuestionReading } from "../../questions/read.ts";
import { integer } from "../../wire/fields.ts";
import { checkFields } from "../http/check-fields.ts";
import { questionIdOf } from "../http/ids.ts";
import type { DoorContext } from "../http/door.ts";
import type { JsonMembers } from "./rpc.ts";
import { responsesResult } from "./tool-result.ts";
import { WAIT_TOOL } from "./tools.ts";

const Check = z.object({ question_id: z.string() });
const Wait = z.object({
  question_id: z.string(),
  min_responses: integer(1, 50).optional(),
  max_wait_seconds: integer(0, 3600).optional(),
});

const LONGER_HOLD_S = 300;
const SHORTER_HOLD_S = 50;
const CHECK_LATER = "More people may still answer: check again later, or call wait_for_human_responses.";
const WAIT_AGAIN =
  "People have not finished answering. Go on with other work if you can, or call this tool again as `next` says.";

/** How a wait is held, and who hears of it meanwhile. */
export interface HeldWait {
  /** The client takes a stream. */
  canStream: boolean;
  /** The client hears of progress. */
  hasToken: boolean;
  /** Ends the wait, never the question. */
  signal: AbortSignal;
  /** Called with the answers so far, at first and with each new one. */
  onCount?: (have: number, wanted: number) => void;
}

/** The ask and the number of responses to wait for, and for how long. */
export interface WaitInput {
  questionId: QuestionId;
  minResponses: number | undefined;
  maxWaitSeconds: number | undefined;
}

/** Where a wait ended. */
export interface WaitEnd {
  reading: QuestionReading;
  /** Enough answers are in, or the question has ended. */
  isSettled: boolean;
  waitedMs: number;
}

/** Returns the handle of what is to be checked. @throws {Refusal} `invalid_input` */
export function readHandle(given: object): string {
  const checked = checkFields(Check, given);
  if ("error" in checked) throw checked.error;
  return checked.value.question_id;
}

/** Returns the question and its answers so far. It counts as one read. @throws {Refusal} */
export async function checkResponses(
  door: DoorContext,
  principal: string,
  questionId: QuestionId,
): Promise<JsonMembers> {
  await chargeRead(door, principal);
  const reading = await readQuestion(door.ctx, questionIdOf(questionId), principal);
  return responsesResult(reading, {}, isFinal(reading.question) ? undefined : CHECK_LATER);
}

/** Returns what is waited for. It counts as one read. @throws {Refusal} */
export async function readWaitInput(door: DoorContext, principal: string, given: object): Promise<WaitInput> {
  const checked = checkFields(Wait, given);
  if ("error" in checked) throw checked.error;
  await chargeRead(door, principal);
  const { question_id, min_responses, max_wait_seconds } = checked.value;
  return { questionId: question_id, minResponses: min_responses, maxWaitSeconds: max_wait_seconds };
}

/** Counts one read of the agent, of the same bucket as over HTTP. @throws {LimitRefusal} */
export async function chargeRead({ ctx, readLimits }: DoorContext, principal: string): Promise<void> {
  await readLimits.charge("agent reads", principal, ctx.crowd.limits.agentReadsPerHour);
}

/** Returns for how long a call is held (spec/mcp 5). */
export function holdSecondsOf(
  { maxWaitSeconds }: Pick<WaitInput, "maxWaitSeconds">,
  { canStream, hasToken }: HeldWait,
): number {
  if (!canStream) return Math.min(maxWaitSeconds ?? SHORTER_HOLD_S, SHORTER_HOLD_S);
  return maxWaitSeconds ?? (hasToken ? LONGER_HOLD_S : SHORTER_HOLD_S);
}

/**
 * Waits until enough answers are in, the question has ended, the hold is over, the client has gone, or the server
 * stops: whichever comes first. The number of one principal's waits is limited.
 *
 * @throws {Refusal} `rate_limited` when there are too many; `question_not_found`
 */
export async function holdForResponses(
  door: DoorContext,
  principal: string,
  input: WaitInput,
  hold: Pick<HeldWait, "signal" | "onCount"> & { seconds: number },
): Promise<WaitEnd> {
  const { ctx, config, limiter } = door;
  using _place = limiter.enter("mcp waits", principal, config.limits.longPolls);
  const start = ctx.clock.monotonic();
  const first = { waitMs: hold.seconds * 1000, signal: hold.signal };
  // Its stream may have begun by now, and then the wait stands.
  let reading = await readWhenBack(ctx, () => readQuestion(ctx, questionIdOf(input.questionId), principal), first);
  for (;;) {
    const { question } = reading;
    const wanted = wantedOf(reading, input);
    const isSettled = isFinal(question) || question.n >= wanted;
    const waitedMs = ctx.clock.monotonic() - start;
    const leftMs = hold.seconds * 1000 - waitedMs;
    if (isSettled || leftMs <= 0 || hold.signal.aborted || ctx.stopping.aborted) {
      return { reading, isSettled, waitedMs };
    }
    hold.onCount?.(question.n, wanted);
    reading = await waitForQuestion(ctx, input.questionId, principal, {
      waitMs: leftMs,
      after: question.n,
      signal: hold.signal,
    });
  }
}

/** How many answers are waited for. */
export function wantedOf({ question }: QuestionReading, { minResponses }: Pick<WaitInput, "minResponses">): number {
  return Math.min(minResponses ?? question.need, question.need);
}

/** Returns where a wait ended as the tool's result, with how to go on while there is more to come. */
export function waitResult(
  { reading, isSettled, waitedMs }: WaitEnd,
  { minResponses }: Pick<WaitInput, "minResponses">,
): JsonMembers {
  const waited = { settled: isSettled, waited_seconds: Math.floor(waitedMs / 1000) };
  if (isSettled) return responsesResult(reading, waited);
  const next = {
    tool: WAIT_TOOL,
    arguments: { question_id: reading.question.id, ...(minResponses !== undefined && { min_responses: minResponses }) },
  };
  return responsesResult(reading, { ...waited, next }, WAIT_AGAIN);
}
