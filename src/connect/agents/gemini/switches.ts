import { dirname, join } from "node:path";
import { jsonAt } from "../../../lib/json/json-edit.ts";
import type { SwitchFile } from "../../agent.ts";

/** The name of the hook, by which Gemini CLI can disable it. */
export const HOOK_NAME = "parley";

const ADMINISTRATORS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/GeminiCli/settings.json",
  win32: "C:\\ProgramData\\gemini-cli\\settings.json",
};

/** Gemini CLI's settings of its user, those of its administrator, and the administrator's defaults. */
export function geminiSwitches(env: Readonly<Record<string, string | undefined>>, file: string): readonly SwitchFile[] {
  const system =
    env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"] || (ADMINISTRATORS[process.platform] ?? "/etc/gemini-cli/settings.json");
  const defaults = env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] || join(dirname(system), "system-defaults.json");
  return [
    { path: file, turnsOff },
    { path: system, turnsOff },
    // The user's own settings are stronger than defaults.
    {
      path: defaults,
      turnsOff: (text, own) =>
        turnsOff(jsonAt(own, ["hooksConfig", "enabled"]) === true ? withoutAll(text) : text, own),
    },
  ];
}

/** Returns the setting with which Gemini CLI would not run the hook that stands in `hookText`. @throws {NotJson} */
export function turnsOff(text: string, hookText: string): string | null {
  const names = [HOOK_NAME, ...commandsIn(hookText)];
  // The second pair is that of earlier versions.
  for (const place of ["hooksConfig", "hooks"]) {
    const [enabled, disabled] = [jsonAt(text, [place, "enabled"]), jsonAt(text, [place, "disabled"]) ?? []];
    if (enabled !== undefined && enabled !== true) return `${place}.enabled`;
    const isListed = (name: string) => Array.isArray(disabled) && disabled.includes(name);
    if (!Array.isArray(disabled) || names.some(isListed)) return `${place}.disabled`;
  }
  const tools = jsonAt(text, ["tools", "enableHooks"]);
  return tools === undefined || tools === true ? null : "tools.enableHooks";
}

/** Returns settings with nothing left of them but the list of disabled hooks, which all files add to. */
function withoutAll(text: string): string {
  return JSON.stringify({ hooksConfig: { disabled: jsonAt(text, ["hooksConfig", "disabled"]) ?? [] } });
}

/** A hook without a name is known by its command. */
function commandsIn(text: string): string[] {
  const groups = jsonAt(text, ["hooks", "BeforeTool"]);
  const hooks = (Array.isArray(groups) ? groups : []).flatMap((group: unknown) => Object(group).hooks as unknown);
  return hooks
    .map((hook) => Object(hook).command as unknown)
    .filter((command) => typeof command === "string" && / hook gemini( |$)/.test(command)) as string[];
}
