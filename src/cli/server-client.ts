import { Parley } from "@parley/sdk";
import { agentPlace, isSameAddress } from "@parley/sdk/environment";
import { addressFault } from "../lib/network/server-address.ts";
import { WrongUsage } from "./arguments.ts";
import type { Io } from "./command.ts";
import { localServerUrl } from "./local-server.ts";

/**
 * Returns the address of the server a command talks to.
 *
 * @throws {WrongUsage} for one at which nothing can be asked; the sentence repeats no part of it
 */
export function serverUrl(flag: string | undefined, env: Io["env"]): string {
  const named = agentPlace(env).url;
  const url = (flag ?? named ?? localServerUrl(env)).replace(/(?<!\/)\/+$/, "");
  const fault = addressFault(url);
  if (fault === null) return url;
  const ofEnvironment = env["PARLEY_URL"] ? "PARLEY_URL" : "A2H_BASE_URL";
  const source = flag !== undefined ? "--url" : named !== undefined ? ofEnvironment : "the address by PARLEY_PORT";
  throw new WrongUsage(`${source} ${fault}`);
}

/**
 * Returns the key in `PARLEY_KEY`, which is for one server alone: that of the environment, else this computer's own.
 *
 * @throws {WrongUsage} for a server that only a flag names, and for a key that no request can hold
 */
export function ownKey(url: string, env: Io["env"]): string | undefined {
  const key = sendable("PARLEY_KEY", env["PARLEY_KEY"]);
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
  return ownKey(url, env) ?? (isNamedThere ? sendable("A2H_API_KEY", agentPlace(env).key) : undefined);
}

/** @throws {WrongUsage} for a key with a character that no header holds */
function sendable(name: string, key: string | undefined): string | undefined {
  if (key && !/^[\x21-\x7e]+$/.test(key))
    throw new WrongUsage(
      `${name} holds a line break, a space or another character that no key has: set it without that`,
    );
  return key || undefined;
}

/** Returns the client of that server, with the agent's key of the environment. */
export function openClient(url: string, env: Io["env"]): Parley {
  return new Parley({ url, key: agentKey(url, env) });
}
