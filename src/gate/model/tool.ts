import type { PreviewWay } from "./preview.ts";

/** A tool as its MCP server lists it. */
export type ListedTool = Readonly<Record<string, unknown>> & { name: string };

/** The properties of a tool that the settings of the server give it, by its name `<gate>.<tool>`. */
export interface GatedToolSettings {
  /** Calls that its client sends together are put to people as one plan. */
  planned: boolean;
  /** How a call shows its targets before people are asked. */
  preview?: PreviewWay | undefined;
}

/** The members of a tool that are compared with the accepted ones (spec/gate 5). */
const PINNED = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/** Returns the part of a tool that is pinned: the rest, such as its icons, decides nothing. */
export function pinnedPart(tool: ListedTool): ListedTool {
  const members = Object.entries(tool).filter(([name]) => PINNED.includes(name));
  return { ...Object.fromEntries(members), name: tool.name };
}
