import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { functionOf } from "../../src/gate/model/gate-call.ts";
import { canonicalExact, sha256Digest } from "../../src/lib/json/exact-json.ts";
import { consentText } from "../../src/requests/model/consent.ts";

/** Says yes in a form that is not Parley's. */
export const json = (body: unknown): RequestListener => {
  return (_, reply) => void reply.setHeader("content-type", "application/json").end(JSON.stringify(body));
};

/** The fields known at the time of a reply: for each member of a body, its newest value. */
type Asked = Record<string, unknown>;
/** The protocol by which a path is answered. */
type Kind = "a2h" | "gate" | "mcp" | "executor";

const AT = "2026-01-01T00:00:00Z";
const MCP_ALLOW = { content: [{ type: "text", text: JSON.stringify({ behavior: "allow", updatedInput: {} }) }] };

/** Replies that name what was asked, in the form of each door, and are no yes all the same. */
const NAMING: Record<string, Record<Kind, (asked: Asked) => unknown>> = {
  /** A later version, whose words nobody knows. */
  words: {
    a2h: ({ call_id, spec }) => ({
      call_id,
      spec,
      status: { approved: "granted", state: "granted", responded_at: AT, resolved_at: AT },
    }),
    gate: (asked) => ({ state: "granted", id: "gc_1", ...shown(asked["arguments"]) }),
    mcp: ({ id }) => ({ jsonrpc: "2.0", id, outcome: MCP_ALLOW }),
    executor: ({ ask_id }) => ({ ask_id, status: "GRANTED", answer_json: { approved: true } }),
  },
  /** One that leaves out what shows that exactly this was approved. */
  fields: {
    a2h: ({ call_id, spec }) => ({ call_id, spec, status: { approved: true, responded_at: AT, resolved_at: AT } }),
    gate: () => ({ state: "started" }),
    mcp: () => ({ result: MCP_ALLOW }),
    executor: ({ ask_id }) => ({ ask_id, answer_json: { approved: true } }),
  },
  /** One that never says that it is over. */
  endless: {
    a2h: ({ call_id, spec }) => ({ call_id, spec, status: { approved: true } }),
    gate: () => ({ state: "waiting", id: "gc_1", call_id: "c_1", expires_at: AT }),
    mcp: ({ id }) => ({ jsonrpc: "2.0", id }),
    executor: () => undefined,
  },
  /** One that shows that another call was approved. */
  another: {
    a2h: ({ spec }) => ({
      call_id: "another",
      spec,
      status: { approved: true, ask_id: "ask_1", responded_at: AT, resolved_at: AT },
    }),
    gate: () => ({ state: "started", id: "gc_1", call_id: "c_1", edited: false, ...shown({ amount: 0 }) }),
    mcp: () => ({ jsonrpc: "2.0", id: "another", result: MCP_ALLOW }),
    executor: () => ({ ask_id: "another", status: "ANSWERED", answer_json: { approved: true } }),
  },
};

/** The tool of `gate` in the tests, with these arguments. */
function shown(args: unknown): object {
  const fn = functionOf({ gate: "tools", tool: "charge" });
  return { arguments: args, digest: sha256Digest(consentText(fn, canonicalExact(args))) };
}

/** Replies that are the same whatever was asked. */
const PLAIN: Record<string, RequestListener> = {
  page: (_, reply) => void reply.setHeader("content-type", "text/html").end("<html>approved"),
  nothing: (_, reply) => void reply.writeHead(204).end(),
  null: json(null),
  list: json([{ approved: true }]),
  version: json({ v: 9, decision: "approved", approved: true, state: "started" }),
  other: json({ call_id: "another", status: { approved: true, resolved_at: AT, ask_id: "ask_1" } }),
  refused: (_, reply) => void reply.writeHead(403, { "content-type": "text/plain" }).end("approved"),
  stream: (_, reply) => {
    const other = JSON.stringify({ jsonrpc: "2.0", id: "another", result: MCP_ALLOW });
    reply.setHeader("content-type", "text/event-stream").end(`data: [${other}]\n\ndata: ${other}\n\n`);
  },
};
/** Connections that bring no whole reply. */
const BROKEN: Record<string, RequestListener> = {
  cut(_, reply) {
    reply.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    reply.write('{"approved":true,', () => reply.destroy());
  },
  silent(request, reply) {
    // The cancellation of a request gets a reply at once.
    if (request.method === "DELETE") reply.writeHead(204).end();
  },
};

export const ODD = [...Object.keys(PLAIN), ...Object.keys(NAMING)];
export const AWAY = ["gone", ...Object.keys(BROKEN)];

/** A server that answers oddly, each address of it in its way, and another that it leads to. */
export interface OddServer extends AsyncDisposable {
  /** Returns the address at which it answers so: one of `ODD`, `AWAY`, or `redirect`. */
  at(how: string): string;
  origin: string;
  elsewhere: string;
  /** The requests that were forwarded to the other server. */
  sentOn: readonly string[];
  /** Called with each request that gets no answer. */
  onSilence: (() => void) | undefined;
}

export async function openOddServer(): Promise<OddServer> {
  const sentOn: string[] = [];
  const elsewhere = createServer((request, reply) => {
    sentOn.push(String(request.url));
    json({ approved: true })(request, reply);
  });
  let asked: Asked = {};
  const odd = createServer(async (request, reply) => {
    const [, how = "", ...path] = (request.url ?? "").split("/");
    const body = await textOf(request);
    if (request.method === "POST" && !path.includes("cancel")) asked = { ...asked, ...(JSON.parse(body) as object) };
    if (how === "redirect") return reply.writeHead(307, { location: `${opened.elsewhere}/${path.join("/")}` }).end();
    const plain = PLAIN[how] ?? BROKEN[how];
    if (plain) plain(request, reply);
    else answerNaming(NAMING[how]?.[kindOf(path)](asked), request, reply);
    if (how === "silent") opened.onSilence?.();
  });
  const gone = createServer();
  for (const server of [odd, elsewhere, gone]) await once(server.listen(0, "127.0.0.1"), "listening");
  const nobody = originOf(gone);
  await new Promise((resolve) => gone.close(resolve));
  const opened: OddServer = {
    at: (how) => (how === "gone" ? nobody : `${originOf(odd)}/${how}`),
    origin: originOf(odd),
    elsewhere: originOf(elsewhere),
    sentOn,
    onSilence: undefined,
    async [Symbol.asyncDispose]() {
      for (const server of [odd, elsewhere]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
  return opened;
}

const originOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += String(part);
  return text;
}

function kindOf([first = "", ...more]: readonly string[]): Kind {
  if (first === "gate" || first === "mcp") return first;
  return first === "asks" && more.length > 0 ? "executor" : "a2h";
}

function answerNaming(body: unknown, request: IncomingMessage, reply: ServerResponse): void {
  if (body === undefined) reply.writeHead(204).end();
  else json(body)(request, reply);
}
