import { delimiter, join } from "node:path";
import { existsSync } from "node:fs";
import type { Clock } from "../lib/clock.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A permission prompt: an agent asks whether a tool may run. */
export interface AgentPrompt {
  /** The agent's name of the event that sent it. */
  event: string;
  session: string;
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** The input as people see it, with the folder, which is what they approve. */
  shown: Readonly<Record<string, unknown>>;
  /** The input is JSON as RFC 8785 wants it, so that people see it member by member. */
  isExact: boolean;
  /** The folder in which the tool would run, as the agent names it; part of what people see. */
  folder: string | undefined;
  /** The agent below the agent that asks. */
  subagent: string | undefined;
  /** The agent's id of this use of the tool: two hooks that ask about one use at a time make one request. */
  useId?: string | undefined;
  /** The file in which the agent writes down what becomes of it. */
  transcript?: string | undefined;
}

/** The event of a prompt that tries a hook, with the members that most agents send. */
export interface TestEvent {
  hook_event_name: string | undefined;
  session_id: string;
  tool_name: string;
  tool_input: { command: string; description: string };
}

/** A use of a tool that is over, as the agent tells it: nobody has to decide about it any more. */
export interface UseOver extends Pick<AgentPrompt, "session" | "tool" | "input" | "useId"> {
  /** How it ended; null where it did not run. */
  end: "done" | "failed" | null;
  /** A plain status for people, such as `exit 1`, and nothing of what the tool returned. */
  status?: string | undefined;
  /** The value that the tool returned; people are shown its digest alone. */
  result?: unknown;
  /** The event after which the agent takes notes of people; left out where it takes none, as within an agent below it. */
  takesNotesAt?: string | undefined;
}

/** The events by which an agent tells that a use of a tool is over. */
export interface AfterTool {
  events: readonly string[];
  /** A sentence for the docs: the ends, or parts of them, that these events do not tell; empty where they tell all. */
  untold: string;
  /** Reads such an event; nothing for any other event. @throws {Error} */
  read(bytes: Uint8Array): UseOver | null;
  /** Returns the input of a prompt as those events have it; null for a prompt about which they tell nothing. Left out, it is alike. */
  inputOf?(prompt: Pick<AgentPrompt, "tool" | "input">): Readonly<Record<string, unknown>> | null;
  /** True where these hooks can give the agent notes of people, as the context of an event. */
  givesNotes?: boolean;
}

/** A decision about a prompt; undecided leaves it to what the agent's user has configured. */
export type PromptDecision =
  | { kind: "allow"; because: string; updatedInput?: object; answers?: PromptAnswers }
  | { kind: "deny"; because: string }
  | { kind: "undecided"; because: string };

/** The labels that were chosen, or the words that were given, for each question in turn. */
export type PromptAnswers = readonly (readonly string[])[];

/** Questions that cannot be answered from afar, because two of them, or two of their options, look alike or do not fit. */
export type Unclear = "unclear";

/** One question that an agent asks its user, with what can be chosen. */
export interface PromptQuestion {
  question: string;
  header: string;
  /** Several of the options may be chosen. */
  multiSelect: boolean;
  options: { label: string; description: string; preview: string }[];
}

/** A hook by which an agent itself sends its prompts to a server. */
export interface HttpHook {
  url: string;
  /** The variable of the agent's environment that holds the key; left out where no key is needed. */
  keyVariable?: string;
  /** The server is of this computer: it is told of each use that is over, with what the tool returned. */
  tellsUses: boolean;
}

/** A hook as it is to be written into an agent's configuration. */
export interface WantedHook {
  /** The command line, for a shell. */
  command: string;
  timeoutSeconds: number;
  /** The tools that `--always` names, as the agent writes them. */
  always?: string | undefined;
  /** In place of the command, where nothing is lost if the hook fails. */
  http?: HttpHook | undefined;
  /** The command line for the events after a tool; left out where the agent has none. */
  over?: string | undefined;
}

/** An agent that tells of a use that is over waits for its hook so long, and the hook for the server a little less. */
export const OVER_S = 5;

/** A file in which a hook stands, or a part of what the agent needs for it. */
export interface HookFile {
  path: string;
  /**
   * Returns the text of the file with exactly this hook of Parley's, or with none; all else stays byte for byte.
   *
   * @throws {NotJson} for a text that it does not understand, and SyntaxError
   */
  withHook(text: string, hook: WantedHook | null): string;
  /** Returns whether the part is in a text, and in force there; left out, where taking it out would change the text. */
  holds?(text: string): boolean;
}

/** A file in which an agent, or its administrator, can turn its hooks off. */
export interface SwitchFile {
  path: string;
  /**
   * Returns the setting that keeps the hook from running, for a sentence, else null.
   *
   * @param hookText the text of the file in which the hook stands
   * @throws {NotJson} for a text that is not understood, and SyntaxError
   */
  turnsOff(text: string, hookText: string): string | null;
}

/** How an agent learns that its hook failed: the tool must not run. */
export interface FailedHook {
  out?: string;
  err: string;
  exit: number;
}

/** When a hook of another runs: at the same time as Parley's, or in an order. */
export type HookTurn = "beside" | "before" | "after";

/** How an agent runs several hooks of one event that Parley uses. Each row has a test against the real program. */
export interface HooksBeside {
  event: string;
  runs: string;
  decides: string;
  /** The edited input that the tool runs with; left out where the agent takes none. */
  input?: string;
  /** The end of a sentence about another's hook: its effect on a person's decision. */
  means: Partial<Readonly<Record<HookTurn, string>>>;
  /** The version of the agent that was tried, and the day; left out where none was. */
  tried?: { version: string; on: string };
}

