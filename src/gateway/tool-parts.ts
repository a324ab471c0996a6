import type { ListedTool } from "../gate/model/tool.ts";
import { canonicalExact } from "../lib/json/exact-json.ts";

/** Below the limits of a body (spec/gate 4): the rest is for the names around the tools. */
const MOST = { tools: 1000, bytes: 1_000_000, values: 9900, depth: 60, name: 200 };

/** The list of a server's tools in parts that a body holds each, and the tools that no body holds. */
export interface ToolParts {
  parts: ListedTool[][];
  misfits: ListedTool[];
}

/** Divides a list of tools, in its order. */
export function partsOf(tools: readonly ListedTool[]): ToolParts {
  const parts: ListedTool[][] = [];
  const misfits: ListedTool[] = [];
  let bytes = 0;
  let values = 0;
  for (const tool of tools) {
    const size = sizeOf(tool);
    if (!size) {
      misfits.push(tool);
      continue;
    }
    const last = parts.at(-1);
    const isFull = bytes + size.bytes > MOST.bytes || values + size.values > MOST.values || last?.length === MOST.tools;
    if (!last || isFull) {
      parts.push([tool]);
      [bytes, values] = [size.bytes, size.values];
    } else {
      last.push(tool);
      bytes += size.bytes;
      values += size.values;
    }
  }
  return { parts, misfits };
}

/** Returns nothing for a tool that a body cannot hold. */
function sizeOf(tool: ListedTool): { bytes: number; values: number } | undefined {
  const values = countValues(tool, MOST.depth);
  if (tool.name.length > MOST.name || values > MOST.values) return undefined;
  const bytes = Buffer.byteLength(canonicalExact(tool)) + 1;
  return bytes > MOST.bytes ? undefined : { bytes, values };
}

/** Counts a value and those within it; infinite for one that no body holds (spec/security 4.1). */
function countValues(value: unknown, depth: number): number {
  if (typeof value === "string" && !value.isWellFormed()) return Number.POSITIVE_INFINITY;
  if (typeof value !== "object" || value === null) return 1;
  if (depth === 0) return Number.POSITIVE_INFINITY;
  let count = 1;
  for (const [name, member] of Object.entries(value)) {
    count += name.isWellFormed() ? countValues(member, depth - 1) : Number.POSITIVE_INFINITY;
  }
  return count;
}
