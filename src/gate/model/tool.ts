/** A tool as its MCP server lists it. */
export type ListedTool = Readonly<Record<string, unknown>> & { name: string };
