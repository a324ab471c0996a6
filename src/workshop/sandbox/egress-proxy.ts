import { lookup } from "node:dns/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  connect,
  createServer as createPlainServer,
  isIP,
  type LookupFunction,
  type Server as PlainServer,
} from "node:net";
import { pipeline, type Duplex } from "node:stream";
import { passedHeaders, passOn } from "../../lib/network/pass-on.ts";
import { isPublicAddress } from "../../lib/network/public-address.ts";

/** Where a connection is to lead. */
interface Target {
  host: string;
  port: number;
}

interface EgressOptions {
  /** `host`, `*.host` (both at port 443 of the internet), or exactly `host:port`, wherever that is. */
  egress: readonly string[];
  /** Called with each address that a program in the jail tried to reach and may not. */
  onRefused(place: string): void;
  resolve?: (name: string) => Promise<readonly string[]>;
}

const WITHIN_MS = 30_000;

/**
 * Returns the proxy by which a jail reaches the internet: only hosts that were named, and of these only addresses that
 * are on the internet, as it resolves them itself; this machine, its networks and the clouds' metadata are refused
 * unless exactly that host and port was named.
 */
export function openEgressProxy({ egress, onRefused, resolve = resolveByMachine }: EgressOptions): Server {
  const refuse = (target: Target | null, why: string): string => {
    if (target) onRefused(`${target.host}:${target.port}`);
    return `The sandbox does not let this through: ${why}\n`;
  };
  const dialled = (target: Target): LookupFunction => {
    return (name, options, callback) => {
      resolve(name).then(
        (found) => {
          const judged = found.map((address) => ({ address, family: isIP(address) }));
          const isRefused = !isNamed(target, egress) && found.some((address) => !isPublicAddress(address));
          const [first] = judged;
          if (isRefused || !first) return callback(new Refused(`${name} does not lead to the internet`), "");
          if (options.all) return callback(null, judged);
          callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ""),
      );
    };
  };

  const server = createServer((http, reply) => {
    const target = targetOfUrl(http.url ?? "");
    if (!target || !isNamed(target, egress)) {
      reply.writeHead(403, { "content-type": "text/plain" });
      return void reply.end(refuse(target, "plain http goes to a host and port that egress names exactly."));
    }
    forward(http, reply, dialled(target));
  });
  server.on("connect", (http: IncomingMessage, inside: Duplex, head: Buffer) => {
    inside.on("error", () => {});
    const target = targetOf(http.url ?? "");
    if (!target || !mayReach(target, egress)) {
      return void inside.end(`HTTP/1.1 403 Forbidden\r\n\r\n${refuse(target, "egress does not name this host.")}`);
    }
    const outside = connect({ ...target, lookup: dialled(target), timeout: WITHIN_MS });
    outside.once("connect", () => {
      outside.setTimeout(0);
      inside.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      outside.write(head);
      pipeline(inside, outside, () => {});
      pipeline(outside, inside, () => {});
    });
    outside.once("timeout", () => outside.destroy(new Error("no connection in time")));
    outside.once("error", (error) => {
      if (!inside.writable || outside.bytesRead > 0) return void inside.destroy();
      const refused = error instanceof Refused;
      const why = refused ? refuse(target, `${error.message}.`) : `${target.host} cannot be reached.\n`;
      inside.end(`HTTP/1.1 ${refused ? "403 Forbidden" : "502 Bad Gateway"}\r\n\r\n${why}`);
    });
    inside.once("close", () => outside.destroy());
  });
  return server;
}

/** Returns a server whose connections lead to one port of this machine, which the operator has named. */
export function openLoopbackBridge(port: number): PlainServer {
  return createPlainServer({ allowHalfOpen: true }, (inside) => {
    const outside = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    pipeline(inside, outside, () => {});
    pipeline(outside, inside, () => {});
  });
}

class Refused extends Error {}

/** Whether a connection may be tried at all; where a name leads is judged when it is dialled. */
function mayReach(target: Target, egress: readonly string[]): boolean {
  if (isNamed(target, egress)) return true;
  const { host, port } = target;
  const isLiteral = isIP(host.replace(/^\[|\]$/g, "")) !== 0;
  if (port !== 443 || (isLiteral && !isPublicAddress(host.replace(/^\[|\]$/g, "")))) return false;
  return egress.some((one) =>
    one.startsWith("*.") ? host.endsWith(one.slice(1).toLowerCase()) : one.toLowerCase() === host,
  );
}

function isNamed({ host, port }: Target, egress: readonly string[]): boolean {
  return egress.some((one) => one.toLowerCase() === `${host}:${port}`);
}

/** The URL parser writes every spelling of an address, such as 0x7f.1, as the plain address. */
function targetOf(authority: string): Target | null {
  const [, host, port] = /^([^\s/@?#]+):(\d{1,5})$/.exec(authority) ?? [];
  if (host === undefined || Number(port) > 65_535 || !URL.canParse(`http://${host}/`)) return null;
  return { host: new URL(`http://${host}/`).hostname, port: Number(port) };
}

function targetOfUrl(text: string): Target | null {
  if (!text.startsWith("http://") || !URL.canParse(text)) return null;
  const { hostname, port, username, password } = new URL(text);
  return username === "" && password === "" ? { host: hostname, port: Number(port || 80) } : null;
}

function forward(http: IncomingMessage, reply: ServerResponse, lookup: LookupFunction): void {
  const to = new URL(http.url ?? "");
  passOn(http, reply, {
    to,
    path: to.pathname + to.search,
    headers: { ...passedHeaders(http.headers, ["proxy-authorization"]), host: to.host },
    lookup,
    onUnreachable() {
      reply.writeHead(502, { "content-type": "text/plain" });
      reply.end(`${to.hostname} cannot be reached.\n`);
    },
  });
}

async function resolveByMachine(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
