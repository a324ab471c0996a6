import type { AddressInfo } from "node:net";
import { isLoopback } from "./network.ts";

/** The settings that say from where a server can be reached. */
export interface ReachSettings {
  host: string;
  publicUrl?: string | undefined;
  hosts: readonly string[];
  trustedProxies: readonly string[];
}

/** The address of a server, as Node returns it: a string for a socket in the file system, null for a closed server. */
export type ListenAddress = AddressInfo | string | null;

/**
 * True for the names by which a computer reaches itself alone: `localhost`, `*.localhost`, with a final dot too, and
 * loopback addresses.
 */
export function isOwnName(name: string): boolean {
  const bare = name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
  return bare === "localhost" || bare.endsWith(".localhost") || isLoopback(bare);
}

/**
 * Returns why others than the programs of this computer may reach a server, as words for its operator, or null where
 * nothing says so. One reason is enough: an operator who names a public address, or trusts a proxy, wants the server to
 * be reached from outside, whatever it is bound to.
 */
export function whyOthersReach(settings: ReachSettings, listening: readonly ListenAddress[] = []): string | null {
  const { host, publicUrl, hosts, trustedProxies } = settings;
  if (!isOwnName(host)) return `PARLEY_HOST is ${host}`;
  const elsewhere = listening.find((address) => !isOwnListener(address));
  if (elsewhere !== undefined) return `it listens at ${textOf(elsewhere)}`;
  if (publicUrl !== undefined && !isOwnName(new URL(publicUrl).hostname)) return `PARLEY_PUBLIC_URL is ${publicUrl}`;
  const name = hosts.find((one) => !isOwnName(one));
  if (name !== undefined) return `PARLEY_HOSTS names ${name}`;
  return trustedProxies.length > 0 ? "PARLEY_TRUSTED_PROXIES is set" : null;
}

/**
 * True if only this computer can connect to what a server listens at. A socket in the file system is there for a proxy,
 * and so is not one of these.
 */
function isOwnListener(address: ListenAddress): boolean {
  return typeof address === "object" && address !== null && isLoopback(address.address);
}

function textOf(address: ListenAddress): string {
  if (typeof address === "string") return address;
  return address === null ? "an unknown address" : address.address;
}
