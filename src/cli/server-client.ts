import { Parley } from "@parley/sdk";
import { agentPlace, isSameAddress } from "@parley/sdk/environment";
import { type Io, WrongUsage } from "./command.ts";
import { localServerUrl } from "./local-server.ts";

export const CLIENT_OPTIONS = { url: { type: "string" }, json: { type: "boolean" } } as const;

/** Where requests to named people are made. */
export const A2H = "/a2h/v1alpha1";

/** Returns the address of the server a command talks to. */
export function serverUrl(flag: string | undefined, env: Io["env"]): string {
  return (flag ?? agentPlace(env).url ?? localServerUrl(env)).replace(/(?<!\/)\/+$/, "");
}

/**
 * Returns the key in `PARLEY_KEY`, which is for one server alone: that of the environment, else this computer's own.
 *
 * @throws {WrongUsage} for a server that only a flag names
 */
export function ownKey(url: string, env: Io["env"]): string | undefined {
  const key = env["PARLEY_KEY"] || undefined;
  const known = serverUrl(undefined, env);
  if (key === undefined || isSameAddress(url, known)) return key;
  throw new WrongUsage(
    `PARLEY_KEY is for the server at ${known}, and not for ${url}: set PARLEY_URL to ${url} if the key is that server's, else unset PARLEY_KEY`,
  );
}

/**
 * Returns the key that an agent shows to this server: `PARLEY_KEY`, else `A2H_API_KEY`, which is passed over for a
 * server that only a flag names.
 *
 * @throws {WrongUsage} as `ownKey` does
 */
export function agentKey(url: string, env: Io["env"]): string | undefined {
  const isNamedThere = isSameAddress(url, serverUrl(undefined, env));
  return ownKey(url, env) ?? (isNamedThere ? agentPlace(env).key : undefined);
}

/** Returns the client of that server, with the agent's key of the environment. */
export function openClient(url: string, env: Io["env"]): Parley {
  return new Parley({ url, key: agentKey(url, env) });
}
