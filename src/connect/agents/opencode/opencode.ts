import { join } from "node:path";
import { NotJson } from "../../../lib/json/json-edit.ts";
import {
  type AgentPrompt,
  homeOf,
  type HooksBeside,
  type PromptDecision,
  type PromptingAgent,
  type PromptQuestion,
  type Unclear,
  type UseOver,
} from "../../agent.ts";
import { toldEnd } from "../../plugin-hook.ts";
import { eventNameOf, isObject, originOf, readObject, sessionOf, textOf, toolAndInput } from "../../prompt-json.ts";
import { questionsIn } from "../../prompt-questions.ts";
import { isPlugin, pluginText } from "./plugin.ts";

const ASKS = "permission.asked";
const QUESTION = "question.asked";
const EVENTS: readonly string[] = [ASKS, QUESTION];
const AFTER = "message.part.updated";
const DENIES = 2;

const TRIED = { version: "1.18.33", on: "2026-11-28" };
const BESIDE: readonly HooksBeside[] = [
  {
    event: ASKS,
    runs: "at once, and beside the terminal",
    decides: "the first reply; a reject takes every prompt of the session",
    means: {},
    tried: TRIED,
  },
  { event: QUESTION, runs: "at once, and beside the terminal", decides: "the first reply", means: {}, tried: TRIED },
];

/**
 * opencode: a plugin sends `permission.asked`, the event of each prompt, and `question.asked`, that of its model's
 * questions, to the hook, and gives opencode the reply. Its hook `permission.ask` is in the types alone: no version that
 * was tried calls it.
 */
export const opencode: PromptingAgent = {
  name: "opencode",
  title: "opencode",
  agentId: "opencode",
  programs: ["opencode"],
  file: (env) => join(opencodeFolder(env), "plugin", "parley.js"),
  folder: opencodeFolder,
  events: EVENTS,
  uncovered: [{ prompt: "a run with opencode run", because: "it refuses each prompt by itself, before people can" }],
  after: { events: [AFTER], untold: "", read: readUseOver },
  beside: BESIDE,
  takesAlways: false,
  afterInstall: "opencode asks at its terminal too: the first decision counts.",
  takesEdits: false,
  withHook(text, hook) {
    const isOther = text.trim() !== "" && !isPlugin(text);
    if (!hook) return isPlugin(text) ? "" : text;
    if (isOther) throw new NotJson("it holds a plugin that is not Parley's");
    return pluginText(hook);
  },
  switchVariables: ["OPENCODE_PURE"],
  read,
  print,
  // The input of the call stands below what is asked.
  testEvent: ({ tool_input: input, ...event }) => ({
    ...event,
    tool_name: "bash",
    tool_input: { command: input.command, patterns: [input.command], input },
  }),
  fail: (because) => ({ out: JSON.stringify({ decision: "deny", reason: because }), err: because, exit: DENIES }),
  questionsOf,
};

function read(bytes: Uint8Array): AgentPrompt | null {
  const { value, isExact } = readObject(bytes, "opencode");
  const name = eventNameOf(value);
  const event = EVENTS.find((one) => one === name);
  if (event === undefined) return null;
  const asked = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
  const prompt = { event, session: sessionOf(value["session_id"]), ...asked, useId: textOf(value["tool_use_id"]) };
  // People decide about nothing that they do not see: such a prompt stays at opencode's terminal.
  const isSeen = event === QUESTION ? questionsOf(prompt) !== "unclear" : isObject(asked.input["input"]);
  return isSeen ? prompt : null;
}

function readUseOver(bytes: Uint8Array): UseOver | null {
  const { value, isExact } = readObject(bytes, "opencode");
  if (value["hook_event_name"] !== AFTER) return null;
  const { tool, input } = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
  const use = { session: sessionOf(value["session_id"]), tool, input, useId: textOf(value["tool_use_id"]) };
  return { ...use, ...toldEnd(value), result: value["tool_response"] };
}

/** Returns what the plugin reads. Without a decision the prompt stays at opencode's terminal. */
function print(_prompt: AgentPrompt, decision: PromptDecision): string {
  const { kind, because } = decision;
  // opencode takes, for each question in turn, the list of what was chosen.
  const answers = decision.kind === "allow" ? decision.answers : undefined;
  return JSON.stringify({
    decision: kind === "undecided" ? "ask" : kind,
    reason: because,
    ...(answers && { answers }),
  });
}

/** Returns the questions of an event; nothing for another event. */
function questionsOf({ event, input }: Pick<AgentPrompt, "event" | "input">): PromptQuestion[] | Unclear | null {
  return event === QUESTION ? questionsIn(input["questions"], "multiple") : null;
}

function opencodeFolder(env: Parameters<PromptingAgent["file"]>[0]): string {
  return join(env["XDG_CONFIG_HOME"] || join(homeOf(env), ".config"), "opencode");
}
