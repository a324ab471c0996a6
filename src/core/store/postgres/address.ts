import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import pg from "pg";
import { isLoopback } from "../../../lib/network/network.ts";
import { hostAddresses } from "../../../lib/network/postgres-hosts.ts";
import { isPublicAddress } from "../../../lib/network/public-address.ts";

/** The server writes, so that a standby is of no use to it; `any` is for commands that only read. */
const SESSION_ATTRS = ["read-write", "primary", "any"];

/**
 * Returns a warning, or null, about how PostgreSQL would be reached (spec/security 2).
 *
 * @throws {Error} one sentence for the operator: a public address and a connection that anybody on the way could read,
 *   or a wish for hosts that take no writes
 */
export async function judgePostgresAddress(url: string, setting = "database_url"): Promise<string | null> {
  const attrs = new URLSearchParams(url.split("?")[1]).get("target_session_attrs") ?? "read-write";
  if (!SESSION_ATTRS.includes(attrs)) {
    throw new Error(`${setting} cannot be used: its target_session_attrs must be one of ${SESSION_ATTRS.join(", ")}.`);
  }
  const warnings = await Promise.all(hostAddresses(url).map((address) => judgeHost(address, setting)));
  return warnings.find((warning) => warning !== null) ?? null;
}

/** Does the same for all addresses of one database. Returns the warnings. */
export async function judgePostgresAddresses(url: string, listenUrl: string | undefined): Promise<string[]> {
  const warnings = [await judgePostgresAddress(url)];
  if (listenUrl !== undefined) warnings.push(await judgePostgresAddress(listenUrl, "database_listen_url"));
  return [...new Set(warnings)].filter((warning) => warning !== null);
}

async function judgeHost(url: string, setting: string): Promise<string | null> {
  const { host, ssl } = readAddress(url, setting);
  if (isVerified(ssl) || host.startsWith("/")) return null;

  const addresses = isIP(host) ? [host] : await addressesOf(host);
  if (addresses.every(isLoopback)) return null;
  if (addresses.some(isPublicAddress)) {
    throw new Error(
      `PostgreSQL at ${host} is on the internet and would be reached unprotected; add ?sslmode=verify-full.`,
    );
  }
  return `PostgreSQL at ${host} is reached without verified TLS; whoever shares that network can read along.`;
}

/** @throws {Error} one sentence, such as for a certificate that is not there; the address itself may hold a password */
function readAddress(url: string, setting: string): { host: string; ssl: unknown } {
  try {
    return new pg.Client({ connectionString: url }) as unknown as { host: string; ssl: unknown };
  } catch (error) {
    const isFile = error instanceof Error && "path" in error;
    throw new Error(`${setting} cannot be used: ${isFile ? error.message : "it is no address of PostgreSQL"}.`);
  }
}

function isVerified(ssl: unknown): boolean {
  if (typeof ssl === "object" && ssl !== null)
    return !("rejectUnauthorized" in ssl) || ssl.rejectUnauthorized !== false;
  return ssl === true;
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    // The attempt to connect reports a name that cannot be found, in better words.
    return [];
  }
}
