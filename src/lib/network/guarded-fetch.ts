import { lookup } from "node:dns/promises";
import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { isLoopback } from "./network.ts";
import { ipv4Within, isPublicAddress, isPublicName } from "./public-address.ts";

/** Where requests to addresses from outside may go, beyond the public internet. */
export interface GuardRules {
  /** Exceptions the operator wrote: `host:port`, or an address range such as `10.0.0.0/8`. */
  allow: readonly string[];
  /** Only this machine reaches the server, so the server may reach this machine, by http too. */
  loopbackOnly: boolean;
}

/** Returns every address of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface GuardedRequest {
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

export interface GuardedReply {
  status: number;
  headers: IncomingHttpHeaders;
  /** The first kilobyte. */
  text: string;
}

/** Makes one request. @throws {AddressRefused} before a byte is sent to where it may not go */
export type GuardedFetch = (url: string, request: GuardedRequest) => Promise<GuardedReply>;

/** The address leads, or might lead, to where nothing from outside may send this server. */
export class AddressRefused extends Error {
  constructor(why: string) {
    super(why);
    this.name = "AddressRefused";
  }
}

const WITHIN_MS = 15_000;
const KEPT_BYTES = 1024;

/**
 * Returns a fetch for addresses that came from outside (spec/a2h 17; spec/security 7).
 *
 * A name is resolved once, in the dial itself: every answer is judged, and the connection goes to the very addresses
 * judged, so that an answer which changes afterwards changes nothing. Redirects are replies like any other. Fifteen
 * seconds in all; a kilobyte of the reply is read.
 */
export function openGuardedFetch(rules: () => GuardRules, resolve: Resolve = resolveByMachine): GuardedFetch {
  return async (url, request) => {
    const target = judge(url, rules());
    if (typeof target === "string") throw new AddressRefused(target);
    const { hostname } = target.url;
    const dialled: LookupFunction = (name, options, callback) => {
      resolve(name).then(
        (found) => {
          const refused = found.find((address) => !target.mayDial(address));
          if (refused !== undefined) return callback(new AddressRefused(`${name} leads to a refused address`), "");
          const judged = found.map((address) => ({ address, family: isIP(address) }));
          const [first] = judged;
          if (first === undefined) return callback(new Error(`${name} has no address`), "");
          if (options.all) return callback(null, judged);
          callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ""),
      );
    };
    const within = AbortSignal.timeout(WITHIN_MS);
    const signal = request.signal ? AbortSignal.any([request.signal, within]) : within;
    const { request: open } = target.url.protocol === "https:" ? https : http;
    return new Promise<GuardedReply>((done, failed) => {
      const outgoing = open(target.url, {
        method: request.method,
        headers: { ...request.headers },
        lookup: dialled,
        agent: false,
        signal,
        ...(isIP(bare(hostname)) === 0 && { servername: hostname }),
      });
      outgoing.on("response", (reply) => readStart(reply).then(done, failed));
      outgoing.on("error", failed);
      outgoing.end(request.body);
    });
  };
}

/** Returns why an address is refused as far as it can be known before its name is resolved, or null. */
export function addressProblem(url: string, rules: GuardRules): string | null {
  const target = judge(url, rules);
  return typeof target === "string" ? target : null;
}

interface Judged {
  url: URL;
  mayDial(address: string): boolean;
}

function judge(text: string, { allow, loopbackOnly }: GuardRules): Judged | string {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return "it is no web address";
  // The parser writes every spelling of an address, such as 0x7f.1 or full-width digits, as the plain address.
  const url = new URL(text);
  const { protocol, hostname } = url;
  if (protocol !== "https:" && protocol !== "http:") return "it must begin with https://";
  if (url.username !== "" || url.password !== "") return "it must hold no user name or password";
  if (hostname.endsWith(".")) return "its host must not end in a dot";

  const literal = isIP(bare(hostname)) === 0 ? null : bare(hostname);
  const port = Number(url.port || (protocol === "https:" ? 443 : 80));
  // Only what names this machine openly: a public name that leads here is refused all the same.
  const isHere = loopbackOnly && (literal ? isLoopback(literal) : /(^|\.)localhost$/.test(hostname));
  const isNamed = allow.includes(`${hostname}:${port}`);
  const ranges = allow.filter((one) => !/:\d+$/.test(one) || isIP(one) === 6);
  if (protocol === "http:" && !isHere) return "it must begin with https://";

  const isPlain = port === 443 && (literal !== null || isPublicName(hostname));
  const mayDial = (address: string): boolean =>
    isNamed ||
    (isHere && isLoopback(address)) ||
    (isPlain && isPublicAddress(address)) ||
    ranges.some((range) => isWithin(address, range));
  if (literal !== null && !mayDial(literal)) return "its address is not on the internet, or its port is not 443";
  if (!isPlain && !isNamed && !isHere && ranges.length === 0) return "its host must be on the internet, at port 443";
  return { url, mayDial };
}

function bare(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

function isWithin(address: string, range: string): boolean {
  const plain = plainOf(address);
  const [network = "", bits] = range.split("/");
  const family = isIP(network) === 6 ? "ipv6" : "ipv4";
  if (isIP(plain) !== (family === "ipv6" ? 6 : 4)) return false;
  const list = new BlockList();
  list.addSubnet(network, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  return list.check(plain, family);
}

/** Returns what an address stands for: of an IPv4-mapped or NAT64 one, the IPv4 address inside. */
function plainOf(address: string): string {
  return isIP(address) === 6 ? (ipv4Within(address) ?? address) : address;
}

async function resolveByMachine(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** Reads the first kilobyte and lets go of the rest. */
async function readStart(reply: IncomingMessage): Promise<GuardedReply> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of reply) {
    parts.push(part as Buffer);
    length += (part as Buffer).length;
    if (length >= KEPT_BYTES) break;
  }
  reply.destroy();
  const text = Buffer.concat(parts).subarray(0, KEPT_BYTES).toString("utf8");
  return { status: reply.statusCode ?? 0, headers: reply.headers, text };
}
