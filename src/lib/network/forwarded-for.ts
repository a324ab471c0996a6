import { isIP } from "node:net";

/**
 * Returns an `X-Forwarded-For` that names plain addresses alone, each always in the same letters. Some proxies write
 * the client's port beside its address, another for each connection. An entry that is no address ends the list: the
 * proxy that wrote it then counts as the client.
 */
export function plainForwardedFor(header: string): string {
  const plain: string[] = [];
  for (const entry of header.split(",").toReversed()) {
    const address = addressIn(entry.trim());
    if (address === undefined) break;
    plain.unshift(address);
  }
  return plain.join(", ");
}

function addressIn(entry: string): string | undefined {
  const [, v6 = entry] = /^\[([^[\]]*)\](?::\d{1,5})?$/.exec(entry) ?? [];
  const [, v4 = v6] = /^([\d.]{7,15}):\d{1,5}$/.exec(entry) ?? [];
  const address = v4.split("%", 1).join("");
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mapped ?? new URL(`http://[${address}]`).hostname.slice(1, -1);
}
