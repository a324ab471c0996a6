/** What an MCP server says of a tool, as it says it. */
export type ListedTool = Readonly<Record<string, unknown>> & { name: string };
