import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { jsonAt } from "../../../lib/json/json-edit.ts";
import type { SwitchFile } from "../../agent.ts";
import { isOn } from "../../switches.ts";

/** Variables with which Claude Code runs no hooks of its user. */
export const SWITCH_VARIABLES: readonly string[] = ["CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE"];

const ADMINISTRATORS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/ClaudeCode",
  win32: "C:\\Program Files\\ClaudeCode",
};

/** Claude Code's settings of its user, and those of its administrator. */
export function claudeSwitches(_env: unknown, file: string): readonly SwitchFile[] {
  const folder = ADMINISTRATORS[process.platform] ?? "/etc/claude-code";
  const more = join(folder, "managed-settings.d");
  const names = existsSync(more) ? readdirSync(more).filter((name) => name.endsWith(".json")) : [];
  const paths = [file, join(folder, "managed-settings.json"), ...names.map((name) => join(more, name))];
  return paths.map((path) => ({ path, turnsOff }));
}

/** Returns the setting with which Claude Code would not run the hook that stands in `hookText`. @throws {NotJson} */
export function turnsOff(text: string, hookText: string): string | null {
  for (const name of ["disableAllHooks", "allowManagedHooksOnly"]) if (isSet(jsonAt(text, [name]))) return name;
  const plugins = jsonAt(text, ["strictPluginOnlyCustomization"]);
  if (Array.isArray(plugins) ? plugins.includes("hooks") : isSet(plugins)) return "strictPluginOnlyCustomization";
  const variable = SWITCH_VARIABLES.find((name) => isOn(jsonAt(text, ["env", name])));
  if (variable !== undefined) return `env.${variable}`;
  const [urls, variables] = [jsonAt(text, ["allowedHttpHookUrls"]), jsonAt(text, ["httpHookAllowedEnvVars"])];
  for (const { url, allowedEnvVars } of httpHooksIn(hookText)) {
    if (isSet(urls) && !listOf(urls).some((pattern) => isLike(url, String(pattern)))) return "allowedHttpHookUrls";
    if (isSet(variables) && !allowedEnvVars.every((name) => listOf(variables).includes(name))) {
      return "httpHookAllowedEnvVars";
    }
  }
  return null;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, "\\$&");

function isLike(url: string, pattern: string): boolean {
  return new RegExp(`^${pattern.split("*").map(escaped).join(".*")}$`).test(url);
}

/** Returns the hooks of the first event of prompts that are sent by HTTP. A list of addresses concerns no others. */
function httpHooksIn(text: string): { url: string; allowedEnvVars: unknown[] }[] {
  const groups = listOf(jsonAt(text, ["hooks", "PermissionRequest"]));
  const hooks = groups.flatMap((group) => listOf(Object(group).hooks)).map((hook) => Object(hook) as Hook);
  return hooks.flatMap(({ type, url, allowedEnvVars }) =>
    type === "http" && /\/hooks\/claude(\?|$)/.test(String(url))
      ? [{ url: String(url), allowedEnvVars: listOf(allowedEnvVars) }]
      : [],
  );
}

type Hook = Readonly<Record<"type" | "url" | "allowedEnvVars", unknown>>;
