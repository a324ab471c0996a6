import { BlockList, isIP } from "node:net";
import { expandIpv6 } from "./network.ts";

/** Networks that the internet does not route: private, loopback, link-local and reserved ones. */
const notPublic4 = new BlockList();
// A list of its own: one for both would find every IPv4 address in ::/3.
const notPublic6 = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  notPublic4.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of [
  // Everything but 2000::/3, and of that Teredo and its like, documentation, and 6to4.
  ["::", 3],
  ["4000::", 2],
  ["8000::", 1],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  notPublic6.addSubnet(network, bits, "ipv6");
}

/** True for an address that packets reach only over the internet: neither this computer's nor a private network's. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  if (family === 4) return !notPublic4.check(address, "ipv4");
  const inside = ipv4Within(address);
  return inside === null ? !notPublic6.check(address, "ipv6") : isPublicAddress(inside);
}

/** Returns the IPv4 address that an IPv4-mapped or NAT64 one leads to, or null. */
export function ipv4Within(address: string): string | null {
  // The URL parser writes a dotted end in groups; it knows no zones.
  const groups = expandIpv6(new URL(`http://[${address.split("%", 1).join("")}]`).hostname.slice(1, -1));
  const network = groups.slice(0, 6).join(":");
  if (network !== "0:0:0:0:0:ffff" && network !== "64:ff9b:0:0:0:0") return null;
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

const LOCAL_NAMES = /(^|\.)(localhost|local|internal|home\.arpa|metadata\.goog)$/;

/** True for a host name that could mean the same everywhere: it names no single machine, network or cloud. */
export function isPublicName(name: string): boolean {
  return name.includes(".") && !name.endsWith(".") && !LOCAL_NAMES.test(name);
}

/**
 * True for an https address, at its own port, of a host that the internet could know. A name says nothing about where it
 * leads: the code that connects checks the address it resolves to.
 */
export function isPublicHttps(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, port, username, password } = new URL(text);
  if (protocol !== "https:" || port !== "" || username !== "" || password !== "") return false;
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (isIP(literal) !== 0) return isPublicAddress(literal);
  return isPublicName(hostname);
}
