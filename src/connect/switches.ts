import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { PromptingAgent } from "./agent.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const MOST_BYTES = 4 * 1_048_576;
const OFF: readonly unknown[] = [undefined, "", "0", "false", "no", "off"];

/**
 * Returns a sentence about the switch that keeps an agent from running its hook; null where none does.
 *
 * @param hookFile the file in which the hook stands, with its text
 * @throws {Error} in one sentence, for a file of switches that cannot be read
 */
export function hookTurnedOff(
  agent: PromptingAgent,
  env: Environment,
  hookFile: { path: string; text: string },
): string | null {
  const { title } = agent;
  const variable = agent.switchVariables?.find((name) => isOn(env[name]));
  if (variable !== undefined) return `${title} would not run the hook: the variable ${variable} turns it off.`;
  for (const { path, turnsOff } of agent.switches?.(env, hookFile.path) ?? []) {
    try {
      const text = resolve(path) === resolve(hookFile.path) ? hookFile.text : settingsIn(path);
      const setting = text.trim() === "" ? null : turnsOff(text, hookFile.text);
      if (setting !== null) return `${title} would not run the hook: in ${path} change ${setting}, which turns it off.`;
    } catch (error) {
      throw new Error(`${path} may turn hooks off, and cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }
  return null;
}

/** Returns whether the value of a variable means yes. */
export function isOn(value: unknown): boolean {
  return (
    !OFF.includes(typeof value === "string" ? value.trim().toLowerCase() : value) && value !== false && value !== 0
  );
}

function settingsIn(path: string): string {
  if (!existsSync(path)) return "";
  const { size } = statSync(path);
  if (!statSync(path).isFile() || size > MOST_BYTES) throw new Error("it is no file of settings");
  return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
}
