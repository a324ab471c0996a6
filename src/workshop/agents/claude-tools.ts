import type { JsonObject } from "../../lib/json/json-body.ts";
import { lineDiff } from "../../lib/line-diff.ts";
import { reaching, reading, writing, type Deed } from "../../tasks/model/action.ts";
import type { PermissionRequest } from "./agent.ts";
import { objectOf, objectsOf, textOf } from "./json-lines.ts";

/** The member of a tool's input that names the path it reads; without one it reads the tree. */
const READS: Readonly<Record<string, string>> = {
  Read: "file_path",
  NotebookRead: "notebook_path",
  Glob: "path",
  Grep: "path",
  LS: "path",
};
const WRITES: Readonly<Record<string, string>> = {
  Write: "file_path",
  Edit: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};
const EXECUTES = new Set(["Bash", "PowerShell", "Monitor"]);

/** Returns what a call of one of Claude Code's tools is. */
export function claudePermission(tool: string, input: JsonObject, tree: string): PermissionRequest {
  const diff = WRITES[tool] === undefined ? undefined : diffOf(input);
  return { tool, input, ...deedOf(tool, input, tree), ...(diff !== undefined && { diff }) };
}

function deedOf(tool: string, input: JsonObject, tree: string): Deed {
  const path = (member: string) => textOf(input[member]);
  const unknown: Deed = { action: "tool", resource: tool };
  if (READS[tool] !== undefined) return reading(path(READS[tool]) ?? ".", tree);
  if (WRITES[tool] !== undefined) {
    const written = path(WRITES[tool]);
    return written === undefined ? unknown : writing(written, tree);
  }
  const line = textOf(input["command"]);
  if (EXECUTES.has(tool) && line !== undefined) return { action: "execute", resource: line };
  const socket = textOf(objectOf(input["ws"])["url"]);
  if (tool === "Monitor" && socket !== undefined) return reaching(socket);
  if (tool === "WebFetch") return reaching(textOf(input["url"]) ?? "");
  if (tool === "WebSearch") return { action: "network", resource: textOf(input["query"]) ?? "" };
  return unknown;
}

/** Returns what a write would change, or the new text where it says no more than that. */
function diffOf(input: JsonObject): string | undefined {
  const whole = textOf(input["content"]) ?? textOf(input["new_source"]);
  if (whole !== undefined) return whole;
  const edits = Array.isArray(input["edits"]) ? objectsOf(input["edits"]) : [input];
  const parts = edits.map((edit) => lineDiff(textOf(edit["old_string"]) ?? "", textOf(edit["new_string"]) ?? ""));
  return parts.flat().join("\n") || undefined;
}
