import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import { faultIn, type Json } from "./slack-limits.ts";

/** One call as it came over the wire: form fields, those that hold JSON also read. */
export interface ApiCall {
  method: string;
  token: string;
  contentType: string;
  form: Readonly<Record<string, string>>;
  json(field: string): Json;
}

export interface ApiReply {
  status?: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}

/** A stand-in for Slack's Web API and Socket Mode that holds them to Slack's documented limits. */
export interface SlackDouble extends AsyncDisposable {
  url: string;
  calls: ApiCall[];
  /** The errors in the blocks and views that were refused. */
  faults: string[];
  /** Every call of one method, in order. */
  of(method: string): ApiCall[];
  /** Resolves with the next call of a method that nobody has waited for yet. */
  next(method: string): Promise<ApiCall>;
  /** Answers a method otherwise than usual, until it returns nothing. */
  answer(method: string, reply: (call: ApiCall) => ApiReply | undefined): void;
  /** Users by their id. An id that is missing does not exist. */
  users: Map<string, Readonly<Record<string, unknown>>>;
  /** Resolves with the next Socket Mode connection, greeted. */
  nextSocket(): Promise<SlackSocket>;
  /** From now on nobody answers. */
  goAway(): Promise<void>;
}

export interface SlackSocket {
  appToken: string;
  /** Sends an envelope and resolves with its acknowledgement. */
  send(envelope: Readonly<Record<string, unknown>> & { envelope_id: string }): Promise<Json>;
  /** Says that this connection ends, as Slack does when it moves a connection. */
  disconnect(): void;
  /** Cuts the connection without a word. */
  cut(): void;
  closed: Promise<unknown>;
}

export const TEAM = "T0PARLEY";
export const TOKENS: Readonly<Record<string, string>> = {
  "xoxb-canary-main-7f3a": TEAM,
  "xoxb-canary-other-91bc": "T0OTHER",
};
export const APP_TOKEN = "xapp-canary-socket-55d0";

const fullMember = (id: string, more: object = {}) => ({
  id,
  team_id: TEAM,
  name: id.toLowerCase(),
  deleted: false,
  is_bot: false,
  is_restricted: false,
  is_ultra_restricted: false,
  ...more,
});

