import { dirname, join } from "node:path";
import { tomlValues } from "../../../lib/toml-table.ts";
import type { SwitchFile } from "../../agent.ts";

const ADMINISTRATORS = "/etc/codex";

/** Codex's settings of its user, and the requirements of its administrator. */
export function codexSwitches(_env: unknown, file: string): readonly SwitchFile[] {
  const own = join(dirname(file), "config.toml");
  const theirs = ["config.toml", "managed_config.toml", "requirements.toml"];
  return [
    { path: own, turnsOff: (text) => turnsOff(text) ?? disablesHook(text, file) },
    ...theirs.map((name) => ({ path: join(ADMINISTRATORS, name), turnsOff })),
  ];
}

/** Returns the setting with which Codex would run no hook of its user. */
export function turnsOff(text: string): string | null {
  const values = tomlValues(text);
  if (values.some(({ path, value }) => path.join(".") === "allow_managed_hooks_only" && value !== "false")) {
    return "allow_managed_hooks_only";
  }
  // The old name counts where the new one is missing.
  for (const name of ["hooks", "codex_hooks"]) {
    const value = values.find(({ path }) => path.join(".") === `features.${name}`)?.value;
    if (value !== undefined) return value === "true" ? null : `features.${name}`;
  }
  return null;
}

/** Codex notes of each hook, by its file, event and place, whether its user has disabled it. */
function disablesHook(text: string, file: string): string | null {
  const disabled = tomlValues(text).find(
    ({ path: [hooks, state, hook = "", member], value }) =>
      hooks === "hooks" &&
      state === "state" &&
      member === "enabled" &&
      value === "false" &&
      hook.startsWith(`${file}:permission_request:`),
  );
  return disabled ? `the hook's enabled = false` : null;
}
