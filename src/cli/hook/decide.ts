import { systemClock } from "../../lib/clock.ts";
import { systemExchange } from "../../lib/network/exchange.ts";
import type { PromptDecision, PromptingAgent } from "../../connect/agent.ts";
import { decided, overHttp, readTimeout, USUAL_TIMEOUT } from "../../connect/decided.ts";
import { CouldNotAsk } from "../../connect/people-requests.ts";
import type { AgentRow } from "../../connect/registry.ts";
import { WHOM } from "../../requests/model/rules.ts";
import { openKeptKeys } from "../../config/receipt-keys.ts";
import { BY_FLAG } from "../ask/by-flag.ts";
import { readArguments, type Takes, WrongUsage } from "../arguments.ts";
import { type Command, EXIT, type Io } from "../command.ts";
import { agentKey, serverUrl } from "../server-client.ts";
import { isOver, reportOver } from "./over.ts";
import { openParentGone } from "./parent-gone.ts";
import { type SentEvent, sentEvent } from "./sent-event.ts";

/** A hook finds its request again after a server was away for a minute. */
const LEASE_S = 90;

export const HOOK_FLAGS = {
  "--url URL":
    "the server, else PARLEY_URL, else A2H_BASE_URL, else the one that runs on this computer; its key is in PARLEY_KEY, or in A2H_API_KEY",
  "--to ID": {
    help: "the human who decides, by number, or a group by its name; left out, whoever runs the server",
    read: whomFrom,
  },
  ...BY_FLAG,
  "--timeout TIME": `how long people have, 10s to 30d; left out, ${USUAL_TIMEOUT}. After that it is denied`,
} as const satisfies Takes;

/** The flags of a hook's own command, which only an installation writes. */
const DECIDE_FLAGS = {
  ...HOOK_FLAGS,
  "--reports": "another hook reports how each approved use ended: the request promises it",
  "--over": "a use of a tool is over: its end is reported, and nothing is decided",
} as const satisfies Takes;

/** @throws {WrongUsage} */
function whomFrom(text: string, name: string): string {
  if (WHOM.test(text)) return text;
  throw new WrongUsage(`${name} must be the number of a human or the name of a group`);
}

/** Returns the command that decides a hook of an agent; the agent itself runs it. */
export const hookOf = (name: string, row: AgentRow): Command => ({
  takes: DECIDE_FLAGS,
  example: `parley hook ${name} < hook.json`,
  async run(argv, io) {
    if (isOver(argv)) return reportOver(row, argv, io);
    const agent = await row.load();
    // An agent that is killed outright ends no hook.
    using parent = openParentGone(systemClock);
    const ended = AbortSignal.any([io.interrupted, parent.signal]);
    const run = { agent, sent: await sentEvent(ended), ended };
    try {
      if (ended.aborted) return blockedAtEnd(run, io);
      return await decide(run, argv, io);
    } catch (error) {
      return blocked(run, whyOf(error), io);
    }
  },
});

/** A hook that an agent runs: the event comes on standard input. */
interface HookRun {
  agent: PromptingAgent;
  sent: SentEvent;
  /** Aborted once nobody waits for the decision: the hook was interrupted, or its agent has ended. */
  ended: AbortSignal;
}

async function decide(run: HookRun, argv: readonly string[], io: Io): Promise<number> {
  const { agent, sent, ended } = run;
  const { to, by, timeout, reports, ...flags } = readArguments(DECIDE_FLAGS, argv);
  const timeoutSeconds = timeoutOf(timeout);
  if (sent.isCut) throw new Error("standard input is too long");
  const prompt = agent.read(sent.bytes);
  // Other events ask nothing.
  if (!prompt) return EXIT.done;
  const url = serverUrl(flags.url, io.env);
  const [there, over] = [new AbortController(), new AbortController()];
  // Some agents ask at their terminal at the same time, and tell no hook of the decision there.
  const watching = agent.wasDecidedThere?.(prompt, systemClock, over.signal).then((isOver) => isOver && there.abort());
  const signal = AbortSignal.any([ended, there.signal]);
  const { agentId } = agent;
  const place = {
    url,
    key: agentKey(url, io.env),
    agentId,
    clock: systemClock,
    exchange: systemExchange,
    signal,
    leaseSeconds: LEASE_S,
    keptKeys: openKeptKeys(io.env),
  };
  const asked = decided(overHttp(place), agent, prompt, { to, by, timeoutSeconds, reports });
  const decision = await asked.catch(undecided);
  over.abort();
  await watching;
  if (ended.aborted) return blockedAtEnd(run, io);
  // Nobody listens any more: somebody has decided at the terminal.
  if (there.signal.aborted) return EXIT.done;
  // An agent whose output has no place for it shows this in its log.
  if (decision.kind === "undecided") io.tell(decision.because);
  io.out(agent.print(prompt, decision));
  return EXIT.done;
}

function blockedAtEnd(run: HookRun, io: Io): number {
  const what = io.interrupted.aborted ? "it was interrupted" : `${run.agent.title} ended`;
  return blocked(run, `${what} before anybody decided`, io);
}

/** Denies a tool because the hook itself failed, in the way that keeps this agent from running it. */
function blocked({ agent, sent }: Pick<HookRun, "agent" | "sent">, why: string, io: Io): number {
  const because = `Parley denied it, because the hook could not ask anybody: ${withoutCredentials(why)}.`;
  const { out, err, exit } = agent.fail(because, sent.bytes);
  if (out !== undefined) io.out(out);
  io.tell(err);
  return exit;
}

/** The sentence about an error. The model reads it: no value of a flag stands in it. */
function whyOf(error: unknown): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  if (String(code).startsWith("ERR_PARSE_ARGS")) return "its command has a flag or a word that it does not know";
  return typeof message === "string" ? message : "something went wrong";
}

/** Leaves a name, a password and a query out of each address. */
function withoutCredentials(text: string): string {
  return text.replaceAll(/(\w:\/\/)[^\s/@]*@/g, "$1").replaceAll(/(\w:\/\/[^\s?#]*)[?#]\S*/g, "$1");
}

/** Returns the seconds of `--timeout`. @throws {WrongUsage} */
export function timeoutOf(text?: string): number {
  const seconds = readTimeout(text);
  if (seconds === null) throw new WrongUsage("--timeout must be from 10s to 30d");
  return seconds;
}

/** Nothing that goes wrong is a yes: the terminal asks instead. */
function undecided(error: unknown): PromptDecision {
  const why = error instanceof CouldNotAsk ? error.message : `Something went wrong: ${String(error)}.`;
  return { kind: "undecided", because: `Parley could not ask anybody. ${withoutCredentials(why)}` };
}