/** A file in which hooks of others may stand. */
export interface HookPlace {
  path: string;
  turn: HookTurn;
}

/**
 * An agent whose permission prompts people can answer. Each has a folder in src/connect/agents and a row in
 * src/connect/registry.ts; nothing else knows it.
 */
export interface PromptingAgent {
  /** The word for it in commands. */
  name: string;
  title: string;
  /** The agent's name at a server to which it shows no key. */
  agentId: string;
  /** The names of its program on the PATH. */
  programs: readonly string[];
  /** Returns the file of its hook, which may be missing. */
  file(env: Environment): string;
  /** Returns further files that its hook needs, each of which may be missing; they are written after that one. */
  moreFiles?(env: Environment): readonly HookFile[];
  /** Returns the folder that shows that it is in use here; left out, the one of its hook's file. */
  folder?(env: Environment): string;
  /** The events that reach people. */
  events: readonly string[];
  /** The prompts that its hook cannot cover, and why. */
  uncovered: readonly { prompt: string; because: string }[];
  /** A row for each event: how several hooks of it run, and who decides. */
  beside: readonly HooksBeside[];
  /** Returns the files, some of them missing, in which its hooks may stand beside Parley's: its user's, and a project's. */
  hookPlaces?(env: Environment, project: string): readonly HookPlace[];
  /** True where `--always TOOLS` chooses tools of this agent. */
  takesAlways: boolean;
  /** The first version of its program that sends prompts by HTTP; left out where none does. */
  httpSince?: string;
  /** Sentences for its user after the hook is written. */
  afterInstall: string;
  /** A sentence about another way to people that must not be on beside the hook. */
  hookNote?: string;
  /** People may change the input: what they approve then runs in its place. */
  takesEdits: boolean;
  /**
   * Returns the text of that file with exactly this hook of Parley's, or with none; all else stays byte for byte.
   *
   * @param own addresses of hooks that are Parley's
   * @throws {NotJson} for a text that it does not understand, and SyntaxError
   */
  withHook(text: string, hook: WantedHook | null, own?: readonly string[]): string;
  /** Returns whether the agent finds its hook in that file, for each event; left out, where taking it out would change the text. */
  holds?(text: string, own?: readonly string[]): boolean;
  /** Returns the files with switches that turn its hooks off, each of which may be missing; `file` is that of the hook. */
  switches?(env: Environment, file: string): readonly SwitchFile[];
  /** The variables of its environment that turn its hooks off. */
  switchVariables?: readonly string[];
  /**
   * Reads what the agent sends on standard input; nothing for an event in which there is nothing to decide.
   *
   * @throws {Error} in one sentence: the tool is then denied
   */
  read(bytes: Uint8Array): AgentPrompt | null;
  /** The events after a tool by which its hook reports the ends of approved calls; left out where it has none of use. */
  after?: AfterTool;
  /** Returns what the agent reads on standard output, or as the reply to its request. */
  print(prompt: AgentPrompt, decision: PromptDecision): string;
  /** Returns how a hook denies that failed before it could ask; `sent` is its event as far as it came, in any form. */
  fail(because: string, sent: Uint8Array): FailedHook;
  /** Returns the decision in a text of `print`; left out, where a member that most agents read says `allow` or `deny`. */
  decisionIn?(printed: string): PromptDecision["kind"];
  /** Returns the event of a test prompt as this agent sends it; left out, where it has the members that most agents send. */
  testEvent?(usual: TestEvent): object;
  /** Returns the questions of a prompt by which the agent asks its user; nothing for any other prompt. */
  questionsOf?(prompt: AgentPrompt): PromptQuestion[] | Unclear | null;
  /** Resolves with true once somebody has decided at the agent's own terminal; with false when aborted. */
  wasDecidedThere?(prompt: AgentPrompt, clock: Clock, signal: AbortSignal): Promise<boolean>;
}

/** Returns every file of an agent's hook, in the order in which they are written; `own` are addresses of Parley's hooks. */
export function hookFilesOf(agent: PromptingAgent, env: Environment, own: readonly string[] = []): readonly HookFile[] {
  const first: HookFile = {
    path: agent.file(env),
    withHook: (text, hook) => agent.withHook(text, hook, own),
    ...(agent.holds && { holds: (text: string) => agent.holds?.(text, own) === true }),
  };
  return [first, ...(agent.moreFiles?.(env) ?? [])];
}

/** Returns whether a file with this text does its part for the hook. @throws {NotJson} and SyntaxError */
export function holdsHook(file: HookFile, text: string): boolean {
  const isThere = file.withHook(text, null) !== text;
  return isThere && (file.holds?.(text) ?? true);
}

/** Returns the folder in which an agent's own folders are. */
export function homeOf(env: Environment): string {
  return env["HOME"] ?? env["USERPROFILE"] ?? ".";
}

/** Returns the path of an agent's program, as a shell would find it; nothing where it is not installed. */
export function programOf({ programs }: Pick<PromptingAgent, "programs">, env: Environment): string | null {
  const endings = process.platform === "win32" ? (env["PATHEXT"] ?? ".EXE;.CMD").split(";") : [""];
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const places = folders.flatMap((folder) =>
    programs.flatMap((name) => endings.map((ending) => join(folder, name + ending))),
  );
  return places.find((place) => existsSync(place)) ?? null;
}
