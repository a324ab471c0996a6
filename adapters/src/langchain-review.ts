import { type Approver, type Decided, type GateOptions, keyOf, verdictOn } from "./approvals.ts";
import { type Asker, askHuman, NOBODY, withoutSteering } from "./ask-human.ts";

/** The interrupt of LangChain's `humanInTheLoopMiddleware`: calls that wait, and the decisions allowed for each. */
export interface Review {
  actionRequests: { name: string; args: Record<string, unknown>; description?: string }[];
  reviewConfigs: { actionName: string; allowedDecisions: string[]; argsSchema?: object }[];
}

/** The value that resumes the run: a decision on each call, in their order. */
export interface ReviewAnswer {
  decisions: (
    | { type: "approve" }
    | { type: "edit"; editedAction: { name: string; args: object } }
    | { type: "reject"; message: string }
    | { type: "respond"; message: string }
  )[];
}

export function isReview(value: unknown): value is Review {
  return (
    typeof value === "object" &&
    value !== null &&
    "actionRequests" in value &&
    "reviewConfigs" in value &&
    Array.isArray(value.actionRequests) &&
    Array.isArray(value.reviewConfigs)
  );
}

type ReviewedCall = Review["actionRequests"][number];
type ReviewDecision = ReviewAnswer["decisions"][number];
type ReviewOptions = GateOptions & { asked: readonly string[] };

/**
 * Resolves with what people decided on every call, all asked at once; they may edit arguments where the review says so.
 *
 * A call that may be responded to, and neither approved nor edited, is a question to people: their words are its result.
 * LangChain runs no call of a review in which one is rejected, so a rejection names the approved calls that did not run.
 */
export async function decisionsOn(
  parley: Asker & Approver,
  { actionRequests, reviewConfigs }: Review,
  { asked, ...options }: ReviewOptions,
): Promise<{ answer: ReviewAnswer; decided: Decided[] }> {
  const deciding = actionRequests.map(async (call, i): Promise<ReviewDecision | Decided> => {
    const config = reviewConfigs.find(({ actionName }) => actionName === call.name);
    const named = { ...options, asked: [...asked, String(i)] };
    return isToAnswer(config?.allowedDecisions ?? [])
      ? responseTo(parley, call, named)
      : verdictOnCall(parley, call, config, named);
  });
  const reviewed = await Promise.all(deciding);
  const decided = reviewed.filter((one) => "verdict" in one);
  const notRun = decided.some(({ verdict }) => !verdict.isApproved) ? callsNotRun(actionRequests, reviewed) : "";
  const decisions = actionRequests.map(({ name }, i) => {
    const one = reviewed[i] as ReviewDecision | Decided;
    return "verdict" in one ? decisionOf(name, one.verdict, notRun) : one;
  });
  return {
    answer: { decisions },
    decided: notRun === "" ? decided : decided.map((one) => ({ ...one, notRun: BESIDE })),
  };
}

const BESIDE = "Not run: a call beside it was rejected.";

/** Returns a sentence for the model on the approved calls beside a rejected one. */
function callsNotRun(calls: readonly ReviewedCall[], reviewed: readonly (ReviewDecision | Decided)[]): string {
  const approved = reviewed.flatMap((one, i) =>
    "verdict" in one && one.verdict.isApproved ? [`${calls[i]?.name} ${JSON.stringify(one.verdict.args)}`] : [],
  );
  if (approved.length === 0) return "";
  return `\nApproved beside it, and not run because of this rejection: ${approved.join("; ")}. Make these calls again, with exactly these arguments; people are asked again.`;
}

function decisionOf(name: string, verdict: Decided["verdict"], notRun: string): ReviewDecision {
  if (!verdict.isApproved) return { type: "reject", message: verdict.why + notRun };
  return verdict.isEdited ? { type: "edit", editedAction: { name, args: verdict.args } } : { type: "approve" };
}

function isToAnswer(allowed: readonly string[]): boolean {
  return allowed.includes("respond") && !allowed.includes("approve") && !allowed.includes("edit");
}

function verdictOnCall(
  parley: Approver,
  { name, args }: ReviewedCall,
  config: Review["reviewConfigs"][number] | undefined,
  options: ReviewOptions,
): Promise<Decided> {
  return verdictOn(
    parley,
    { fn: name, args },
    {
      ...options,
      isEditable: config?.allowedDecisions.includes("edit") === true,
      ...(config?.argsSchema && { argsSchema: config.argsSchema }),
    },
  );
}

/**
 * Asks the people of `to`; without it, the crowd. Silence is a response that says so.
 *
 * @throws {TypeError} where people are named by `channel`
 */
async function responseTo(
  parley: Asker,
  call: ReviewedCall,
  { asked, to, channel, timeoutSeconds, signal }: ReviewOptions,
): Promise<ReviewDecision> {
  const question = { prompt: questionOf(call), ...optionsOf(call) };
  const idempotencyKey = await keyOf(asked);
  if (channel !== undefined) throw new TypeError("Say whom to ask a question by `to`, and not by `channel`.");
  if (to === undefined) {
    const input = { question: question.prompt, options: question.options, timeout_seconds: timeoutSeconds };
    const { answers, note } = await askHuman(parley, input, { signal, idempotencyKey });
    return { type: "respond", message: answers.map(({ answer }) => answer).join("\n") || note };
  }
  try {
    const timed = timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds };
    const request = { ...question, to, idempotency_key: idempotencyKey, ...timed };
    const { value } = await parley.ask<string>(request, { signal });
    return { type: "respond", message: withoutSteering(value) };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "NotAnswered") throw error;
    return { type: "respond", message: NOBODY };
  }
}

/** Returns the call's own question; for a call without one, the call as the reviewer would see it. */
function questionOf({ name, args, description }: ReviewedCall): string {
  const { question } = args;
  return typeof question === "string" ? question : (description ?? `${name} ${JSON.stringify(args)}`);
}

function optionsOf({ args: { options } }: ReviewedCall): { options?: string[] } {
  return Array.isArray(options) && options.length > 1 && options.every((one) => typeof one === "string")
    ? { options }
    : {};
}
