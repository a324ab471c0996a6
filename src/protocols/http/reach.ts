import type { FastifyRequest } from "fastify";
import { isLoopback } from "../../lib/network/network.ts";
import { Refusal } from "../../refusals.ts";
import type { DoorSettings } from "./door.ts";

type ReachedDoor = Pick<DoorSettings, "loopbackOnly">;

/** Headers by which proxies and content networks tell of themselves, or of whoever they speak for. */
const PROXY_HEADER =
  /^(?:via|forwarded|forwarded-for|x-forwarded.*|x-original-.*|x-real-ip|(?:x-|true-|x-cluster-|fastly-|fly-)?client-ip|x-azure-clientip|x-envoy-.*|x-proxyuser-ip|cf-.*)$/;

const SPEAKS_HTTP_1_0 =
  "This speaks HTTP/1.0, as a proxy may: use HTTP/1.1 or a key, or where it is a proxy, set PARLEY_PUBLIC_URL and use a key.";

/**
 * True for a request that only a program of this computer can have made: nothing says that others reach the server
 * (`whyOthersReach`), and nothing about the request says that it was passed on.
 */
export function isFromHere(config: ReachedDoor, http: FastifyRequest): boolean {
  return config.loopbackOnly && isLoopback(http.socket.remoteAddress ?? "") && !wasPassedOn(http);
}

/**
 * Refuses a request that shows no credential, unless it is from this computer (spec/security 2).
 *
 * @throws {Refusal} `key_required` where others reach the server; `passed_on` where the request alone says so
 */
export function refuseFromElsewhere(config: ReachedDoor, http: FastifyRequest): void {
  if (isFromHere(config, http)) return;
  if (!config.loopbackOnly || !wasPassedOn(http)) throw new Refusal("key_required");
  throw saysProxy(http) ? new Refusal("passed_on") : new Refusal("passed_on", {}, SPEAKS_HTTP_1_0);
}

/**
 * True for a request that a proxy passed on: one that says so in a header, or speaks HTTP/1.0. The latter is how nginx
 * asks with none of its headers set, and hardly anything else does.
 */
function wasPassedOn(http: FastifyRequest): boolean {
  return http.raw.httpVersion === "1.0" || saysProxy(http);
}

function saysProxy({ headers }: FastifyRequest): boolean {
  return Object.keys(headers).some((name) => PROXY_HEADER.test(name));
}
