import { newKey } from "@parley/sdk/idempotency-key";
import { chosenLabels } from "../lib/chosen-labels.ts";
import { parseDurationMs } from "../lib/duration.ts";
import { canonicalExact, isJsonObject, sha256Digest } from "../lib/json/exact-json.ts";
import { printable, withoutSteering } from "../lib/printable.ts";
import { consentText } from "../requests/model/consent.ts";
import type { AgentPrompt, PromptDecision, PromptingAgent, PromptQuestion } from "./agent.ts";
import { deciderName, isBy, type Approvers } from "./decided-by.ts";
import { askPeople, CouldNotAsk, type Ended, type ServerAccess } from "./people-requests.ts";
import { receiptProblem } from "./receipt.ts";

const MOST_TITLE = 75;
/** An agent ends its hook two minutes after the time of people, and may run the tool then: nothing is waited for so long. */
const LATEST_MS = 90_000;
/** People have this time where nobody says another one. */
export const USUAL_TIMEOUT = "1h";

/** Returns the seconds that people have, from a text such as `30m`; null for a text that is not from 10s to 30d. */
export function readTimeout(text = USUAL_TIMEOUT): number | null {
  const ms = parseDurationMs(text);
  return ms === null || ms < 10_000 || ms > 30 * 86_400_000 ? null : Math.round(ms / 1000);
}

/** The hook asks these people, for so long. */
export interface How {
  to: string | undefined;
  /** The people of whom one must have approved. */
  by: Approvers | undefined;
  timeoutSeconds: number;
}

/** Resolves with what people decided about a tool, or answered, at most 90 s after their time. @throws {CouldNotAsk} */
export async function decided(
  place: ServerAccess,
  agent: PromptingAgent,
  prompt: AgentPrompt,
  how: How,
): Promise<PromptDecision> {
  const questions = agent.questionsOf?.(prompt) ?? null;
  const named: NamedPrompt = { ...prompt, ...namesOf(agent, prompt), editable: agent.takesEdits && isWhole(prompt) };
  using latest = openLatest(place, how);
  const asked = { ...place, signal: AbortSignal.any([place.signal, latest.signal]) };
  try {
    return await (questions ? answered(asked, named, how, questions) : permitted(asked, named, how));
  } catch (error) {
    if (!latest.signal.aborted || place.signal.aborted) throw error;
    throw new CouldNotAsk("The server did not say how the request ended.");
  }
}

/** Returns a signal that is aborted when nothing may be waited for any more, until it is disposed of. */
function openLatest({ clock }: ServerAccess, { timeoutSeconds }: How): { signal: AbortSignal } & Disposable {
  const [late, over] = [new AbortController(), new AbortController()];
  const at = clock.monotonic() + timeoutSeconds * 1000 + LATEST_MS;
  const wait = async (): Promise<void> => {
    // One sleep may be too short for all of it.
    while (!over.signal.aborted && clock.monotonic() < at) await clock.sleep(at - clock.monotonic(), over.signal);
    if (!over.signal.aborted) late.abort();
  };
  void wait();
  return { signal: late.signal, [Symbol.dispose]: () => over.abort() };
}

/** A prompt, and its names as a request. */
interface NamedPrompt extends AgentPrompt {
  run_id: string;
  call_id: string;
  editable: boolean;
}

/** Asks whether the tool may run; the answer holds for exactly this input. @throws {CouldNotAsk} */
async function permitted(place: ServerAccess, prompt: NamedPrompt, how: How): Promise<PromptDecision> {
  const { tool: fn, shown: kwargs, run_id, call_id, editable } = prompt;
  const since = isNamed(prompt) ? undefined : place.clock.now();
  const ended = await askPeople(place, "function_calls", {
    run_id,
    call_id,
    spec: { fn, kwargs, ...(editable && { editable }), ...channelOf(how), timeout_seconds: how.timeoutSeconds },
  });
  const who = nameOf(ended);
  const words = ended.comment === undefined ? "" : `: ${withoutSteering(ended.comment)}`;
  if (ended.expired) return { is: "deny", because: `Not approved: nobody decided within ${how.timeoutSeconds} s.` };
  if (ended.cancelled) return { is: "deny", because: "Not approved: the request was cancelled." };
  if (ended.approved === true) {
    const edited = editable && ended.edited === true && isJsonObject(ended.kwargs) ? ended.kwargs : undefined;
    const digest = sha256Digest(consentText(fn, canonicalExact(edited ?? kwargs)));
    if (ended.consent_digest !== digest) return { is: "deny", because: "Not approved: something else was shown." };
    const { id } = ended.user_info ?? {};
    if (how.by !== undefined && !isBy(how.by, id === undefined ? [] : [id]))
      return { is: "deny", because: `Not approved: ${who} decided, who may not approve this call.` };
    const problem = await receiptProblem(place, { callId: call_id, digest, since }, ended);
    if (problem !== null) return { is: "deny", because: `Not approved, because ${problem}.` };
    return { is: "allow", because: `Approved by ${who}${words}`, ...(edited && { updatedInput: edited }) };
  }
  return { is: "deny", because: `Rejected by ${who}${words}` };
}

