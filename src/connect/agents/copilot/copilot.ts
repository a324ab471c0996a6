import { dirname, join } from "node:path";
import { jsonAt } from "../../../lib/json/json-edit.ts";
import { homeOf, type HookPlace, type HooksBeside, OVER_S, type PromptingAgent, type UseOver } from "../../agent.ts";
import { holdsHookEntries, withVersionedEntries } from "../../hook-entries.ts";
import { jsonFilesIn } from "../../hooks-beside.ts";
import { isObject, objectOrText, originOf, readObject, sessionOf, textOf, toolAndInput } from "../../prompt-json.ts";

const SWITCH = "disableAllHooks";
const EVENT = "permissionRequest";
const AFTER = ["postToolUse", "postToolUseFailure"] as const;
/** The last line of what a command returned. */
const STATUS = /<shellId: \w+ completed with exit code (\d+)>\s*$/;
const SHELLS = ["bash", "powershell"];
/** Copilot CLI denies by this exit code, with the message on standard output. */
const DENIES = 2;

const BESIDE: readonly HooksBeside[] = [
  {
    event: EVENT,
    runs: "one by one: the user's files from the last name to the first, then those of a trusted repository",
    decides: "the last to speak; an empty answer leaves the one before",
    means: {
      before: "speaks before Parley's: people's yes overrides its deny",
      after: "speaks after Parley's: its allow overrides people's no",
    },
    tried: { version: "1.0.102", on: "2026-11-28" },
  },
];

/** GitHub Copilot CLI: `permissionRequest`, which comes before its rules and its own prompt. */
export const copilot: PromptingAgent = {
  name: "copilot",
  title: "Copilot CLI",
  agentId: "copilot-cli",
  programs: ["copilot"],
  file: (env) => join(copilotHome(env), "hooks", "parley.json"),
  folder: copilotHome,
  events: [EVENT],
  uncovered: [
    { prompt: "reading a file", because: "Copilot CLI decides it before it asks a hook" },
    { prompt: "leaving its sandbox", because: "a hook can refuse that; an approval leaves it to the terminal" },
    { prompt: "the cloud agent", because: "it runs elsewhere, with all permissions given" },
    { prompt: "any, by a hook of a repository that is not trusted", because: "Copilot CLI skips it without a word" },
    { prompt: "a use in which the hook is killed", because: "Copilot CLI goes on to its own prompt then" },
  ],
  after: {
    events: AFTER,
    untold: "the ends of tools other than its shells, whose prompts have another input",
    read: readUseOver,
    inputOf: ({ tool, input }) => commandOf(tool, input),
  },
  beside: BESIDE,
  hookPlaces: (env, project) => {
    const own = copilot.file(env);
    const theirs = jsonFilesIn(dirname(own)).filter((path) => path !== own);
    return [
      ...theirs.map((path): HookPlace => ({ path, turn: path < own ? "after" : "before" })),
      ...jsonFilesIn(join(project, ".github", "hooks")).map((path): HookPlace => ({ path, turn: "after" })),
    ];
  },
  takesAlways: false,
  afterInstall:
    "They include those that its own rules would allow, and not the reading of files. A hook in .github/hooks runs only where trusted_folders of ~/.copilot/config.json holds the folder.",
  takesEdits: false,
  withHook(text, hook) {
    const entry = hook ? { type: "command", bash: hook.command, timeoutSec: hook.timeoutSeconds } : undefined;
    const over = hook?.over ? { type: "command", bash: hook.over, timeoutSec: OVER_S } : undefined;
    const after = Object.fromEntries(AFTER.map((event) => [event, over]));
    return withVersionedEntries(text, "copilot", { [EVENT]: entry, ...after });
  },
  holds: (text) => holdsHookEntries(text, "copilot", [EVENT]),
  switches: (env, file) =>
    // Its earlier versions kept settings in the second one.
    [file, ...["settings.json", "config.json"].map((name) => join(copilotHome(env), name))].map((path) => ({
      path,
      turnsOff: (text) => (isSetOff(jsonAt(text, [SWITCH])) ? SWITCH : null),
    })),
  read(bytes) {
    const { value, isExact } = readObject(bytes, "Copilot CLI");
    // The event is stated in one of its two forms alone.
    const event = value["hookName"] ?? value["hook_event_name"];
    if (event !== undefined && event !== EVENT && event !== "PermissionRequest") return null;
    const sent = objectOrText(value["toolInput"] ?? value["toolArgs"] ?? value["tool_input"], isExact);
    const asked = toolAndInput(value["toolName"] ?? value["tool_name"], sent.input, sent.isExact, originOf(value));
    return { event: EVENT, session: sessionOf(value["sessionId"] ?? value["session_id"]), ...asked };
  },
  print(_prompt, { kind, because }) {
    // Without a decision Copilot CLI goes on to its rules and its own prompt.
    if (kind === "undecided") return "{}";
    return JSON.stringify(kind === "allow" ? { behavior: "allow" } : { behavior: "deny", message: because });
  },
  fail: (because) => ({ out: JSON.stringify({ behavior: "deny", message: because }), err: because, exit: DENIES }),
};

/** Reads an event after a tool. It has no name: the hook's command says that it is one. */
function readUseOver(bytes: Uint8Array): UseOver | null {
  const { value, isExact } = readObject(bytes, "Copilot CLI");
  const sent = objectOrText(value["toolArgs"], isExact);
  const { tool, input: whole } = toolAndInput(value["toolName"], sent.input, sent.isExact, originOf(value));
  const input = commandOf(tool, whole);
  if (input === null) return null;
  const use = { session: sessionOf(value["sessionId"]), tool, input };
  const result = value["toolResult"];
  if (!isObject(result)) return { ...use, end: "failed" };
  const code = STATUS.exec(textOf(result["textResultForLlm"]) ?? "")?.[1];
  if (result["resultType"] !== "success") return { ...use, end: "failed", result };
  return code === undefined || code === "0"
    ? { ...use, end: "done", result }
    : { ...use, end: "failed", status: `exit ${code}`, result };
}

/** Returns the part of an input that a prompt and the end of its use share; null for a tool about which that is not known. */
function commandOf(tool: string, { command }: Readonly<Record<string, unknown>>): { command: unknown } | null {
  return SHELLS.includes(tool) ? { command } : null;
}

function copilotHome(env: Parameters<PromptingAgent["file"]>[0]): string {
  return env["COPILOT_HOME"] || join(homeOf(env), ".copilot");
}

const isSetOff = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
