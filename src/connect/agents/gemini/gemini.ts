import { join } from "node:path";
import { hasTerminal } from "../../../lib/terminal.ts";
import {
  type AgentPrompt,
  homeOf,
  type HooksBeside,
  OVER_S,
  type PromptDecision,
  type PromptingAgent,
  type UseOver,
} from "../../agent.ts";
import { holdsHookEntries, withHookEntries } from "../../hook-entries.ts";
import { OWN_TOOLS } from "../../own-tools.ts";
import { eventNameOf, isObject, originOf, readObject, sessionOf, textOf, toolAndInput } from "../../prompt-json.ts";
import { geminiSwitches, HOOK_NAME } from "./switches.ts";

const EVENT = "BeforeTool";
const AFTER = "AfterTool";
/** Gemini CLI denies by this exit code, and gives its model the words on standard error. */
const DENIES = 2;
const SHELL = "run_shell_command";
/** The last lines of what a command returned, from the end. Either of the first two is there only where it failed. */
const STATUS = /^(Exit Code|Signal): (\w{1,20})$/;
const BELOW_STATUS = /^(?:Background PIDs|Process Group PGID): |^<\/untrusted_context>$|^$/;
const NO_TERMINAL = "Gemini CLI has no terminal at which it could ask.";
/** The tools that change or reach something; Parley's own ask people already. */
const USUAL_TOOLS = `^(run_shell_command|write_file|replace|web_fetch|mcp_(?!parley_(${OWN_TOOLS})$).*)$`;

const BESIDE: readonly HooksBeside[] = [
  {
    event: EVENT,
    runs: "one by one in a sequential entry, as Parley's is, each with the input of the one before; else at once",
    decides: "a deny, before an allow",
    input: "of the last, and a workspace's come last; it replaces the whole input",
    means: {
      beside: "counts beside Parley's: its deny overrides people's yes, and its input may replace theirs",
    },
    tried: { version: "0.61.0", on: "2026-11-28" },
  },
];

/** Gemini CLI: `BeforeTool`, which comes before each use of a tool, and before its own policy. */
export const gemini: PromptingAgent = {
  name: "gemini",
  title: "Gemini CLI",
  agentId: "gemini-cli",
  programs: ["gemini"],
  file: (env) => join(env["GEMINI_CLI_HOME"] || homeOf(env), ".gemini", "settings.json"),
  events: [EVENT],
  uncovered: [
    { prompt: "its own prompt after an approval", because: "a hook can refuse a tool, and never skips its policy" },
    { prompt: "tools in a folder that is not trusted", because: "Gemini CLI runs no hook there" },
    { prompt: "the input that a later hook returns", because: "the last one runs, and a workspace's hooks come last" },
    { prompt: "trust in a folder, and its questions", because: "Gemini CLI has no hook for them" },
    { prompt: "a use in which the hook is killed", because: "Gemini CLI goes on to its policy then" },
  ],
  after: {
    events: [AFTER],
    untold: "the end of a call whose input a person changed",
    read: readUseOver,
    givesNotes: true,
  },
  beside: BESIDE,
  hookPlaces: (env, project) =>
    [gemini.file(env), join(project, ".gemini", "settings.json")].map((path) => ({ path, turn: "beside" })),
  takesAlways: true,
  afterInstall: "It asks about tools that change or reach something; --always names others.",
  takesEdits: true,
  withHook(text, hook) {
    const run = hook && {
      name: HOOK_NAME,
      type: "command",
      command: hook.command,
      timeout: hook.timeoutSeconds * 1000,
    };
    // One after another: people see the input as the hooks before have left it.
    const entry = run ? { matcher: hook.always ?? USUAL_TOOLS, sequential: true, hooks: [run] } : undefined;
    const over = hook?.over && { name: HOOK_NAME, type: "command", command: hook.over, timeout: OVER_S * 1000 };
    const after = hook && over ? { matcher: hook.always ?? USUAL_TOOLS, hooks: [over] } : undefined;
    return withHookEntries(text, "gemini", { [EVENT]: entry, [AFTER]: after });
  },
  holds: (text) => holdsHookEntries(text, "gemini", [EVENT]),
  switches: geminiSwitches,
  read(bytes) {
    const { value, isExact } = readObject(bytes, "Gemini CLI");
    if (eventNameOf(value) !== EVENT) return null;
    const asked = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
    return { event: EVENT, session: sessionOf(value["session_id"]), ...asked };
  },
  print: (prompt, decision) => printFor(hasTerminal, prompt, decision),
  fail: (because) => ({ err: because, exit: DENIES }),
};

function readUseOver(bytes: Uint8Array): UseOver | null {
  const { value, isExact } = readObject(bytes, "Gemini CLI");
  if (value["hook_event_name"] !== AFTER) return null;
  const { tool, input } = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
  const result = value["tool_response"];
  const { llmContent, error } = isObject(result) ? result : {};
  const status = tool === SHELL ? statusIn(llmContent) : undefined;
  const hasFailed = status !== undefined || (error !== undefined && error !== null);
  const takesNotesAt = originOf(value).subagent === undefined ? AFTER : undefined;
  const use = { session: sessionOf(value["session_id"]), tool, input, takesNotesAt };
  return { ...use, end: hasFailed ? "failed" : "done", status, result };
}

/** Returns the status of a command that failed, which stands below its output; nothing for one that did not. */
function statusIn(content: unknown): string | undefined {
  const lines = (textOf(content) ?? "").split("\n").slice(-6);
  const [, name, status] = STATUS.exec(lines.findLast((line) => !BELOW_STATUS.test(line)) ?? "") ?? [];
  return name === undefined ? undefined : `${name === "Signal" ? "signal" : "exit"} ${status}`;
}

/**
 * Returns what Gemini CLI reads. Without a decision of people it asks at its terminal, whatever its policy allows; where
 * it has none it would wait for ever, and so it denies.
 */
export function printFor(isAtTerminal: () => boolean, { input }: AgentPrompt, decision: PromptDecision): string {
  const { kind, because } = decision;
  if (kind === "undecided") {
    if (isAtTerminal()) return JSON.stringify({ decision: "ask", systemMessage: because });
    return JSON.stringify({ decision: "deny", reason: `${because} ${NO_TERMINAL}` });
  }
  if (kind === "deny") return JSON.stringify({ decision: "deny", reason: because });
  if (!decision.updatedInput) return JSON.stringify({ decision: "allow", reason: because });
  const edited = decision.updatedInput;
  // Gemini CLI 0.61 puts the edited input in the place of the first one. Its guide says that it lays it over that one.
  const missing = Object.keys(input).filter((name) => !Object.hasOwn(edited, name));
  if (missing.length > 0) {
    const reason = `Not approved: Gemini CLI cannot leave out ${missing.join(", ")}, as the edited input does.`;
    return JSON.stringify({ decision: "deny", reason });
  }
  const hookSpecificOutput = { hookEventName: EVENT, tool_input: edited };
  return JSON.stringify({ decision: "allow", reason: because, hookSpecificOutput });
}
