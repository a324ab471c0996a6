import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isHook } from "../../src/hook.ts";

const BUILD = fileURLToPath(new URL("../../scripts/build-hook.mjs", import.meta.url));
let built: string | undefined;

/** Returns the program of hooks, built from the present sources into this file when it is first wanted. */
export function builtHook(file: string): string {
  if (built === undefined) execFileSync(process.execPath, [BUILD, file]);
  return (built ??= file);
}

export { isHook };
