import { parseDurationMs } from "../lib/duration.ts";
import { canonicalExact, isJsonObject, sha256Digest } from "../lib/json/exact-json.ts";
import { printable, withoutSteering } from "../lib/printable.ts";
import { systemRandom } from "../lib/random.ts";
import { consentText } from "../requests/model/consent.ts";
import type { AgentPrompt, PromptDecision, PromptingAgent, PromptQuestion } from "./agent.ts";
import { deciderName, isBy, type Approvers } from "./decided-by.ts";
import {
  askPeople,
  CouldNotAsk,
  type Asked,
  type Ended,
  type Kind,
  type PromptRequest,
  type ServerAccess,
} from "./people-requests.ts";
import { editSchema, withoutFolder } from "./prompt-json.ts";
import { chosenIn, contactOf } from "./prompt-questions.ts";
import { type CallOfHook, receiptProblem } from "./receipt.ts";
import { endMarkOf, runOfSession, useOf } from "./use-over.ts";

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
  /** Another hook reports how an approved use ends. */
  reports?: boolean;
}

/** How a hook reaches people: over HTTP, or within the server. */
export interface WayToPeople extends Pick<ServerAccess, "clock" | "signal" | "leaseSeconds"> {
  /** Asks people and resolves with how it ended; withdraws the request once the signal is aborted. @throws {CouldNotAsk} */
  ask(kind: Kind, request: PromptRequest, signal: AbortSignal): Promise<Asked>;
  /** Returns why an approval does not count, in words that follow "because"; left out where it comes out of the store itself. */
  receiptProblem?(call: CallOfHook, ended: Ended, signal: AbortSignal): Promise<string | null>;
}

/** Returns the way to people through the A2H door of a server. */
export function overHttp(server: ServerAccess): WayToPeople {
  return {
    ...server,
    ask: (kind, request, signal) => askPeople({ ...server, signal }, kind, request),
    receiptProblem: (call, ended, signal) => receiptProblem({ ...server, signal }, call, ended),
  };
}

/** Resolves with what people decided about a tool, or answered, at most 90 s after their time. @throws {CouldNotAsk} */
export async function decided(
  way: WayToPeople,
  agent: PromptingAgent,
  prompt: AgentPrompt,
  how: How,
): Promise<PromptDecision> {
  const questions = agent.questionsOf?.(prompt) ?? null;
  if (questions === "unclear") {
    return {
      kind: "undecided",
      because: "Parley asked nobody: these questions can be told apart at this terminal alone.",
    };
  }
  const endMark = how.reports ? endMarkOf(agent, prompt) : undefined;
  const readsNotes = endMark !== undefined && agent.after?.givesNotes === true;
  const editable = agent.takesEdits && prompt.isExact;
  const named = { ...prompt, agentName: agent.name, editable, endMark, readsNotes };
  using latest = openLatest(way, how);
  const asked = { ...way, signal: AbortSignal.any([way.signal, latest.signal]) };
  try {
    return await (questions ? answered(asked, named, how, questions) : permitted(asked, named, how));
  } catch (error) {
    if (!latest.signal.aborted || way.signal.aborted) throw error;
    throw new CouldNotAsk("The server did not say how the request ended.");
  }
}

