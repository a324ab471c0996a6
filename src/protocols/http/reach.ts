import type { FastifyRequest } from "fastify";
import { isLoopback } from "../../lib/network.ts";
import { Refusal } from "../../refusals.ts";
import type { DoorSettings } from "./door.ts";

type ReachedDoor = Pick<DoorSettings, "loopbackOnly">;

/** Headers by which proxies and content networks tell of themselves, or of whoever they speak for. */
const PROXY_HEADER =
  /^(?:via|forwarded|forwarded-for|x-forwarded.*|x-original-.*|x-real-ip|(?:x-|true-|x-cluster-|fastly-|fly-)?client-ip|x-azure-clientip|x-envoy-.*|x-proxyuser-ip|cf-.*)$/;

/**
 * True for a request that only a program of this computer can have made: nothing says that others reach the server
 * (`whyOthersReach`), and nothing about the request says that it was passed on.
 */
export function isFromHere(config: ReachedDoor, request: FastifyRequest): boolean {
  return config.loopbackOnly && isLoopback(request.socket.remoteAddress ?? "") && !wasPassedOn(request);
}

/**
 * Refuses a request that shows no credential, unless it is from this computer (spec/security 2).
 *
 * @throws {Refusal} `key_required` where others reach the server; `passed_on` where the request alone says so
 */
export function refuseFromElsewhere(config: ReachedDoor, request: FastifyRequest): void {
  if (isFromHere(config, request)) return;
  throw new Refusal(config.loopbackOnly && wasPassedOn(request) ? "passed_on" : "key_required");
}

/**
 * True for a request that a proxy passed on: one that says so in a header, or speaks HTTP/1.0. The latter is how nginx
 * asks with none of its headers set, and hardly anything else does.
 */
function wasPassedOn({ headers, raw }: FastifyRequest): boolean {
  return raw.httpVersion === "1.0" || Object.keys(headers).some((name) => PROXY_HEADER.test(name));
}
