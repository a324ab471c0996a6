import { dirname, join } from "node:path";
import { parse, type TomlTable } from "smol-toml";
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

/** Returns the setting with which Codex would run no hook of its user. @throws {TomlError} */
export function turnsOff(text: string): string | null {
  const { allow_managed_hooks_only: isManagedOnly = false, features } = tomlOf(text);
  if (isManagedOnly !== false) return "allow_managed_hooks_only";
  // The old name counts where the new one is missing.
  for (const name of ["hooks", "codex_hooks"]) {
    const value = memberOf(features, name);
    if (value !== undefined) return value === true ? null : `features.${name}`;
  }
  return null;
}

/** Codex notes of each hook, by its file, event and place, whether its user has disabled it. */
function disablesHook(text: string, file: string): string | null {
  const states = Object.entries(memberOf(tomlOf(text)["hooks"], "state") ?? {});
  const isDisabled = states.some(
    ([hook, state]) => hook.startsWith(`${file}:permission_request:`) && memberOf(state, "enabled") === false,
  );
  return isDisabled ? `the hook's enabled = false` : null;
}

const tomlOf = (text: string): TomlTable => parse(text, { integersAsBigInt: "asNeeded" });

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
