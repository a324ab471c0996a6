import { fileURLToPath } from "node:url";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as OldHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const WHO = { name: "test-agent", version: "1.0.0" };

type Json = Record<string, unknown>;
export interface CallOptions {
  onprogress?: (progress: { progress: number; message?: string }) => void;
  signal?: AbortSignal;
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
}

/** A tool's result. */
export interface Shown {
  structured: Json;
  content: Json[];
  isError: boolean;
  meta: Json;
}

/** The interface to any client that the tests use: the official client of each generation. */
export interface AnyClient {
  tools(): Promise<string[]>;
  call(name: string, args: Json, options?: CallOptions): Promise<Shown>;
  protocol(): string | undefined;
  close(): Promise<void>;
}

export interface Place {
  url: string;
  key?: string;
}

export const over = { stdio: "stdio", http: "Streamable HTTP" } as const;
export type Transport = keyof typeof over;

const bridgeOf = ({ url, key }: Place) => ({
  command: process.execPath,
  args: [MAIN, "mcp"],
  env: { PATH: process.env["PATH"] ?? "", PARLEY_URL: url, ...(key !== undefined && { PARLEY_KEY: key }) },
});
const initOf = ({ key }: Place) =>
  key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } };

export async function openNew(
  place: Place,
  transport: Transport,
  mode: "auto" | "legacy",
  only?: string,
): Promise<AnyClient> {
  const supportedProtocolVersions = only === undefined ? {} : { supportedProtocolVersions: [only] };
  const client = new Client(WHO, { versionNegotiation: { mode }, ...supportedProtocolVersions });
  await client.connect(
    transport === "http"
      ? new StreamableHTTPClientTransport(new URL(`${place.url}/mcp`), initOf(place))
      : new StdioClientTransport(bridgeOf(place)),
  );
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) => shown(await client.callTool({ name, arguments: args }, options)),
    protocol: () => client.getNegotiatedProtocolVersion(),
    close: () => client.close(),
  };
}

export async function openOld(place: Place, transport: Transport): Promise<AnyClient> {
  const client = new OldClient(WHO);
  let protocol: string | undefined;
  const pipe =
    transport === "http"
      ? new OldHttp(new URL(`${place.url}/mcp`), initOf(place))
      : Object.assign(new OldStdio(bridgeOf(place)), {
          setProtocolVersion: (version: string) => void (protocol = version),
        });
  await client.connect(pipe as Parameters<typeof client.connect>[0]);
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options) =>
      shown(await client.callTool({ name, arguments: args }, undefined, options as never)),
    protocol: () => (pipe instanceof OldHttp ? pipe.protocolVersion : protocol),
    close: () => client.close(),
  };
}

function shown(result: unknown): Shown {
  const {
    structuredContent,
    content,
    isError = false,
    _meta: meta = {},
  } = result as { structuredContent: Json; content: Json[]; isError?: boolean; _meta?: Json };
  return { structured: structuredContent, content, isError, meta };
}

export const CLIENTS = {
  "the official client, negotiating": {
    open: (place: Place, by: Transport) => openNew(place, by, "auto"),
    speaks: "2026-07-28",
  },
  "the official client, with a handshake": {
    open: (place: Place, by: Transport) => openNew(place, by, "legacy"),
    speaks: "2025-11-25",
  },
  "the official client, at the oldest revision": {
    open: (place: Place, by: Transport) => openNew(place, by, "legacy", "2025-06-18"),
    speaks: "2025-06-18",
  },
  "the older client": { open: openOld, speaks: "2025-11-25" },
};
