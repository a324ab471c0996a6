import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the roles and prompts that come with Parley; a folder of the operator's stands before it. */
export const SHIPPED_PROMPTS = fileURLToPath(new URL("../../../prompts/", import.meta.url));

/** The first part of every prompt, for every role (spec/relay 11). */
export const BASE_PROMPT = shippedText("base@v1.md");

/** Returns the instructions for an executor about asking, for its own system prompt. */
export function executorPrompt(): string {
  return shippedText("executor@v1.md");
}

function shippedText(name: string): string {
  return readFileSync(join(SHIPPED_PROMPTS, name), "utf8").trim();
}

/** Returns the folders that roles stand in, the operator's before ours. */
export function roleDirs(settings: { promptsDir: string | undefined; dataDir: string }): readonly string[] {
  return [settings.promptsDir ?? join(settings.dataDir, "prompts"), SHIPPED_PROMPTS];
}
