import type { ListedTool } from "../gate/model/tool.ts";
import type { GateClient, GateTools } from "./gate-client.ts";

/** The server's word on the tools behind a gate. */
export interface JudgedTools {
  /** Tells the server of tools, and returns the names of those that are held back. */
  judge(tools: readonly ListedTool[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Whether the calls of a tool are planned; the server is asked where that is not known. */
  isPlanned(tool: ListedTool, signal: AbortSignal): Promise<boolean>;
}

export function openJudgedTools(client: GateClient): JudgedTools {
  const judged = new Map<string, Pick<GateTools, "planned">>();

  async function judge(tools: readonly ListedTool[], signal: AbortSignal): Promise<GateTools> {
    const said = await client.judge(tools, signal);
    for (const { name } of tools) judged.set(name, said);
    return said;
  }

  return {
    judge: async (tools, signal) => (await judge(tools, signal)).heldBack,
    async isPlanned(tool, signal) {
      const { planned } = judged.get(tool.name) ?? (await judge([tool], signal));
      return planned.has(tool.name);
    },
  };
}
