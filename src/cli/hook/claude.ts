import { parseArgs } from "node:util";
import { newKey } from "@parley/sdk/idempotency-key";
import { systemClock } from "../../lib/clock.ts";
import { parseDurationMs } from "../../lib/duration.ts";
import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { systemFetch } from "../../lib/network/fetch.ts";
import { chosenLabels } from "../../lib/chosen-labels.ts";
import { printable, withoutSteering } from "../../lib/printable.ts";
import { consentText } from "../../requests/model/consent.ts";
import {
  ASKING_TOOL,
  type HookInput,
  type HookQuestion,
  questionsOf,
  readHookInput,
  type HookDecision,
  decisionJson,
} from "./claude-wire.ts";
import { receiptProblem } from "./receipt.ts";
import { wasDecidedThere } from "./claude-transcript.ts";
import { BY_FLAG, deciderName, isBy, readBy, type Approvers } from "../ask/decided-by.ts";
import { type Command, EXIT, HOOK_BLOCKS, type Io, WrongUsage } from "../command.ts";
import { askPeople, CouldNotAsk, type Ended, type ServerAccess } from "../ask/people-requests.ts";
import { agentKey, serverUrl } from "../server-client.ts";

const LONGEST_BYTES = 64_000_000;
const USUAL_TIMEOUT = "1h";
const MOST_TITLE = 75;

export const HOOK_OPTIONS = {
  url: { type: "string" },
  to: { type: "string" },
  by: { type: "string" },
  timeout: { type: "string" },
} as const;

export const HOOK_FLAGS = {
  "--url URL":
    "the server, else PARLEY_URL, else A2H_BASE_URL, else the one that runs on this computer; its key is in PARLEY_KEY, or in A2H_API_KEY",
  "--to ID": "the human who decides, by number, or a group by its name; left out, whoever runs the server",
  ...BY_FLAG,
  "--timeout TIME": `how long people have, 10s to 30d; left out, ${USUAL_TIMEOUT}. After that it is denied`,
} as const;

export const hookClaude: Command = {
  usage: "[--url URL] [--to ID] [--by ID] [--timeout 1h]",
  flags: HOOK_FLAGS,
  example: "parley hook claude < hook.json",
  async run(argv, io) {
    try {
      return await decide(argv, io);
    } catch (error) {
      return blocked(error instanceof Error ? error.message : String(error), io);
    }
  },
};

async function decide(argv: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({ args: [...argv], options: HOOK_OPTIONS });
  const timeoutSeconds = timeoutOf(values.timeout);
  const by = readBy(values.by);
  const input = readHookInput(await standardInput());
  // Other events ask nothing.
  if (!input) return EXIT.done;
  const url = serverUrl(values.url, io.env);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new WrongUsage(`${printable(url)} is no address of a server`);
  const [there, over] = [new AbortController(), new AbortController()];
  const watching = watchTranscript(input, over.signal, () => there.abort());
  const signal = AbortSignal.any([io.interrupted, there.signal]);
  const place: ServerAccess = { url, key: agentKey(url, io.env), clock: systemClock, fetch: systemFetch, signal };
  const asked = decided(place, input, { to: values.to, by, timeoutSeconds });
  const decision = await asked.catch((error: unknown) => undecided(error, signal, io));
  over.abort();
  await watching;
  if (io.interrupted.aborted) return blocked("it was interrupted before anybody decided", io);
  // Nobody listens any more: somebody has decided at the terminal.
  if (there.signal.aborted) return EXIT.done;
  io.out(decisionJson(input, decision));
  return EXIT.done;
}

/**
 * Denies a tool because the hook itself failed, and returns exit code 2. Claude Code lets a tool run that its own rules
 * allow after any other failure of a hook; after this one it does not, and shows the model what is on standard error.
 */
function blocked(why: string, io: Io): number {
  const because = `Parley denied it, because the hook could not ask anybody: ${why}.`;
  io.out(decisionJson({ hook_event_name: "PreToolUse" }, { is: "deny", because }));
  io.tell(because);
  return HOOK_BLOCKS;
}

/** Claude Code asks at its terminal at the same time, and tells no hook of what is decided there. */
async function watchTranscript(input: HookInput, signal: AbortSignal, then: () => void): Promise<void> {
  const { hook_event_name: event, transcript_path: path, tool_name: name, tool_input } = input;
  if (event !== "PermissionRequest" || path === undefined) return;
  if (await wasDecidedThere({ path, name, input: tool_input }, systemClock, signal)) then();
}

/** Returns the seconds of `--timeout`. @throws {WrongUsage} */
export function timeoutOf(text = USUAL_TIMEOUT): number {
  const ms = parseDurationMs(text);
  if (ms === null || ms < 10_000 || ms > 30 * 86_400_000) throw new WrongUsage("--timeout must be from 10s to 30d");
  return Math.round(ms / 1000);
}

/** The hook asks these people, for so long. */
export interface How {
  to: string | undefined;
  /** The people of whom one must have approved. */
  by: Approvers | undefined;
  timeoutSeconds: number;
}

