import { resolve, sep } from "node:path";
import { holdsHook, homeOf, hookFilesOf, type PromptingAgent, type WantedHook } from "../../connect/agent.ts";
import type { Io } from "../command.ts";
import { hookAddresses } from "../hook/http-form.ts";
import { withHookIn } from "../hook/hook-text.ts";
import { MCP_CLIENTS, type McpClient, type McpServerAddress } from "../mcp/clients.ts";
import { withMcpEntry } from "../mcp/install.ts";

/** The parts that are to be written for an agent: its hook, and the server that it finds by MCP. */
export interface WantedParts {
  hook: WantedHook;
  /** Left out where the entry for MCP is to stay as it is. */
  address?: McpServerAddress;
}

/** One part of Parley's in a file of an agent. */
export interface ParleyPart {
  kind: "hook" | "mcp";
  file: string;
  /** Returns the text of the file with exactly this part, or without it. @throws {Error} one sentence */
  edit(text: string, wanted: WantedParts | null): string;
  /** Returns whether the part is in a text that is understood, and in force there; left out, where it is in it. */
  holds?(text: string): boolean;
}

/** Returns the parts that an agent can have: its hook, in the named file if there is one, and its MCP entry where its configuration is known. */
export function partsOf(agent: PromptingAgent, env: Io["env"], url?: string, named?: string): ParleyPart[] {
  const hook = hookFilesOf(agent, env, hookAddresses(agent, url, env)).map((hookFile): ParleyPart => {
    const file = resolve(named ?? hookFile.path);
    return {
      kind: "hook",
      file,
      edit: (text, wanted) => withHookIn({ file, text }, hookFile, wanted?.hook ?? null),
      holds: (text) => holdsHook(hookFile, text),
    };
  });
  const client = mcpClientOf(agent);
  if (!client) return hook;
  const mcpFile = resolve((client.userFile ?? client.file)(env));
  return [
    ...hook,
    {
      kind: "mcp",
      file: mcpFile,
      edit: (text, wanted) =>
        wanted && !wanted.address ? text : withMcpEntry(client, { file: mcpFile, text }, wanted?.address),
    },
  ];
}

/** Returns the MCP client that is this agent; nothing where its configuration is not known. */
export function mcpClientOf({ name }: PromptingAgent): McpClient | undefined {
  return Object.hasOwn(MCP_CLIENTS, name) ? MCP_CLIENTS[name] : undefined;
}

/** Returns the text without any of these parts. @throws {Error} one sentence */
export function withoutParts(text: string, parts: readonly ParleyPart[]): string {
  // The one that was written last goes first, so that the file closes up in the order in which it was opened.
  return parts.toReversed().reduce((left, part) => part.edit(left, null), text);
}

/** Returns whether a part is in a text, and in force there. @throws {Error} one sentence */
export function isIn(part: ParleyPart, text: string): boolean {
  return part.edit(text, null) !== text && (part.holds?.(text) ?? true);
}

/** Returns a path as people write it, with `~` for the home folder. */
export function homely(path: string, env: Io["env"]): string {
  const home = resolve(homeOf(env)) + sep;
  return path.startsWith(home) ? `~/${path.slice(home.length)}` : path;
}
