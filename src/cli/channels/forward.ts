import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { openForwardingProxy } from "../../lib/network/forwarding-proxy.ts";
import { readKeyText } from "../../lib/secrets/key-text.ts";
import { isLoopback } from "../../lib/network/network.ts";
import { WrongUsage } from "../arguments.ts";
import { command, EXIT } from "../command.ts";

export const forward = command({
  takes: {
    "--to URL": { help: "the server; a path in it is put before every request's", read: targetFrom, required: true },
    "--listen ADDRESS": {
      help: "where programs find it, on this computer only",
      read: placeFrom,
      default: "127.0.0.1:3415",
    },
  },
  example: "PARLEY_KEY=... parley forward --to https://parley.example.com",
  async run({ to, listen: { host, port } }, io) {
    const key = io.env["PARLEY_KEY"];
    if (!key) throw new WrongUsage("PARLEY_KEY holds no key");
    if (readKeyText(key).kind !== "key") throw new WrongUsage("PARLEY_KEY holds no whole key");
    if (to.protocol === "http:" && !isOwn(to.hostname)) io.tell("The key goes over the network unencrypted.");

    const server = openForwardingProxy({ to, key });
    server.listen({ host, port });
    await once(server, "listening");
    const { port: taken } = server.address() as AddressInfo;
    io.out(`http://${host.includes(":") ? `[${host}]` : host}:${taken} -> ${to.href.replace(/(?<!\/)\/+$/, "")}`);
    if (!io.interrupted.aborted) await once(io.interrupted, "abort");
    server.close();
    server.closeAllConnections();
    return EXIT.done;
  },
});

function targetFrom(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    throw new WrongUsage("--to must be an address such as https://parley.example.com");
  }
  return url;
}

/** Reads the address to listen at. It must be local, because its callers act with the key. */
function placeFrom(text: string): { host: string; port: number } {
  const [, host, port] = /^(\[[0-9a-f:]+\]|[^:]+):(\d{1,5})$/i.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535 || !isOwn(host)) {
    throw new WrongUsage("--listen must be an address of this computer only, such as 127.0.0.1:3415");
  }
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

const isOwn = (host: string): boolean => host === "localhost" || isLoopback(host.replace(/^\[|\]$/g, ""));
