import { existsSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { editJson, isEmptyJson, NotJson } from "../lib/json-edit.ts";
import { editTomlTable, TomlInTheWay } from "../lib/toml-table.ts";
import { type Command, EXIT, onlyArgument, WrongUsage } from "./command.ts";
import { changeFile, showChange } from "./config-file.ts";
import { blockOf, keySentence, MCP_CLIENTS, type McpClient, stdioEntry, type Told } from "./mcp-clients.ts";
import { serverUrl } from "./questions.ts";

const NAMES = Object.keys(MCP_CLIENTS);
const URL_FLAG = { "--url URL": "the server, else PARLEY_URL, else the one that runs on this computer" } as const;

export const mcpConfig: Command = {
  usage: "CLIENT [--url URL]",
  flags: { ...URL_FLAG, CLIENT: [...NAMES, "stdio"].join(", ") },
  example: "parley mcp config codex >> ~/.codex/config.toml",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { url: { type: "string" } },
    });
    const name = onlyArgument(positionals, "CLIENT");
    const url = serverUrl(values.url, io.env);
    const key = io.env["PARLEY_KEY"] || undefined;
    if (name === "stdio") {
      io.out(JSON.stringify(stdioEntry(url, key), null, 2));
      return EXIT.done;
    }
    const client = clientNamed(name, [...NAMES, "stdio"]);
    const told = { url: `${url}/mcp`, key };
    io.out(blockOf(client.entry(told)));
    io.tell(`This belongs into ${client.file(io.env)}. ${keySentence(client, told)}`);
    return EXIT.done;
  },
};

export const mcpInstall: Command = {
  usage: "CLIENT [--url URL] [--file FILE] [--undo]",
  flags: {
    CLIENT: NAMES.join(", "),
    ...URL_FLAG,
    "--file FILE": "the client's configuration file, where it is not the usual one",
    "--undo": "take Parley out again",
  },
  example: "parley mcp install claude",
  async run(argv, io) {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { url: { type: "string" }, file: { type: "string" }, undo: { type: "boolean" } },
    });
    const client = clientNamed(onlyArgument(positionals, "CLIENT"), NAMES);
    const file = resolve(values.file ?? client.file(io.env));
    const before = existsSync(file) ? readFileSync(file, "utf8") : "";
    const told = { url: `${serverUrl(values.url, io.env)}/mcp`, key: io.env["PARLEY_KEY"] || undefined };
    const after = edited(client, before, file, values.undo ? undefined : told);

    if (after === before) {
      io.tell(values.undo ? `There is no Parley in ${file}.` : `${file} holds it already.`);
      return EXIT.done;
    }
    showChange(file, before, after, io);
    if (values.undo && isEmpty(client, after)) rmSync(file);
    else await changeFile(file, after);
    io.tell(
      values.undo ? `Parley is out of ${file}.` : `${client.title} will find Parley. ${keySentence(client, told)}`,
    );
    return EXIT.done;
  },
};

function clientNamed(name: string, names: readonly string[]): McpClient {
  const client = Object.hasOwn(MCP_CLIENTS, name) ? MCP_CLIENTS[name] : undefined;
  if (!client) throw new WrongUsage(`CLIENT must be one of ${names.join(", ")}`);
  return client;
}

/** Returns the file with Parley in it, or without it where nothing is told. @throws {Error} one sentence */
function edited(client: McpClient, text: string, file: string, told: Told | undefined): string {
  const entry = client.entry(told ?? { url: "", key: undefined });
  try {
    return entry.kind === "json"
      ? editJson(text, entry.path, told && entry.value)
      : editTomlTable(text, entry.path, told && entry.lines);
  } catch (error) {
    if (!(error instanceof NotJson || error instanceof TomlInTheWay)) throw error;
    throw new Error(`${file} was left as it is: ${error.message}. parley mcp config prints what belongs into it.`);
  }
}

function isEmpty(client: McpClient, text: string): boolean {
  return client.entry({ url: "", key: undefined }).kind === "json" ? isEmptyJson(text) : text.trim() === "";
}
