import { dirname, join } from "node:path";
import { jsonAt } from "../../../lib/json/json-edit.ts";
import { homeOf, type HookPlace, type HooksBeside, type PromptingAgent } from "../../agent.ts";
import { holdsHookEntries, withVersionedEntries } from "../../hook-entries.ts";
import { jsonFilesIn } from "../../hooks-beside.ts";
import { objectOrText, originOf, readObject, sessionOf, toolAndInput } from "../../prompt-json.ts";

const SWITCH = "disableAllHooks";
const EVENT = "permissionRequest";
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
    return withVersionedEntries(text, "copilot", { [EVENT]: entry });
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

function copilotHome(env: Parameters<PromptingAgent["file"]>[0]): string {
  return env["COPILOT_HOME"] || join(homeOf(env), ".copilot");
}

const isSetOff = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
