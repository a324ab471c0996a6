import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { createKey } from "../../src/access/create-key.ts";
import { sql } from "../../src/core/store/sql.ts";
import { fresh, ROOMY, sharedWorld } from "../support/contract.ts";
import { actionsOf } from "../support/gate.ts";
import { environment, MAIN } from "../support/program.ts";

const KINDS = fileURLToPath(new URL("../support/kinds-server.mjs", import.meta.url));
const ROUNDS = fileURLToPath(new URL("../support/rounds-server.mjs", import.meta.url));
const RULES = `version: 1
rules:
  - { id: all, when: { fn: [kinds.echo, kinds.bare, kinds.fails, kinds.asks, rounds.paint] }, decision: ALLOW }
`;
const WHO = { name: "test-agent", version: "1.0.0" };
const CAPABILITIES = { capabilities: { elicitation: {}, roots: {} } };
const ARGS = { z: 1, a: "\u2028 ą \r\n \u0085", n: [1.5, -2e30, null], inner: { B: true } };
const ELICITED = { action: "accept" as const, content: { colour: "grün" } };
const ROOTS = { roots: [{ uri: "file:///srv", name: "srv" }] };

type Command = { command: string; args: string[]; env: Record<string, string>; stderr: "ignore" };
type AnyClient = Client | OldClient;

describe("the official MCP clients, through a gate", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  const opened: AnyClient[] = [];
  before(async () => {
    writeFileSync(world().config.relay.policyFile, RULES);
    await world().server.reload();
  });
  after(() => Promise.all(opened.map((client) => client.close())));

  async function commandOf(server: string, gate?: string): Promise<Command> {
    const { text } = await createKey(world().server.ctx, { name: fresh("bot"), scope: "agent" });
    const env = environment(gate === undefined ? {} : { PARLEY_URL: world().url, PARLEY_KEY: text });
    const present = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const through = gate === undefined ? [] : [MAIN, "gate", "--as", gate, "--", process.execPath];
    return {
      command: process.execPath,
      args: [...through, server],
      env: Object.fromEntries(present),
      stderr: "ignore",
    };
  }

  async function openOld(command: Command, logged: unknown[]): Promise<OldClient> {
    const client = new OldClient(WHO, CAPABILITIES);
    client.setRequestHandler(ElicitRequestSchema, () => ELICITED);
    client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params));
    await client.connect(new OldStdio(command));
    opened.push(client);
    return client;
  }

  async function openNew(command: Command, logged: unknown[], mode: "auto" | "legacy"): Promise<Client> {
    const client = new Client(WHO, { ...CAPABILITIES, versionNegotiation: { mode } });
    client.setRequestHandler("elicitation/create", () => ELICITED);
    client.setRequestHandler("roots/list", () => ROOTS);
    client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params));
    await client.connect(new StdioClientTransport(command));
    opened.push(client);
    return client;
  }

  /** Returns all that a client gets of the server with something of each kind. */
  async function gets(client: AnyClient, logged: unknown[]): Promise<unknown[]> {
    const progress: unknown[] = [];
    const onprogress = (one: unknown) => void progress.push(one);
    const call = (name: string, args?: object) => {
      const params = { name, ...(args && { arguments: { ...args } }) };
      return client instanceof Client
        ? client.callTool(params, { onprogress })
        : client.callTool(params, undefined, { onprogress });
    };
    await client.setLoggingLevel("info");
    return [
      client.getServerVersion(),
      client.getServerCapabilities(),
      client.getInstructions(),
      await client.listTools(),
      await call("echo", ARGS),
      await call("bare"),
      await call("fails", {}),
      await call("asks", {}),
      await client.listResources(),
      await client.listResourceTemplates(),
      await client.readResource({ uri: "memo://a" }),
      await client.readResource({ uri: "memo://\u2028" }),
      await client.listPrompts(),
      await client.getPrompt({ name: "greet", arguments: { name: "Ana\u2029" } }),
      await client.complete({ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: "A" } }),
      await client.readResource({ uri: "other://" }).catch(String),
      await client.ping(),
      progress,
      logged,
    ];
  }

  for (const [name, open] of Object.entries({
    "the older client": openOld,
    "the client, with a handshake": (command: Command, logged: unknown[]) => openNew(command, logged, "legacy"),
  })) {
    it(`${name} gets what it gets without the gate, of each kind`, async () => {
      const [bare, through] = [[] as unknown[], [] as unknown[]];
      const expected = await gets(await open(await commandOf(KINDS), bare), bare);
      assert.deepEqual(await gets(await open(await commandOf(KINDS, "kinds"), through), through), expected);
      assert.match(JSON.stringify(expected), /"half".*"It asks"/);
    });
  }

  it("the client, negotiating, gets all rounds of a call in one run, as without the gate", async () => {
    const paint = async (command: Command) => {
      const client = await openNew(command, [], "auto");
      assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
      return [await client.listTools(), await client.callTool({ name: "paint", arguments: { wall: "north" } })];
    };
    const expected = await paint(await commandOf(ROUNDS));
    assert.match(JSON.stringify(expected), /grün/);
    assert.deepEqual(await paint(await commandOf(ROUNDS, "rounds")), expected);
    const { db } = world().server.ctx;
    const rows = await db.all<{ ask_id: string }>(sql`SELECT ask_id FROM gate_calls WHERE gate = 'rounds'`);
    assert.equal(rows.length, 1);
    const actions = await actionsOf(world(), rows[0]?.ask_id ?? "");
    assert.deepEqual(actions.slice(-2), ["gate_call.started", "gate_call.ended"]);
  });
});
