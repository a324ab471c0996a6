import { join } from "node:path";
import { chosenLabels } from "../../../lib/chosen-labels.ts";
import { NotJson } from "../../../lib/json/json-edit.ts";
import {
  type AgentPrompt,
  homeOf,
  type PromptDecision,
  type PromptingAgent,
  type PromptQuestion,
} from "../../agent.ts";
import { readObject, sessionOf, textOf, toolAndInput } from "../../prompt-json.ts";
import { questionsIn } from "../../prompt-questions.ts";
import { isPlugin, pluginText } from "./plugin.ts";

const ASKS = "permission.asked";
const QUESTION = "question.asked";
const EVENTS: readonly string[] = [ASKS, QUESTION];
const DENIES = 2;

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
  takesAlways: false,
  afterInstall: "opencode asks at its terminal too: the first decision counts.",
  takesEdits: false,
  withHook(text, hook) {
    const isOther = text.trim() !== "" && !isPlugin(text);
    if (!hook) return isPlugin(text) ? "" : text;
    if (isOther) throw new NotJson("it holds a plugin that is not Parley's");
    return pluginText(hook);
  },
  read,
  print,
  fail: (because) => ({ out: JSON.stringify({ decision: "deny", reason: because }), err: because, exit: DENIES }),
  questionsOf,
};

function read(bytes: Uint8Array): AgentPrompt | null {
  const { value, isExact } = readObject(bytes, "opencode");
  const event = EVENTS.find((one) => one === value["hook_event_name"]);
  if (event === undefined) return null;
  const asked = toolAndInput(value["tool_name"], value["tool_input"], isExact);
  const prompt = { event, session: sessionOf(value["session_id"]), ...asked, useId: textOf(value["tool_use_id"]) };
  // Questions that are not understood stay at opencode's terminal.
  return event === QUESTION && questionsOf(prompt) === null ? null : prompt;
}

/** Returns what the plugin reads. Without a decision the prompt stays at opencode's terminal. */
function print(prompt: AgentPrompt, decision: PromptDecision): string {
  const { is, because } = decision;
  const answers =
    decision.is === "allow" && decision.updatedInput ? answersOf(prompt, decision.updatedInput) : undefined;
  return JSON.stringify({ decision: is === "undecided" ? "ask" : is, reason: because, ...(answers && { answers }) });
}

/** Returns the questions of an event; nothing for another event, or where answers by question would be ambiguous. */
function questionsOf({ event, input }: AgentPrompt): PromptQuestion[] | null {
  if (event !== QUESTION) return null;
  const questions = questionsIn(input["questions"], "multiple");
  return new Set(questions?.map(({ question }) => question)).size === questions?.length ? questions : null;
}

/** opencode takes, for each question in turn, the list of what was chosen. */
function answersOf(prompt: AgentPrompt, updated: object): string[][] | undefined {
  const { answers } = updated as { answers?: Readonly<Record<string, string>> };
  return questionsOf(prompt)?.map(({ question, multiSelect, options }) => {
    const words = answers?.[question] ?? "";
    return multiSelect
      ? chosenLabels(
          words,
          options.map(({ label }) => label),
        )
      : [words];
  });
}

function opencodeFolder(env: Parameters<PromptingAgent["file"]>[0]): string {
  return join(env["XDG_CONFIG_HOME"] || join(homeOf(env), ".config"), "opencode");
}
