import { isOwnName } from "./reach.ts";

/** Statuses by which a server leads elsewhere. */
export const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** A server redirected, and was not followed; the message is one sentence for the person who set the address. */
export class Redirected extends Error {
  constructor(from: string, to: string) {
    super(
      `The server at ${originOf(from)} redirects to ${originOf(to)}, where nothing was sent: set PARLEY_URL (or A2H_BASE_URL, or --url) to the address of the server itself.`,
    );
  }
}

/** Nothing else of an address is shown: its path may hold a key. */
function originOf(address: string): string {
  const url = URL.parse(address);
  return url === null || url.origin === "null" ? "another address" : url.origin;
}

/**
 * The fetch of this machine, for what is no part of the server. It follows nobody who sends it on, whatever its caller
 * wants, so that a key reaches no other address than the one that was named; and what is for this very computer goes to
 * no proxy of the environment (`NODE_USE_ENV_PROXY`).
 *
 * @throws {Redirected} unless the caller asks for the redirect itself (`redirect: "manual"`)
 */
export const systemFetch: typeof globalThis.fetch = async (input, init) => {
  const address = input instanceof Request ? input.url : String(input);
  if (URL.canParse(address)) passProxyBy(new URL(address).hostname);
  const reply = await globalThis.fetch(input, { ...init, redirect: "manual" });
  if (init?.redirect === "manual" || !REDIRECTS.includes(reply.status)) return reply;
  await reply.body?.cancel();
  const to = reply.headers.get("location") ?? "";
  throw new Redirected(address, URL.parse(to, address)?.href ?? to);
};

/** Node asks the variable at each request; it knows no addresses of loopback by itself. */
function passProxyBy(host: string): void {
  const { env } = process;
  if (!isOwnName(host) || (env["NODE_USE_ENV_PROXY"] === undefined && !usesProxyFlag())) return;
  const name = env["no_proxy"] === undefined ? "NO_PROXY" : "no_proxy";
  const bare = host.replace(/^\[|\]$/g, "");
  const known = (env[name] ?? "").split(/[\s,]+/).filter((one) => one !== "");
  if (!known.includes(bare)) env[name] = [...known, bare, ...(bare === host ? [] : [host])].join(",");
}

function usesProxyFlag(): boolean {
  return `${process.execArgv.join(" ")} ${process.env["NODE_OPTIONS"] ?? ""}`.includes("--use-env-proxy");
}
