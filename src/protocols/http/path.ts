import type { IncomingMessage } from "node:http";

/** Takes the key out of `/k/<key>/...` before anything can log or route it. */
export function cutPathKey(http: IncomingMessage, pathKeys: WeakMap<IncomingMessage, string>): string {
  const url = http.url ?? "/";
  const match = /^\/+k\/+([^/?#]+)(?=[/?#]|$)/.exec(url);
  if (!match?.[1]) return url;
  pathKeys.set(http, match[1]);
  const rest = url.slice(match[0].length);
  http.url = rest.startsWith("/") ? rest : `/${rest}`;
  return http.url;
}

/** Returns the address with a path that can be decoded: what cannot be is taken as it stands, and so is unknown. */
export function decodable(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll("%", "%25") + url.slice(path.length);
  }
}