/** Asks what the agent asks its user, all questions at once. @throws {CouldNotAsk} */
async function answered(
  place: ServerAccess,
  { run_id, call_id, input }: NamedPrompt,
  how: How,
  questions: readonly PromptQuestion[],
): Promise<PromptDecision> {
  const stop = new AbortController();
  const asking = { ...place, signal: AbortSignal.any([place.signal, stop.signal]) };
  const failures: unknown[] = [];
  // After one that cannot be asked the others are withdrawn too, before the agent learns of it.
  const failed = (error: unknown): Ended => {
    failures.push(error);
    stop.abort();
    return {};
  };
  const asked = questions.map((one, i) => {
    const spec = { ...contactOf(one), ...channelOf(how), timeout_seconds: how.timeoutSeconds };
    return askPeople(asking, "human_contacts", { run_id, call_id: `${call_id}.${i + 1}`, spec }).catch(failed);
  });
  const ends = await Promise.all(asked);
  if (failures.length > 0) throw failures[0];
  if (ends.some(({ expired, cancelled }) => expired || cancelled)) {
    return { is: "undecided", because: "Parley: nobody answered in time." };
  }
  const answers = questions.map((one, i): [string, string] => [one.question, answerIn(one, ends[i] ?? {})]);
  if (answers.some(([, words]) => words === "")) {
    return { is: "undecided", because: "Parley: the server's reply holds no answer." };
  }
  const updatedInput = { ...input, answers: Object.fromEntries(answers) };
  return { is: "allow", because: `Answered by ${nameOf(ends[0] ?? {})}`, updatedInput };
}

/** Several may be chosen in words on every channel; a press on one opens an editor that holds it, for others to be added. */
function contactOf({ question, header, multiSelect, options }: PromptQuestion): object {
  const severalHint = "Several may be chosen: name them or their numbers, separated by commas, such as #1, #2.";
  return {
    msg: multiSelect && options.length > 0 ? `${question}\n\n${severalHint}` : question,
    subject: oneLine(header || question, 200),
    response_options: options.map(({ label, description }, n) => ({
      name: `option_${n + 1}`,
      title: oneLine(label, MOST_TITLE),
      description: description.slice(0, 400),
      ...(multiSelect && { interactive: true, prompt_fill: oneLine(label, MOST_TITLE) }),
    })),
  };
}

/** Returns the label that was chosen, or several with commas between them, as the agent takes them; else the words. */
function answerIn({ multiSelect, options }: PromptQuestion, end: Ended): string {
  const { response = "", response_option_name: chosen } = end;
  const label = options.find((_, n) => `option_${n + 1}` === chosen)?.label;
  if (!multiSelect) return label ?? withoutSteering(response);
  const titles = options.map((option) => oneLine(option.label, MOST_TITLE));
  const named = chosenLabels(response, titles).map(
    (one) => options[titles.indexOf(one)]?.label ?? withoutSteering(one),
  );
  return [...new Set([...(label === undefined ? [] : [label]), ...named])].join(", ");
}

/** Returns how the call ids of an agent's prompts begin: the agent of a request is told by it, whatever key was shown. */
export function callIdStart(agent: string): string {
  return `${agent}:`;
}

/** A use of a tool is one request, however many hooks ask about it. */
function namesOf({ name }: PromptingAgent, prompt: AgentPrompt): { run_id: string; call_id: string } {
  return {
    run_id: printable(prompt.session).slice(0, 256),
    call_id: callIdStart(name) + (isNamed(prompt) ? prompt.useId : newKey()),
  };
}

function isNamed({ useId }: AgentPrompt): boolean {
  return useId !== undefined && /^[A-Za-z0-9._~:@+=,-]{1,200}$/.test(useId);
}

/** People see the input itself, and can edit it. */
function isWhole({ input, shown }: AgentPrompt): boolean {
  return input === shown;
}

function channelOf({ to }: How): object {
  if (to === undefined) return {};
  return { channel: /^\d+$/.test(to) ? { human: { id: to } } : { channel_id: to } };
}

function nameOf({ user_info: user }: Ended): string {
  return withoutSteering(deciderName(user));
}

function oneLine(text: string, most: number): string {
  return [...printable(text.replaceAll(/\s+/g, " "))].slice(0, most).join("");
}
