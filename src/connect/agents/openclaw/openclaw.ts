import { join, resolve } from "node:path";
import { NotJson } from "../../../lib/json/json-edit.ts";
import {
  type AgentPrompt,
  homeOf,
  type HooksBeside,
  type PromptDecision,
  type PromptingAgent,
  type UseOver,
} from "../../agent.ts";
import { toldEnd } from "../../plugin-hook.ts";
import { eventNameOf, originOf, readObject, sessionOf, toolAndInput } from "../../prompt-json.ts";
import { isPlugin, MANIFEST, pluginText } from "./plugin.ts";
import { loadsPlugin, withoutPlugin, withPlugin } from "./settings.ts";

const EVENT = "before_tool_call";
const AFTER = "after_tool_call";
const DENIES = 2;

const BESIDE: readonly HooksBeside[] = [
  {
    event: EVENT,
    runs: "one by one, by priority",
    decides: "a block",
    input: "of the last that returns one; each plugin sees the first",
    means: {},
    tried: { version: "2026.9.6", on: "2026-11-28" },
  },
];

/**
 * OpenClaw: a plugin sends `before_tool_call`, which comes before each use of a tool, to the hook. Its manifest has the
 * gateway load it, and the configuration every other run: either alone leaves runs in which it is not loaded.
 */
export const openclaw: PromptingAgent = {
  name: "openclaw",
  title: "OpenClaw",
  agentId: "openclaw",
  programs: ["openclaw"],
  file: (env) => join(pluginFolder(env), "index.js"),
  moreFiles: (env) => [
    {
      path: join(pluginFolder(env), "openclaw.plugin.json"),
      withHook: (text, hook) => ownText(text, hook && MANIFEST),
    },
    {
      path: env["OPENCLAW_CONFIG_PATH"] || join(openclawFolder(env), "openclaw.json"),
      withHook: (text, hook) => (hook ? withPlugin : withoutPlugin)(text, resolve(pluginFolder(env))),
      holds: (text) => loadsPlugin(text, resolve(pluginFolder(env))),
    },
  ],
  folder: openclawFolder,
  events: [EVENT],
  uncovered: [
    { prompt: "its own approval of a command, after a yes", because: "a plugin can refuse a tool, and never skips it" },
    { prompt: "tools of an agent that it starts by ACP", because: "they run outside OpenClaw" },
    { prompt: "tools of its Codex runtime", because: "OpenClaw relays them with a shorter time, then refuses" },
    {
      prompt: "the input that another plugin asks about itself",
      because: "OpenClaw keeps the input of the first to ask",
    },
    { prompt: "the folder", because: "OpenClaw tells none: a permission counts in every workspace" },
    { prompt: "questions of its model", because: "ask_user has its own way to people" },
  ],
  after: { events: [AFTER], untold: "", read: readUseOver },
  beside: BESIDE,
  takesAlways: true,
  afterInstall: "It asks about tools that change or reach something; --always names others.",
  takesEdits: false,
  withHook: (text, hook) => ownText(text, hook && pluginText(hook)),
  read,
  print,
  fail: (because) => ({ out: JSON.stringify({ decision: "deny", reason: because }), err: because, exit: DENIES }),
};

function read(bytes: Uint8Array): AgentPrompt | null {
  const { value, isExact } = readObject(bytes, "OpenClaw");
  if (eventNameOf(value) !== EVENT) return null;
  // Its ids of calls come from the model, and some repeat them: each call is a request of its own.
  const asked = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
  return { event: EVENT, session: sessionOf(value["session_id"]), ...asked };
}

function readUseOver(bytes: Uint8Array): UseOver | null {
  const { value, isExact } = readObject(bytes, "OpenClaw");
  if (value["hook_event_name"] !== AFTER) return null;
  const { tool, input } = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
  return { session: sessionOf(value["session_id"]), tool, input, ...toldEnd(value), result: value["tool_response"] };
}

/** Returns what the plugin reads. Without a decision of people OpenClaw asks by itself, or denies. */
function print(_prompt: AgentPrompt, { kind, because }: PromptDecision): string {
  return JSON.stringify({ decision: kind === "undecided" ? "ask" : kind, reason: because });
}

type Environment = Parameters<PromptingAgent["file"]>[0];

function openclawFolder(env: Environment): string {
  return env["OPENCLAW_STATE_DIR"] || join(env["OPENCLAW_HOME"] || homeOf(env), ".openclaw");
}

function pluginFolder(env: Environment): string {
  return join(openclawFolder(env), "parley");
}

/** Returns the text of a file of Parley's own with this content, or without any. @throws {NotJson} for another's file */
function ownText(text: string, wanted: string | null): string {
  const isOurs = isPlugin(text) || text === MANIFEST;
  if (wanted === null) return isOurs ? "" : text;
  if (text.trim() !== "" && !isOurs) throw new NotJson("it holds a plugin that is not Parley's");
  return wanted;
}
