import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Client, Tool, Transport } from "@modelcontextprotocol/client";
import { VERSION } from "../../lib/version.ts";
import type { ServerSettings } from "./deps.ts";

/** A connection to one server of tools, for one ask. */
export interface ToolServer {
  tools: readonly Tool[];
  /** @throws when the server says that it failed, or cannot be reached, and when `signal` is aborted */
  call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** The tool, or its server, reported a failure. */
export class ToolError extends Error {}

const MOST_MESSAGE_BYTES = 10_485_760;
/** Each wait is ended by its signal; the client's own timers, which know no clock but the machine's, end none before. */
const NEVER_MS = 2_147_483_647;
/** The limit of the probe for the protocol of an address, which alone takes no signal. */
const PROBE_WITHIN_MS = 15_000;
const MINT_WITHIN_MS = 10_000;
const MOST_MINTED_BYTES = 65_536;
const run = promisify(execFile);

/** Accepts every result: the output schema of a tool is not checked, because the result is passed on as text. */
const TAKES_ANY = {
  getValidator: () => (input: unknown) => ({ valid: true as const, data: input as never, errorMessage: undefined }),
};

/**
 * Opens a connection to a server of tools. The output of `mint`, a JSON object of names to texts, is added to the
 * environment of a command, or to the headers of an address.
 */
export async function openToolServer(
  settings: ServerSettings,
  {
    env,
    fetch,
    signal,
  }: { env: Readonly<Record<string, string | undefined>>; fetch: typeof globalThis.fetch; signal: AbortSignal },
): Promise<ToolServer> {
  const minted = settings.mint ? await mint(settings.mint, signal) : {};
  const { Client } = await import("@modelcontextprotocol/client");
  // A probe of a command starts it twice, and what serves the newest protocol serves the one before it.
  const versionNegotiation =
    settings.url === undefined
      ? { mode: "legacy" as const }
      : { mode: "auto" as const, probe: { timeoutMs: PROBE_WITHIN_MS } };
  const client = new Client(
    { name: "parley", version: VERSION },
    { capabilities: {}, versionNegotiation, jsonSchemaValidator: TAKES_ANY },
  );
  try {
    const options = { timeout: NEVER_MS, signal };
    await client.connect(await transportTo(settings, { env, fetch, minted }), options);
    const { tools } = await client.listTools({}, options);
    return {
      tools,
      call: (tool, args, stop) => call(client, tool, args, stop),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

async function call(
  client: Client,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string> {
  const options = { timeout: NEVER_MS, signal };
  const result = await client.callTool({ name: tool, arguments: { ...args } }, options);
  const parts = result.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`));
  const text = parts.join("\n") || JSON.stringify(result.structuredContent ?? null);
  if (result.isError) throw new ToolError(text);
  return text;
}

async function transportTo(
  { command, url, headers_env: headersEnv = {} }: ServerSettings,
  how: {
    env: Readonly<Record<string, string | undefined>>;
    fetch: typeof globalThis.fetch;
    minted: Record<string, string>;
  },
): Promise<Transport> {
  if (command) {
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const [program = "", ...args] = command;
    return new StdioClientTransport({
      command: program,
      args,
      env: how.minted,
      stderr: "ignore",
      maxBufferSize: MOST_MESSAGE_BYTES,
    });
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const headers: Record<string, string> = { ...how.minted };
  for (const [header, variable] of Object.entries(headersEnv)) {
    const value = how.env[variable];
    if (value === undefined) throw new ToolError(`the environment has no ${variable}`);
    headers[header] = value;
  }
  return new StreamableHTTPClientTransport(new URL(url ?? ""), { requestInit: { headers }, fetch: bounded(how.fetch) });
}

/** A fetch whose replies break off where they become longer than any message is. */
function bounded(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const reply = await fetch(input, init);
    if (!reply.body) return reply;
    let bytes = 0;
    const counted = reply.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(part, out) {
          bytes += part.byteLength;
          if (bytes > MOST_MESSAGE_BYTES) out.error(new ToolError("the reply is too long"));
          else out.enqueue(part);
        },
      }),
    );
    return new Response(counted, reply);
  };
}

async function mint(command: readonly string[], signal: AbortSignal): Promise<Record<string, string>> {
  const [program = "", ...args] = command;
  const options = { timeout: MINT_WITHIN_MS, maxBuffer: MOST_MINTED_BYTES, signal };
  let printed: unknown;
  try {
    printed = JSON.parse((await run(program, args, options)).stdout);
  } catch {
    // The error shows neither its output nor its command line: both may hold the credentials.
    throw new ToolError("the command that makes its credentials failed");
  }
  const isTexts = typeof printed === "object" && printed !== null && !Array.isArray(printed);
  const entries = isTexts ? Object.entries(printed as object) : [];
  if (!isTexts || !entries.every((entry): entry is [string, string] => typeof entry[1] === "string")) {
    throw new ToolError("the command that makes its credentials printed no JSON object of texts");
  }
  return Object.fromEntries(entries);
}