/** Returns a signal that is aborted when nothing may be waited for any more, until it is disposed of. */
function openLatest({ clock }: WayToPeople, { timeoutSeconds }: How): { signal: AbortSignal } & Disposable {
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

interface NamedPrompt extends AgentPrompt {
  agentName: string;
  /** People may change the input. */
  editable: boolean;
  /** The digest by which the end of the use finds the request; nothing where no end is promised. */
  endMark: string | undefined;
  /** A hook after a tool gives it the notes of people. */
  readsNotes: boolean;
}

/** Asks whether the tool may run; the answer holds for exactly this input. @throws {CouldNotAsk} */
async function permitted(way: WayToPeople, prompt: NamedPrompt, how: How): Promise<PromptDecision> {
  const { tool: fn, shown: kwargs, folder, editable } = prompt;
  const names = { ...namesOf(way, prompt), ...(prompt.endMark !== undefined && { reports: "end" as const }) };
  const asking = way.clock.now();
  const kwargsSchema = editable ? editSchema(folder) : undefined;
  const spec = {
    fn,
    kwargs,
    ...(editable && { editable }),
    ...(kwargsSchema && { kwargs_schema: kwargsSchema }),
    ...channelOf(how),
    timeout_seconds: how.timeoutSeconds,
  };
  const { callId, ended } = await way.ask("function_calls", { ...names, spec }, way.signal);
  // Another hook that asks about the same use may have asked earlier.
  const since = callId === names.call_id ? asking : undefined;
  const who = nameOf(ended);
  const words = ended.comment === undefined ? "" : `: ${withoutSteering(ended.comment)}`;
  if (ended.expired) return { kind: "deny", because: `Not approved: nobody decided within ${how.timeoutSeconds} s.` };
  if (ended.cancelled) return { kind: "deny", because: "Not approved: the request was cancelled." };
  if (ended.approved === true) {
    const edited = editable && ended.edited === true && isJsonObject(ended.kwargs) ? ended.kwargs : undefined;
    const digest = sha256Digest(consentText(fn, canonicalExact(edited ?? kwargs)));
    if (ended.consent_digest !== digest) return { kind: "deny", because: "Not approved: something else was shown." };
    const { id } = ended.user_info ?? {};
    if (how.by !== undefined && !isBy(how.by, id === undefined ? [] : [id]))
      return { kind: "deny", because: `Not approved: ${who} decided, who may not approve this call.` };
    const problem = await way.receiptProblem?.({ callId, digest, since }, ended, way.signal);
    if (typeof problem === "string") return { kind: "deny", because: `Not approved, because ${problem}.` };
    const updatedInput = edited && withoutFolder(edited, folder);
    if (updatedInput === null) return { kind: "deny", because: "Not approved: an edit cannot change the folder." };
    return { kind: "allow", because: `Approved by ${who}${words}`, ...(updatedInput && { updatedInput }) };
  }
  return { kind: "deny", because: `Rejected by ${who}${words}` };
}

/** Asks what the agent asks its user, all questions at once. @throws {CouldNotAsk} */
async function answered(
  way: WayToPeople,
  prompt: NamedPrompt,
  how: How,
  questions: readonly PromptQuestion[],
): Promise<PromptDecision> {
  const stop = new AbortController();
  const signal = AbortSignal.any([way.signal, stop.signal]);
  const failures: unknown[] = [];
  // After one that cannot be asked the others are withdrawn too, before the agent learns of it.
  const failed = (error: unknown): Asked => {
    failures.push(error);
    stop.abort();
    return { callId: "", ended: {} };
  };
  const asked = questions.map((one, i) => {
    const spec = { ...contactOf(one), ...channelOf(how), timeout_seconds: how.timeoutSeconds };
    return way.ask("human_contacts", { ...namesOf(way, prompt, i + 1), spec }, signal).catch(failed);
  });
  const ends = (await Promise.all(asked)).map(({ ended }) => ended);
  if (failures.length > 0) throw failures[0];
  if (ends.some(({ expired, cancelled }) => expired || cancelled)) {
    return { kind: "undecided", because: "Parley: nobody answered in time." };
  }
  const stranger =
    how.by && ends.find(({ user_info: { id } = {} }) => !isBy(how.by ?? [], id === undefined ? [] : [id]));
  if (stranger) {
    return { kind: "undecided", because: `Parley: ${nameOf(stranger)} answered, who may not decide here.` };
  }
  const answers = questions.map((one, i) => chosenIn(one, ends[i] ?? {}));
  if (answers.some((chosen) => chosen.join("") === "")) {
    return { kind: "undecided", because: "Parley: the server's reply holds no answer." };
  }
  return { kind: "allow", because: `Answered by ${nameOf(ends[0] ?? {})}`, answers };
}

/**
 * Returns the names of a prompt as a request, and the facts that are stored with it: hooks that ask about one use at a
 * time share a request, and the prompt waits only for as long as its hook does (spec/a2h 21).
 */
function namesOf({ leaseSeconds }: WayToPeople, prompt: NamedPrompt, part = 0) {
  const { agentName: agent, session, subagent, folder, endMark, readsNotes } = prompt;
  const use = useOf(prompt, part);
  return {
    run_id: runOfSession(session),
    call_id: `${agent}:${Buffer.from(systemRandom(16)).toString("hex")}`,
    agent_prompt: {
      agent,
      lease_seconds: leaseSeconds,
      ...(use !== undefined && { use }),
      ...(part === 0 && endMark !== undefined && { use_digest: endMark }),
      ...(readsNotes && { reads_notes: true }),
      ...(subagent !== undefined && { subagent: shortened(subagent, 200) }),
      // In an approval the folder is among the arguments.
      ...(part > 0 && folder !== undefined && { folder: shortened(folder, 1000) }),
    },
  };
}

function shortened(text: string, most: number): string {
  const line = [...printable(text)];
  return line.length <= most ? line.join("") : `${line.slice(0, most - 1).join("")}…`;
}

function channelOf({ to }: How): object {
  if (to === undefined) return {};
  return { channel: /^\d+$/.test(to) ? { human: { id: to } } : { channel_id: to } };
}

function nameOf({ user_info: user }: Ended): string {
  return withoutSteering(deciderName(user));
}
