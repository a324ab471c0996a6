/** The key in the path of a request, for clients that send no headers. */
const KEY_IN_PATH = /\/k\/[^/]/;
const PORT = /^\w+:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/;
const MOST_PORT = 65_535;

/**
 * Returns why nothing can be asked at this address of a server, as the end of a sentence; null for a usable one, which
 * may have a path. The sentence repeats no part of it.
 */
export function addressFault(address: string): string | null {
  const url = URL.parse(address);
  if (/[\s\p{Cc}]/u.test(address)) return "holds a space or a line break";
  if (Number(PORT.exec(address)?.[1] ?? 0) > MOST_PORT) return `has a port above ${MOST_PORT}`;
  if (url === null || !/^https?:$/.test(url.protocol)) return "is no address that begins with http:// or https://";
  if (url.username !== "" || url.password !== "") return "holds a name or a password: a key belongs in PARLEY_KEY";
  if (/[?#]/.test(address)) return "has a query or a fragment, behind which no path can stand";
  return KEY_IN_PATH.test(url.pathname) ? "holds a key in its path: a key belongs in PARLEY_KEY" : null;
}
