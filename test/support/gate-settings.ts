import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterLast } from "./shared.ts";

/** Returns the environment of a server whose settings file says this of tools behind gates. */
export function gateSettings(tools: Readonly<Record<string, object>>): { PARLEY_CONFIG: string } {
  const folder = mkdtempSync(join(tmpdir(), "parley-gate-settings-"));
  afterLast(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "parley.yaml");
  writeFileSync(file, JSON.stringify({ gate: { tools } }));
  return { PARLEY_CONFIG: file };
}
