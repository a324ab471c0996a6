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
  const url = A2H_BASE_URL?.replace(/\/+$/, "").replace(A2H_PATH, "");
  return { url: url || undefined, key: A2H_API_KEY || undefined };
}
