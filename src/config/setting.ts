import { isIP } from "node:net";
import { z } from "zod";
import { hostAddresses } from "../lib/network/postgres-hosts.ts";

/** The facts about a setting beside its type: why it is there, and where else it may come from. */
export interface SettingNote {
  why: string;
  /** Stands in the example file where there is no fixed default. */
  example?: string;
  /** Environment variables other than the generated one. */
  aliases?: readonly string[];
  /** Also read from the file that `<VARIABLE>_FILE` names, and never echoed. */
  secret?: boolean;
}

/** One setting as the file and the environment know it. */
export interface Setting extends SettingNote {
  /** Keys as the schema has them. */
  path: readonly string[];
  /** `limits.edge_burst` */
  name: string;
  /** `PARLEY_LIMITS_EDGE_BURST` */
  variable: string;
  schema: z.ZodType;
}

/** A value and the place it came from, in words. */
export interface SourcedValue {
  value: unknown;
  where: string;
}

/** The notes of every setting. */
export const settingNotes = z.registry<SettingNote>();

/** Registers what a setting is for, and returns its schema. */
export function setting<T extends z.ZodType>(schema: T, why: string, more: Omit<SettingNote, "why"> = {}): T {
  settingNotes.add(schema, { why, ...more });
  return schema;
}

// Each message continues the sentence "NAME must be ...".
export function whole(least: number, most: number): z.ZodNumber {
  const error = `a whole number between ${least} and ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}
export const yesOrNo = () => z.boolean({ error: "true or false" });
export const text = (error: string) => z.string({ error }).min(1, { error });
export const listOf = (item: z.ZodString) => z.array(item, { error: "a list" });

/** True for an http or https address without a path. */
export function isOrigin(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && pathname === "/" && !search && !hash && !username && !password;
}

/** True for an address, or a range such as 10.0.0.0/8. */
export function isAddressRange(range: string): boolean {
  const [address = "", bits, more] = range.split("/");
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/**
 * True for an address of one of these protocols that has a host and can be taken apart. A `#`, `/` or `?` of a password
 * that is not percent-encoded ends the host; what follows it then holds the `@` that belongs before the host.
 */
function isAddressOf(url: string, protocols: RegExp): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(url);
  const isHttp = /^https?:$/.test(protocol);
  const rest = isHttp ? hash : `${hash}${pathname}${hostname === "" ? "" : search}`;
  return protocols.test(protocol) && !rest.includes("@") && [hostname, pathname, username, password].every(isDecodable);
}

/** The same, where a host must be named. */
export function isHostAddressOf(url: string, protocols: RegExp): boolean {
  return isAddressOf(url, protocols) && new URL(url).hostname !== "";
}

/** True for an address of PostgreSQL, also with several hosts; one with a user and without a host names a socket. */
export function isPostgresAddress(url: string): boolean {
  return hostAddresses(url).every(isAddressOfOneHost);
}

function isAddressOfOneHost(url: string): boolean {
  // A percent sign before anything but two digits stands for itself there.
  const whole = url.replace("@/", "@localhost/").replace(/%(?![0-9a-f]{2})/gi, "%25");
  return isAddressOf(whole, /^postgres(ql)?:$/) && new URL(whole).hash === "";
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** True for an IP address, or a name of a host, without a port. */
export function isHost(host: string): boolean {
  return isIP(host) !== 0 || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/i.test(host);
}

/** True for a host and a port, such as `127.0.0.1:2525` and `[::1]:2525`. */
export function isHostAndPort(text: string): boolean {
  const [, port] = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\]):(\d{1,5})$/.exec(text) ?? [];
  return port !== undefined && Number(port) <= 65_535;
}
