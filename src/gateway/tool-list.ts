import { pinnedPart, type ListedTool } from "../gate/model/tool.ts";
import { membersOf } from "../lib/json/exact-json.ts";
import type { RpcJson } from "./messages.ts";
import type { ClientCall } from "./tool-call.ts";

const PROTOCOL_META = "io.modelcontextprotocol/";
const MOST_PAGES = 100;

/** Asks the server behind the gate something of its own. */
export type AskServer = (method: string, params: RpcJson, signal: AbortSignal) => Promise<RpcJson>;

/** The tools behind a gate, as their server lists them. */
export interface ToolList {
  /** The server has listed these. */
  note(tools: readonly ListedTool[]): void;
  /** Discards the list, which may be out of date by now. */
  forget(): void;
  /** Returns the tool of a call as its server lists it; it is asked where that is not known. */
  find(call: ClientCall, signal: AbortSignal): Promise<ListedTool | undefined>;
}

export function openToolList(ask: AskServer): ToolList {
  const known = new Map<string, ListedTool>();

  async function listAll(call: ClientCall, signal: AbortSignal): Promise<void> {
    let cursor: unknown;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const meta = protocolMetaOf(call);
      const result = await ask(
        "tools/list",
        { ...(cursor !== undefined && { cursor }), ...(meta && { _meta: meta }) },
        signal,
      );
      for (const tool of toolsIn(result)) known.set(tool.name, tool);
      cursor = result["nextCursor"];
      if (cursor === undefined || cursor === null) return;
    }
  }

  return {
    note(tools) {
      for (const tool of tools) known.set(tool.name, tool);
    },
    forget: () => known.clear(),
    async find(call, signal) {
      if (!known.has(call.name)) await listAll(call, signal);
      return known.get(call.name);
    },
  };
}

/** Returns the tools of a list's result. */
export function toolsIn({ tools }: RpcJson): ListedTool[] {
  if (!Array.isArray(tools)) return [];
  return (tools as unknown[])
    .map(membersOf)
    .filter((tool): tool is ListedTool => typeof tool["name"] === "string")
    .map(pinnedPart);
}

/** Newer clients say with each request which revision they speak: what is asked on their behalf says the same. */
export function protocolMetaOf({ meta }: ClientCall): RpcJson | null {
  const own = Object.entries(meta).filter(([name]) => name.startsWith(PROTOCOL_META));
  return own.length > 0 ? Object.fromEntries(own) : null;
}