export async function openSlackDouble(): Promise<SlackDouble> {
  const calls: ApiCall[] = [];
  const waiting: { method: string; found: (call: ApiCall) => void }[] = [];
  const unseen = new Set<ApiCall>();
  const answers = new Map<string, (call: ApiCall) => ApiReply | undefined>();
  const users = new Map<string, Readonly<Record<string, unknown>>>(
    [
      fullMember("U0ANA"),
      fullMember("U0BO"),
      fullMember("U0GUEST", { is_restricted: true }),
      fullMember("U0ONECHANNEL", { is_ultra_restricted: true }),
      fullMember("U0BOT", { is_bot: true }),
      fullMember("U0LEFT", { deleted: true }),
      fullMember("U0STRANGER", { is_stranger: true }),
      fullMember("U0ELSEWHERE", { team_id: "T0OTHER" }),
      fullMember("U0BOTH", { team_id: "T0OTHER", enterprise_user: { teams: ["T0OTHER", TEAM] } }),
      fullMember("U0GRID", { team_id: "T0OTHER", enterprise_user: { teams: ["T0OTHER"] } }),
    ].map((user) => [user.id, user]),
  );
  const faults: string[] = [];
  let posted = 0;

  const server = createServer((request, response) => void respond(request, response));
  const sockets = new WebSocketServer({ server });
  const arrived: SlackSocket[] = [];
  const expecting: ((socket: SlackSocket) => void)[] = [];
  sockets.on("connection", (socket, request) => greet(socket, String(request.url)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const form = Object.fromEntries(new URLSearchParams(body));
    const call: ApiCall = {
      method: String(request.url).replace(/^\/api\//, ""),
      token: String(request.headers.authorization).replace(/^Bearer /, ""),
      contentType: String(request.headers["content-type"]),
      form,
      json: (field) => JSON.parse(form[field] ?? "null") as Json,
    };
    calls.push(call);
    const waiter = waiting.find(({ method }) => method === call.method);
    if (waiter) waiting.splice(waiting.indexOf(waiter), 1);
    else unseen.add(call);
    const { status = 200, headers = {}, body: reply } = answers.get(call.method)?.(call) ?? usual(call);
    const text = typeof reply === "string" ? reply : JSON.stringify(reply ?? {});
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
    waiter?.found(call);
  }

  function usual(call: ApiCall): ApiReply {
    const body = reply(call);
    return { body };
  }

  function reply({ method, token, form, json }: ApiCall): object {
    const no = (error: string, fault?: string) => {
      if (fault !== undefined) faults.push(fault);
      return { ok: false, error };
    };
    if (method === "apps.connections.open") {
      if (token !== APP_TOKEN) return no("invalid_auth");
      return { ok: true, url: `ws://127.0.0.1:${port}/link?app=${token}` };
    }
    const team = Object.hasOwn(TOKENS, token) ? TOKENS[token] : undefined;
    if (!team) return no("invalid_auth");
    const channel = form["channel"] ?? "";
    switch (method) {
      case "auth.test":
        return { ok: true, team_id: team, user_id: "U0PARLEY", bot_id: "B0PARLEY" };
      case "users.info": {
        const user = users.get(form["user"] ?? "");
        return user && (user["team_id"] === team || team === TEAM) ? { ok: true, user } : no("user_not_found");
      }
      case "conversations.open":
        return users.has(form["users"] ?? "")
          ? { ok: true, channel: { id: `D${form["users"]?.slice(1)}` } }
          : no("user_not_found");
      case "conversations.info":
        return /^[CGD]/.test(channel)
          ? { ok: true, channel: { id: channel, is_member: true } }
          : no("channel_not_found");
      case "chat.postMessage":
      case "chat.update":
      case "chat.postEphemeral": {
        if (!/^[CGD][A-Z0-9]{2,}$/.test(channel)) return no("channel_not_found");
        const fault = form["blocks"] === undefined ? null : faultIn(json("blocks"));
        if (fault) return no("invalid_blocks", fault);
        if (!form["text"]) return no("no_text");
        if (method === "chat.postEphemeral") return { ok: true, message_ts: "1763632801.000001" };
        if (method === "chat.postMessage") posted += 1;
        const ts = form["ts"] ?? `1763632800.${String(posted).padStart(6, "0")}`;
        return { ok: true, channel, ts, message: { team, ts } };
      }
      case "views.open": {
        const fault = faultIn([json("view")]);
        if (fault) return no("invalid_arguments", fault);
        return form["trigger_id"] ? { ok: true, view: { id: "V0NEW" } } : no("invalid_trigger");
      }
      default:
        return no("unknown_method");
    }
  }

  function greet(socket: WebSocket, path: string): void {
    const acknowledged = new Map<string, (envelope: Json) => void>();
    socket.on("message", (data) => {
      const envelope = JSON.parse(String(data)) as { envelope_id: string };
      acknowledged.get(envelope.envelope_id)?.(envelope as unknown as Json);
    });
    const one: SlackSocket = {
      appToken: new URL(path, "ws://double").searchParams.get("app") ?? "",
      send: (envelope) =>
        new Promise((resolve) => {
          acknowledged.set(envelope.envelope_id, resolve);
          socket.send(JSON.stringify(envelope));
        }),
      disconnect: () => socket.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested" })),
      cut: () => socket.terminate(),
      closed: once(socket, "close"),
    };
    socket.send(JSON.stringify({ type: "hello", num_connections: 1 }));
    const expected = expecting.shift();
    if (expected) expected(one);
    else arrived.push(one);
  }

  async function close(): Promise<void> {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }

  return {
    url: `http://127.0.0.1:${port}/api/`,
    calls,
    faults,
    users,
    of: (method) => calls.filter((call) => call.method === method),
    async next(method) {
      const found = [...unseen].find((call) => call.method === method);
      if (found) unseen.delete(found);
      return found ?? new Promise((resolve) => waiting.push({ method, found: resolve }));
    },
    answer: (method, one) => void answers.set(method, one),
    nextSocket: () => {
      const one = arrived.shift();
      return one ? Promise.resolve(one) : new Promise((resolve) => expecting.push(resolve));
    },
    goAway: close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns every element of a message's blocks, or of a view's, by depth first. */
export function elementsOf(value: Json): Readonly<Record<string, Json>>[] {
  if (Array.isArray(value)) return value.flatMap(elementsOf);
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(elementsOf)];
}

/** Returns every text that a message shows, joined by line ends. */
export function shownIn(blocks: Json): string {
  return elementsOf(blocks)
    .map(({ text }) => text)
    .filter((text) => typeof text === "string")
    .join("\n");
}

/** Returns the button or menu with an action's name. */
export function controlIn(blocks: Json, action: string): Readonly<Record<string, Json>> {
  const found = elementsOf(blocks).find(({ action_id: id }) => id === action);
  assert.ok(found, `no control ${action} in ${JSON.stringify(blocks)}`);
  return found;
}
