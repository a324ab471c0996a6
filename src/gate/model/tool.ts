/** A tool as its MCP server lists it. */
export type ListedTool = Readonly<Record<string, unknown>> & { name: string };

/** The members of a tool that are compared with the accepted ones (spec/gate 5). */
const PINNED = ["name", "title", "description", "inputSchema", "outputSchema", "annotations"];

/** Returns the part of a tool that is pinned: the rest, such as its icons, decides nothing. */
export function pinnedPart(tool: ListedTool): ListedTool {
  const members = Object.entries(tool).filter(([name]) => PINNED.includes(name));
  return { ...Object.fromEntries(members), name: tool.name };
}
