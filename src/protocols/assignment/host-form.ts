import type { FastifyRequest } from "../http/door.ts";

const HOST = /^(agent-assignment-server|aa)\.localhost(:\d+)?$/i;
/** The paths of the protocol at the root of these hosts. Every other path is the server's, as at any other host. */
const PATH = /^\/+(?=$|\?|tasks\/|events\/?(?:$|\?))/;
const PREFIX = "/assignment";

/** Returns an address at which this door is found, for one of the hosts where it stands at the root. */
export function atOwnHost(host: string | undefined, url: string): string {
  if (host === undefined || !HOST.test(host) || !PATH.test(url)) return url;
  return `${PREFIX}/${url.replace(/^\/+/, "")}`;
}

/** Returns the endpoint in the form in which a request named it; nothing, where it stands at the root. */
export function endpointOf(http: FastifyRequest): string {
  const { repo } = http.params as { repo?: string };
  if (repo !== undefined) return `${PREFIX}/${repo}`;
  return /^\/+assignment(?:$|[/?])/.test(http.originalUrl.replace(/^\/+k\/+[^/?]+/, "")) ? PREFIX : "";
}
