import { createKey } from "../../src/access/create-key.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { openHttpGateClient } from "../../src/gateway/http-gate-client.ts";
import { systemFetch } from "../../src/lib/network/fetch.ts";
import { fresh, until } from "./contract.ts";
import { toolOf } from "./gate.ts";
import type { HeldClock } from "./held-clock.ts";
import type { World } from "./world.ts";

type Json = Record<string, unknown>;
/** A request that a gate sends to the server behind it. */
export interface Sent {
  id?: string | number;
  method: string;
  params: Json & { name: string; arguments?: Json };
}

/** A client and its server, with a gate in between that asks a world's Parley. */
export interface GatedServer {
  say(message: object | string): void;
  /** Calls a tool with a new id, and returns the client's answer. */
  call(params: object): Promise<Json>;
  /** Waits for the client's answer under this id. */
  answerTo(id: string | number): Promise<Json>;
  /** The calls that the server got. */
  calls: Sent[];
  /** All lines that the server got. */
  toServer: string[];
  toClient: string[];
  gateway: Gateway;
}

/**
 * Puts a gate in front of a server that lists `tools`, and answers each call with the line that `answer` returns, if
 * any. The gate's clock is the world's.
 */
export async function gatedServer(
  world: World & { clock: HeldClock },
  answer: (call: Sent) => string | undefined,
  tools: readonly object[] = [toolOf("read_file"), toolOf("write_file")],
): Promise<GatedServer> {
  const { text: key } = await createKey(world.server.ctx, { name: fresh("bot"), scope: "agent" });
  const [calls, toServer, toClient]: [Sent[], string[], string[]] = [[], [], []];
  const { url, clock } = world;
  const options = { url, key, gate: "files", timeoutSeconds: undefined, clock, fetch: systemFetch };
  const gateway = new Gateway({
    gate: "files",
    client: openHttpGateClient(options),
    holdMs: 50_000,
    clock,
    newRun: () => fresh("run"),
    toClient: (line) => void toClient.push(line),
    toServer(line) {
      toServer.push(line);
      const sent = JSON.parse(line) as Sent;
      if (sent.method === "tools/call") calls.push(sent);
      const reply = sent.method === "tools/call" ? answer(sent) : listing(sent, tools);
      if (reply !== undefined) gateway.fromServer(reply);
    },
    onError: (error) => void toClient.push(String(error)),
  });
  const say = (message: object | string) =>
    gateway.fromClient(typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message }));
  const answerTo = (id: string | number) =>
    until(() => Promise.resolve(messagesIn(toClient).find((one) => one["id"] === id)), `an answer to ${id}`);
  return {
    say,
    calls,
    toServer,
    toClient,
    gateway,
    answerTo,
    call(params) {
      const id = fresh("call");
      say({ id, method: "tools/call", params });
      return answerTo(id);
    },
  };
}

function listing({ id, method }: Sent, tools: readonly object[]): string | undefined {
  return method === "tools/list" ? JSON.stringify({ jsonrpc: "2.0", id, result: { tools } }) : undefined;
}

function messagesIn(lines: readonly string[]): Json[] {
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Json];
    } catch {
      return [];
    }
  });
}
