import { join } from "node:path";
import { ownCommand } from "../../lib/own-program.ts";
import type { Io } from "../command.ts";

/** The server's address and key, as a client's settings need them. */
export interface McpServerAddress {
  /** The address of the MCP door. */
  url: string;
  key: string | undefined;
}

/** A program that speaks MCP, and how it is configured (spec/mcp 8). */
export interface McpClient {
  title: string;
  /** Its configuration file. */
  file: (env: Io["env"]) => string;
  /** The file that counts in every folder, where the other one is a folder's own. */
  userFile?: (env: Io["env"]) => string;
  /** Returns the entry in the client's file: a place in a JSON file, or a table in a TOML one. */
  entry: (address: McpServerAddress) => JsonEntry | TomlEntry;
  /** A sentence about where the key is; printed only if there is a key. */
  keyHint: string;
}

export interface JsonEntry {
  kind: "json";
  path: readonly string[];
  value: object;
}

export interface TomlEntry {
  kind: "toml";
  path: readonly string[];
  lines: readonly string[];
}

/** A day: people are slow. */
const TIMEOUT_MS = 86_400_000;
const KEY_BY_NAME = "It reads the key from PARLEY_KEY: export that where you start it.";
const KEY_IN_FILE = "The file holds the key.";

const home = (env: Io["env"]): string => env["HOME"] ?? env["USERPROFILE"] ?? ".";
const bearer = (key: string | undefined) => (key === undefined ? {} : { headers: { Authorization: `Bearer ${key}` } });
const mcpServers = (value: object): JsonEntry => ({ kind: "json", path: ["mcpServers", "parley"], value });

export const MCP_CLIENTS: Readonly<Record<string, McpClient>> = {
  claude: {
    title: "Claude Code",
    file: () => ".mcp.json",
    userFile: (env) => join(env["CLAUDE_CONFIG_DIR"] || home(env), ".claude.json"),
    // This file is shared with others who work in the folder, so it names the key and does not hold it.
    entry: ({ url, key }) => mcpServers({ type: "http", url, ...bearer(key && "${PARLEY_KEY}"), timeout: TIMEOUT_MS }),
    keyHint: KEY_BY_NAME,
  },
  codex: {
    title: "Codex",
    file: (env) => join(env["CODEX_HOME"] || join(home(env), ".codex"), "config.toml"),
    entry: ({ url, key }) => ({
      kind: "toml",
      path: ["mcp_servers", "parley"],
      lines: [
        `url = ${JSON.stringify(url)}`,
        ...(key === undefined ? [] : ['bearer_token_env_var = "PARLEY_KEY"']),
        `tool_timeout_sec = ${TIMEOUT_MS / 1000}`,
        'default_tools_approval_mode = "approve"',
      ],
    }),
    keyHint: KEY_BY_NAME,
  },
  gemini: {
    title: "Gemini CLI",
    file: (env) => join(home(env), ".gemini", "settings.json"),
    entry: ({ url, key }) => mcpServers({ httpUrl: url, ...bearer(key), trust: true, timeout: TIMEOUT_MS }),
    keyHint: KEY_IN_FILE,
  },
  opencode: {
    title: "opencode",
    file: (env) => join(env["XDG_CONFIG_HOME"] || join(home(env), ".config"), "opencode", "opencode.json"),
    entry: ({ url, key }) => ({
      kind: "json",
      path: ["mcp", "parley"],
      value: { type: "remote", url, enabled: true, oauth: false, ...bearer(key), timeout: TIMEOUT_MS },
    }),
    keyHint: KEY_IN_FILE,
  },
  openclaw: {
    title: "OpenClaw",
    file: (env) =>
      env["OPENCLAW_CONFIG_PATH"] ||
      join(env["OPENCLAW_STATE_DIR"] || join(env["OPENCLAW_HOME"] || home(env), ".openclaw"), "openclaw.json"),
    entry: ({ url, key }) => ({
      kind: "json",
      path: ["mcp", "servers", "parley"],
      value: { url, transport: "streamable-http", ...bearer(key), requestTimeoutMs: TIMEOUT_MS },
    }),
    keyHint: KEY_IN_FILE,
  },
};

/** Returns what to know about the key. */
export function keySentence({ keyHint }: McpClient, { key }: McpServerAddress): string {
  return key === undefined ? "PARLEY_KEY is not set, so it will ask without a key." : keyHint;
}

/** How any client starts the bridge by itself. */
export function stdioEntry(url: string, key: string | undefined): object {
  const [command, ...script] = ownCommand();
  return {
    command,
    args: [...script, "mcp"],
    env: { PARLEY_URL: url, ...(key !== undefined && { PARLEY_KEY: key }) },
  };
}

/** Returns an entry as the text of a file that holds nothing else. */
export function blockOf(entry: JsonEntry | TomlEntry): string {
  if (entry.kind === "toml") return [`[${entry.path.join(".")}]`, ...entry.lines].join("\n");
  return JSON.stringify(
    entry.path.reduceRight<object>((inner, name) => ({ [name]: inner }), entry.value),
    null,
    2,
  );
}
