type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the variables of the process; none in a browser, or where they may not be read. */
export function environment(): Environment {
  const { process } = globalThis as { process?: { env?: Environment } };
  try {
    return { ...process?.env };
  } catch {
    return {};
  }
}

/** Returns the first of these variables that says something. */
export function fromEnvironment(...names: string[]): string | undefined {
  const env = environment();
  return names.map((name) => env[name]).find((value) => value !== undefined && value !== "");
}

/** Where those addresses of A2H begin that stand below a server's own. */
const A2H_PATH = /\/(a2h\/v1alpha1|humanlayer\/v1)$/;

/**
 * Returns where an agent's server is, and its key, as the environment says: `PARLEY_URL` and `PARLEY_KEY`, or, where
 * neither says anything, `A2H_BASE_URL` and `A2H_API_KEY` (spec/a2h 1). The two pairs are never mixed, so that no key
 * goes to a server that it is not for.
 */
export function agentPlace(env: Environment = environment()): { url: string | undefined; key: string | undefined } {
  const { PARLEY_URL, PARLEY_KEY, A2H_BASE_URL, A2H_API_KEY } = env;
  if (PARLEY_URL || PARLEY_KEY) return { url: PARLEY_URL || undefined, key: PARLEY_KEY || undefined };
  const url = A2H_BASE_URL?.replace(/(?<!\/)\/+$/, "").replace(A2H_PATH, "");
  return { url: url || undefined, key: A2H_API_KEY || undefined };
}

/**
 * The address of an agent's server when nothing names another one. A key in the environment without an address is for
 * this server.
 */
export const LOCAL_URL = "http://127.0.0.1:3415";

/**
 * Returns which server an agent asks, and the key for it: the one that was given, else that of the environment where the
 * server is the environment's own. A server that only a program names gets no key that nobody gave for it.
 */
export function agentServer(given: { url?: string; key?: string }): { url: string; key: string | undefined } {
  const { url: known = LOCAL_URL, key } = agentPlace();
  const url = given.url ?? known;
  return { url, key: given.key ?? (isSameAddress(url, known) ? key : undefined) };
}

/** Returns whether these are one address, however it is written. */
export function isSameAddress(one: string, other: string): boolean {
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  const [first, second] = [one, other].map((url) => new URL(url).href.replace(/(?<!\/)\/+$/, ""));
  return first === second;
}

/**
 * Returns the requesters that receipts of this client's approvals may name; `agent:` alone is the holder of any key.
 * The key may also stand behind the name, or in the address (spec/security 3).
 */
export function agentsOf(client: { url: string; key: string | undefined; agentId?: string; receiptAgent?: string }) {
  const { url, key, agentId: name = "", receiptAgent } = client;
  if (receiptAgent !== undefined) return [receiptAgent];
  if (key !== undefined || /(^|:)parley_/.test(name) || /\/k\/[^/]+\/*$/.test(url)) return ["agent:"];
  // A program without a key cannot bear the name of a key.
  return [`open:${name}`, "open:default"];
}