/** Resolves with what people decided about a tool, or answered. @throws {CouldNotAsk} */
export function decided(place: ServerAccess, input: HookInput, how: How): Promise<HookDecision> {
  const questions = input.tool_name === ASKING_TOOL ? questionsOf(input) : null;
  return questions ? answered(place, input, how, questions) : permitted(place, input, how);
}

/** Asks whether the tool may run; the answer holds for exactly this input. @throws {CouldNotAsk} */
async function permitted(place: ServerAccess, input: HookInput, how: How): Promise<HookDecision> {
  const { tool_name: fn, shown: kwargs } = input;
  const names = namesOf(input);
  const since = isNamed(input) ? undefined : place.clock.now();
  const ended = await askPeople(place, "function_calls", {
    ...names,
    spec: { fn, kwargs, ...channelOf(how), timeout_seconds: how.timeoutSeconds },
  });
  const who = nameOf(ended);
  const words = ended.comment === undefined ? "" : `: ${withoutSteering(ended.comment)}`;
  if (ended.expired) return { is: "deny", because: `Not approved: nobody decided within ${how.timeoutSeconds} s.` };
  if (ended.cancelled) return { is: "deny", because: "Not approved: the request was cancelled." };
  if (ended.approved === true) {
    const digest = sha256Digest(consentText(fn, canonicalExact(kwargs)));
    if (ended.consent_digest !== digest) return { is: "deny", because: "Not approved: something else was shown." };
    const { id } = ended.user_info ?? {};
    if (how.by !== undefined && !isBy(how.by, id === undefined ? [] : [id]))
      return { is: "deny", because: `Not approved: ${who} decided, who may not approve this call.` };
    const problem = await receiptProblem(place, { callId: names.call_id, digest, since }, ended);
    if (problem !== null) return { is: "deny", because: `Not approved, because ${problem}.` };
    return { is: "allow", because: `Approved by ${who}${words}` };
  }
  return { is: "deny", because: `Rejected by ${who}${words}` };
}

/** Asks what Claude Code asks its user, all questions at once. @throws {CouldNotAsk} */
async function answered(
  place: ServerAccess,
  input: HookInput,
  how: How,
  questions: readonly HookQuestion[],
): Promise<HookDecision> {
  const names = namesOf(input);
  const ends = await Promise.all(
    questions.map((one, i) =>
      askPeople(place, "human_contacts", {
        run_id: names.run_id,
        call_id: `${names.call_id}.${i + 1}`,
        spec: { ...contactOf(one), ...channelOf(how), timeout_seconds: how.timeoutSeconds },
      }),
    ),
  );
  if (ends.some(({ expired, cancelled }) => expired || cancelled)) {
    return { is: "undecided", because: "Parley: nobody answered in time." };
  }
  const answers = questions.map((one, i): [string, string] => [one.question, answerIn(one, ends[i] ?? {})]);
  if (answers.some(([, words]) => words === "")) {
    return { is: "undecided", because: "Parley: the server's reply holds no answer." };
  }
  const updatedInput = { ...input.tool_input, answers: Object.fromEntries(answers) };
  return { is: "allow", because: `Answered by ${nameOf(ends[0] ?? {})}`, updatedInput };
}

/** Several may be chosen in words on every channel; a press on one opens an editor that holds it, for others to be added. */
function contactOf({ question, header, multiSelect, options }: HookQuestion): object {
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

/** Returns the label that was chosen, or several with commas between them, as Claude Code takes them; else the words. */
function answerIn({ multiSelect, options }: HookQuestion, end: Ended): string {
  const { response = "", response_option_name: chosen } = end;
  const label = options.find((_, n) => `option_${n + 1}` === chosen)?.label;
  if (!multiSelect) return label ?? withoutSteering(response);
  const titles = options.map((option) => oneLine(option.label, MOST_TITLE));
  const named = chosenLabels(response, titles).map(
    (one) => options[titles.indexOf(one)]?.label ?? withoutSteering(one),
  );
  return [...new Set([...(label === undefined ? [] : [label]), ...named])].join(", ");
}

/** A use of a tool is one request, however many hooks ask about it. */
function namesOf(input: HookInput): { run_id: string; call_id: string } {
  return {
    run_id: printable(input.session_id).slice(0, 256),
    call_id: `claude:${isNamed(input) ? input.tool_use_id : newKey()}`,
  };
}

function isNamed({ tool_use_id: use }: HookInput): boolean {
  return use !== undefined && /^[A-Za-z0-9._~:@+=,-]{1,200}$/.test(use);
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

/** Nothing that goes wrong is a yes: the terminal asks instead. */
function undecided(error: unknown, signal: AbortSignal, io: Io): HookDecision {
  if (!(error instanceof CouldNotAsk) && !signal.aborted) {
    io.tell(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const why = error instanceof CouldNotAsk ? error.message : "Something went wrong.";
  return { is: "undecided", because: `Parley could not ask anybody. ${why}` };
}

async function standardInput(): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LONGEST_BYTES) throw new Error("standard input is too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}
