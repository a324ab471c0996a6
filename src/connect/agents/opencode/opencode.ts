import { join } from "node:path";
import { NotJson } from "../../../lib/json/json-edit.ts";
import { homeOf, type PromptingAgent } from "../../agent.ts";
import { readObject, sessionOf, textOf, toolAndInput } from "../../prompt-json.ts";
import { isPlugin, pluginText } from "./plugin.ts";

const EVENT = "permission.asked";
const DENIES = 2;

/**
 * opencode: a plugin sends `permission.asked`, the event of each prompt, to the hook, and gives opencode the reply. Its
 * hook `permission.ask` is in the types alone: no version that was tried calls it.
 */
export const opencode: PromptingAgent = {
  name: "opencode",
  title: "opencode",
  agentId: "opencode",
  programs: ["opencode"],
  file: (env) => join(opencodeFolder(env), "plugin", "parley.js"),
  folder: opencodeFolder,
  events: [EVENT],
  uncovered: [
    { prompt: "a run with opencode run", because: "it refuses each prompt by itself, before people can" },
    { prompt: "the reason of a refusal", because: "opencode takes none from a plugin; the turn ends" },
    { prompt: "questions of its model", because: "the plugin answers permissions alone" },
  ],
  takesAlways: false,
  afterInstall: "opencode asks at its terminal too: the first decision counts.",
  takesEdits: false,
  withHook(text, hook) {
    const isOther = text.trim() !== "" && !isPlugin(text);
    if (!hook) return isPlugin(text) ? "" : text;
    if (isOther) throw new NotJson("it holds a plugin that is not Parley's");
    return pluginText(hook);
  },
  read(bytes) {
    const { value, isExact } = readObject(bytes, "opencode");
    if (value["hook_event_name"] !== EVENT) return null;
    const asked = toolAndInput(value["tool_name"], value["tool_input"], isExact);
    return { event: EVENT, session: sessionOf(value["session_id"]), ...asked, useId: textOf(value["tool_use_id"]) };
  },
  print(_prompt, { is, because }) {
    // Without a decision the prompt stays at opencode's terminal.
    return JSON.stringify({ decision: is === "undecided" ? "ask" : is, reason: because });
  },
  fail: (because) => ({ out: JSON.stringify({ decision: "deny", reason: because }), err: because, exit: DENIES }),
};

function opencodeFolder(env: Parameters<PromptingAgent["file"]>[0]): string {
  return join(env["XDG_CONFIG_HOME"] || join(homeOf(env), ".config"), "opencode");
}
