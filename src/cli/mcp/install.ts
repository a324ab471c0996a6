import { resolve } from "node:path";
import { editJson, isEmptyJson, NotJson } from "../../lib/json/json-edit.ts";
import { editTomlTable, TomlInTheWay } from "../../lib/toml-table.ts";
import { type Takes, WrongUsage } from "../arguments.ts";
import { command, EXIT } from "../command.ts";
import { type Change, CHANGE_FLAGS, makeChanges, refuseOpenFile, textIn } from "../config-file.ts";
import { blockOf, keySentence, MCP_CLIENTS, type McpClient, stdioEntry, type McpServerAddress } from "./clients.ts";
import { ownKey, serverUrl } from "../server-client.ts";

const NAMES = Object.keys(MCP_CLIENTS);
const CLIENT = { CLIENT: { help: NAMES.join(", "), choices: NAMES } } as const satisfies Takes;
const CONFIGURED = [...NAMES, "stdio"];
const URL_FLAG = {
  "--url URL": "the server, else PARLEY_URL, else the one that runs on this computer",
} as const satisfies Takes;

export const mcpConfig = command({
  takes: { ...URL_FLAG, CLIENT: { help: CONFIGURED.join(", "), choices: CONFIGURED } },
  example: "parley mcp config codex >> ~/.codex/config.toml",
  async run({ client: name, ...flags }, io) {
    const url = serverUrl(flags.url, io.env);
    const key = ownKey(url, io.env);
    if (name === "stdio") {
      io.out(JSON.stringify(stdioEntry(url, key), null, 2));
      return EXIT.done;
    }
    const client = clientNamed(name);
    const address = { url: `${url}/mcp`, key };
    io.out(blockOf(client.entry(address)));
    io.tell(`This belongs into ${client.file(io.env)}. ${keySentence(client, address)}`);
    return EXIT.done;
  },
});

const FILE_FLAG = {
  "--file FILE": "the client's configuration file, where it is not the usual one",
} as const satisfies Takes;

export const mcpInstall = command({
  takes: { ...CLIENT, ...URL_FLAG, ...FILE_FLAG, ...CHANGE_FLAGS },
  example: "parley mcp install claude --dry-run",
  run({ client: name, file, ...values }, io) {
    const client = clientNamed(name);
    const url = serverUrl(values.url, io.env);
    const address = { url: `${url}/mcp`, key: ownKey(url, io.env) };
    const change = changeOf(client, file ?? client.file(io.env), address);
    const undo = `To take it out: parley mcp uninstall ${name}`;
    const done = `${client.title} will find Parley. ${keySentence(client, address)} ${undo}`;
    return makeChanges([change], values, { done, already: `${change.file} holds it already.` }, io);
  },
});

export const mcpUninstall = command({
  takes: { ...CLIENT, ...FILE_FLAG, ...CHANGE_FLAGS },
  example: "parley mcp uninstall claude",
  run({ client: name, file, ...values }, io) {
    const client = clientNamed(name);
    const change = changeOf(client, file ?? client.file(io.env), undefined);
    const [done, already] = [`Parley is out of ${change.file}.`, `There is no Parley in ${change.file}.`];
    return makeChanges([change], values, { done, already }, io);
  },
});

/** Returns how a client's configuration becomes one with Parley in it, or without it if no entry is given. */
function changeOf(client: McpClient, path: string, address: McpServerAddress | undefined): Change {
  const file = resolve(path);
  const before = textIn(file) ?? "";
  const after = withMcpEntry(client, { file, text: before }, address);
  refuseOpenFile({ file, before, after }, address?.key);
  return { file, before, after, isEmpty: isEmpty(client, after) };
}

function clientNamed(name: string): McpClient {
  const client = MCP_CLIENTS[name];
  if (!client) throw new WrongUsage(`CLIENT must be one of ${NAMES.join(", ")}`);
  return client;
}

/** Returns the file with Parley in it, or without it if no entry is given. @throws {Error} one sentence */
export function withMcpEntry(
  client: McpClient,
  { file, text }: { file: string; text: string },
  address: McpServerAddress | undefined,
): string {
  const entry = client.entry(address ?? { url: "", key: undefined });
  try {
    return entry.kind === "json"
      ? editJson(text, entry.path, address && entry.value)
      : editTomlTable(text, entry.path, address && entry.lines);
  } catch (error) {
    if (!(error instanceof NotJson || error instanceof TomlInTheWay)) throw error;
    throw new Error(`${file} was left as it is: ${error.message}. parley mcp config prints what belongs into it.`);
  }
}

function isEmpty(client: McpClient, text: string): boolean {
  return client.entry({ url: "", key: undefined }).kind === "json" ? isEmptyJson(text) : text.trim() === "";
}
