import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { findFile, listSettings, type ConfigSources } from "./config.ts";

/** They say where things stand on this machine; what is restored stands together in its folder. */
const MOVED = ["data_dir", "key_file", "relay.policy_file", "relay.prompts_dir"];
/** The same, of what is in no backup. */
const LEFT_BEHIND = ["assignment.work_dir"];

/**
 * Returns the settings file without secrets, and which settings were left out because they are secret or true of this
 * machine alone; null where no file is used. Comments are left out, too: a secret may stand in one.
 */
export function settingsWithoutSecrets(sources: ConfigSources): { text: string; leftOut: string[] } | null {
  const path = findFile(sources);
  if (path === undefined) return null;
  const settings = (parse(readFileSync(path, "utf8")) ?? {}) as Record<string, unknown>;
  const secrets = listSettings().flatMap(({ name, secret }) => (secret ? [name] : []));
  const leftOut = [...secrets, ...LEFT_BEHIND].filter((name) => take(settings, name.split(".")));
  for (const name of MOVED) take(settings, name.split("."));
  return { text: stringify(settings), leftOut };
}

/** The setting is not there any more. Returns whether it was. */
function take(settings: Record<string, unknown>, [first = "", ...rest]: readonly string[]): boolean {
  if (!Object.hasOwn(settings, first)) return false;
  const found = settings[first];
  if (rest.length > 0) return isBlock(found) && take(found, rest);
  delete settings[first];
  return found !== null;
}

function isBlock(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
