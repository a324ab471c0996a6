import { join } from "node:path";
import { homeOf, type HooksBeside, OVER_S, type PromptingAgent } from "../../agent.ts";
import { holdsHookEntries, withHookEntries } from "../../hook-entries.ts";
import { eventNameOf, originOf, readObject, sessionOf, toolAndInput } from "../../prompt-json.ts";
import { codexSwitches } from "./switches.ts";

const EVENT = "PermissionRequest";
const AFTER = "PostToolUse";
/** Codex denies by this exit code, and gives its model the words on standard error. */
const DENIES = 2;

const BESIDE: readonly HooksBeside[] = [
  {
    event: EVENT,
    runs: "at once; all are waited for",
    decides: "a deny, before an allow",
    means: { beside: "is waited for beside Parley's: its deny overrides people's yes, and its allow not their no" },
    tried: { version: "0.171.0", on: "2026-11-28" },
  },
];

/** Codex: `PermissionRequest`, which comes before its own prompt for a command, a patch, the network or an MCP tool. */
export const codex: PromptingAgent = {
  name: "codex",
  title: "Codex",
  agentId: "codex",
  programs: ["codex"],
  file: (env) => join(env["CODEX_HOME"] || join(homeOf(env), ".codex"), "hooks.json"),
  events: [EVENT],
  uncovered: [
    { prompt: "any, before the hook is trusted", because: "Codex skips a new or changed hook until /hooks trusts it" },
    { prompt: "a run with --ask-for-approval never", because: "Codex asks nothing there, and refuses by itself" },
    { prompt: "questions of its model, forms of MCP servers", because: "Codex has no hook for them" },
  ],
  after: {
    events: [AFTER],
    untold: "the exit status: a command that failed counts as done",
    read(bytes) {
      const { value, isExact } = readObject(bytes, "Codex");
      if (value["hook_event_name"] !== AFTER) return null;
      const { tool, input } = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
      const takesNotesAt = originOf(value).subagent === undefined ? AFTER : undefined;
      const use = { session: sessionOf(value["session_id"]), tool, input: commandOf(tool, input), takesNotesAt };
      return { ...use, end: "done", result: value["tool_response"] };
    },
    inputOf: ({ tool, input }) => commandOf(tool, input),
    givesNotes: true,
  },
  beside: BESIDE,
  hookPlaces: (env, project) =>
    [codex.file(env), join(project, ".codex", "hooks.json")].map((path) => ({ path, turn: "beside" })),
  takesAlways: false,
  afterInstall: "Codex runs it only after you have trusted it once: start codex, and open /hooks.",
  takesEdits: false,
  withHook(text, hook) {
    const run = hook && { type: "command", command: hook.command, timeout: hook.timeoutSeconds };
    const over = hook?.over && { hooks: [{ type: "command", command: hook.over, timeout: OVER_S }] };
    return withHookEntries(text, "codex", { [EVENT]: run ? { hooks: [run] } : undefined, [AFTER]: over || undefined });
  },
  holds: (text) => holdsHookEntries(text, "codex", [EVENT]),
  switches: codexSwitches,
  read(bytes) {
    const { value, isExact } = readObject(bytes, "Codex");
    if (eventNameOf(value) !== EVENT) return null;
    const asked = toolAndInput(value["tool_name"], value["tool_input"], isExact, originOf(value));
    return { event: EVENT, session: sessionOf(value["session_id"]), ...asked };
  },
  print(_prompt, { kind, because }) {
    // Without a decision Codex goes on to its own prompt.
    if (kind === "undecided") return JSON.stringify({ systemMessage: because });
    const decision = kind === "allow" ? { behavior: "allow" } : { behavior: "deny", message: because };
    return JSON.stringify({ hookSpecificOutput: { hookEventName: EVENT, decision } });
  },
  fail: (because) => ({ err: because, exit: DENIES }),
};

/** Returns an input without the reason that its prompt alone has. */
function commandOf(tool: string, input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return tool === "Bash" ? { command: input["command"] } : input;
}
