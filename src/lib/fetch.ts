import { isOwnName } from "./reach.ts";

/**
 * The fetch of this machine, for what is no part of the server. It follows nobody who sends it on, whatever its caller
 * wants, so that a key reaches no other address than the one that was named; and what is for this very computer goes to
 * no proxy of the environment (`NODE_USE_ENV_PROXY`).
 */
export const systemFetch: typeof globalThis.fetch = (input, init) => {
  const address = input instanceof Request ? input.url : String(input);
  if (URL.canParse(address)) passProxyBy(new URL(address).hostname);
  return globalThis.fetch(input, { ...init, redirect: init?.redirect === "error" ? "error" : "manual" });
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
