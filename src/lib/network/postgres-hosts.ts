/**
 * Returns an address for each host that an address of PostgreSQL names. Like libpq's, it may name several, with a port
 * each: `postgres://parley@db-1,db-2:5433/parley`.
 */
export function hostAddresses(url: string): string[] {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)([/?#].*)?$/is.exec(url) ?? [];
  const from = authority.lastIndexOf("@") + 1;
  const hosts = authority.slice(from).split(",");
  return hosts.length === 1 ? [url] : hosts.map((host) => `${scheme}${authority.slice(0, from)}${host}${rest}`);
}

/** Returns an address fit for a log: hosts, ports and database, without user and password. */
export function postgresPlace(url: string): string {
  try {
    const addresses = hostAddresses(url).map((address) => new URL(address.replace("@/", "@localhost/")));
    return `${addresses.map(({ host }) => host).join(",")}${addresses[0]?.pathname ?? ""}`;
  } catch {
    return "the configured address";
  }
}
