import { isIP } from "node:net";

/**
 * Returns the network an address belongs to, as a text: the /24 of an IPv4 address, the /48 of an IPv6 one.
 *
 * An IPv4 address mapped into IPv6 counts as IPv4. A text that is no address is returned as it came.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIP(plain) === 4) return `${plain.split(".").slice(0, 3).join(".")}.0/24`;
  if (isIP(plain) === 6) return `${expandIpv6(plain).slice(0, 3).join(":")}::/48`;
  return plain;
}

/** True for 127.0.0.0/8, ::1 and their mapped forms. */
export function isLoopback(address: string): boolean {
  const plain = plainAddress(address);
  return plain === "::1" || (isIP(plain) === 4 && plain.startsWith("127."));
}

/** Returns the IPv4 address of one that is mapped into IPv6, in dots or in hexadecimal; any other text as it came. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (isIP(address) !== 6 || address.includes(".")) return address;
  const groups = expandIpv6(address);
  if (groups.slice(0, 6).join(":") !== "0:0:0:0:0:ffff") return address;
  const bytes = groups.slice(6).flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 0xff];
  });
  return bytes.join(".");
}

/** Returns the eight groups of an IPv6 address without a dotted end, in hexadecimal without leading zeros. */
export function expandIpv6(address: string): string[] {
  const [head = "", tail = ""] = (address.split("%", 1)[0] ?? "").split("::");
  const left = head ? head.split(":") : [];
  const right = tail ? tail.split(":") : [];
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16).toString(16));
}
