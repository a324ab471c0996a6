import diagnostics from "node:diagnostics_channel";
import { Agent, request as ask, type Server as HttpServer } from "node:http";

/** One line of the server's own route table. */
export interface Route {
  method: string;
  url: string;
}

/** The address that a request is sent to, and the host it names. */
export interface Place {
  address: string;
  port: number;
  host: string;
}

/**
 * The routes for everybody: pages, health, the API's description, sign-in, and routes with a secret in the address or
 * body.
 */
const FOR_EVERYBODY = [
  /^\/(?:healthz|readyz|openapi\.json|docs(?:\/.*)?|version|(?:humanlayer\/v1|a2h\/v1alpha1)\/status)$/,
  /^\/(?:|index\.html|q\/:id|me|leaderboard|inbox(?:\/:id)?|console(?:\/\*)?|embed\/.*|sw\.js|theme\.js|manifest\.webmanifest)$/,
  /^\/(?:icons|assets)\//,
  /^\/(?:session|r\/:token.*|\.well-known\/jwks\.json)$/,
];

/** Notes the routes of every server that this process starts from now on, as their own tables have them: of all, or of one by its address. */
export function noteRoutes(): (url?: string) => Route[] {
  const tables: { server: HttpServer; routes: Map<string, Route> }[] = [];
  diagnostics.subscribe("fastify.initialization", (message) => {
    const { fastify } = message as { fastify: StartedFastify };
    const routes = new Map<string, Route>();
    tables.push({ server: fastify.server, routes });
    fastify.addHook("onRoute", ({ method, url, config }) => {
      // Routes that only answer methods which an address does not take are left out.
      if (config?.allowed) return;
      for (const one of [method].flat()) routes.set(`${one} ${url}`, { method: one, url });
    });
  });
  return (url) => {
    const at = ({ server }: { server: HttpServer }) => {
      const place = server.address();
      return url === undefined || (typeof place === "object" && String(place?.port) === new URL(url).port);
    };
    const all = new Map(tables.filter(at).flatMap(({ routes }) => [...routes]));
    return [...all.values()].filter(({ method }) => METHODS.includes(method));
  };
}

interface StartedFastify {
  server: HttpServer;
  addHook(name: "onRoute", hook: (route: TableRoute) => void): void;
}

/** The methods that routes take; the others stand in the table only where there is nothing for any method. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

interface TableRoute {
  method: string | string[];
  url: string;
  config?: { allowed?: unknown };
}

/** The routes for signed-in people and admins, whoever reaches the server. Some read the body first. */
const FOR_PEOPLE = /^\/(?:(?:admin|people\/me)\/|freezes(?:\/|$))/;

/**
 * Returns the group of callers that a route admits without a key, if it admits anybody. The operator sets each group's
 * access.
 */
export function doorOf({ url }: Route): "crowd" | "figures" | "agents" {
  if (url.startsWith("/human/")) return "crowd";
  return url === "/metrics" ? "figures" : "agents";
}

const AGENT = new Agent({ maxSockets: 20 });

/** Makes one request without waiting for its body to end, and returns its status. */
export function statusOf(
  { method, url }: Route,
  { address, port, host }: Place,
  headers: Record<string, string> = {},
): Promise<number> {
  const path = url.replaceAll(/:\w+(?:\([^)]*\))?/g, "x").replace("*", "x");
  const body = ["POST", "PUT", "PATCH"].includes(method) ? "{}" : "";
  return new Promise((resolve, reject) => {
    const sent = ask({
      method,
      path,
      host: address,
      port,
      agent: AGENT,
      headers: { host, ...(body && { "content-type": "application/json", "content-length": body.length }), ...headers },
    });
    sent.once("response", (reply) => {
      resolve(reply.statusCode ?? 0);
      // A stream would go on.
      if (reply.headers["content-type"]?.startsWith("text/event-stream")) reply.destroy();
      else reply.resume();
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Returns the routes that answer this computer without a key, as a server that only it reaches shows them. */
export async function keylessRoutes(routes: readonly Route[], place: Place): Promise<Route[]> {
  const guarded = routes.filter(({ url }) => !FOR_PEOPLE.test(url) && !FOR_EVERYBODY.some((one) => one.test(url)));
  const judged = await Promise.all(
    guarded.map(async (route) => {
      const without = await statusOf(route, place);
      const isNothing = without === 404 && (await statusOf(route, place, { authorization: "Bearer none" })) === 404;
      return { route, isKeyless: without !== 401 && !isNothing };
    }),
  );
  return judged.filter(({ isKeyless }) => isKeyless).map(({ route }) => route);
}

/** Returns the routes that answer such a request otherwise than with 401, each with what it says. */
export async function letIn(
  routes: readonly Route[],
  place: Place,
  headers: Record<string, string> = {},
): Promise<string[]> {
  const statuses = await Promise.all(routes.map((route) => statusOf(route, place, headers)));
  return routes.flatMap(({ method, url }, i) => (statuses[i] === 401 ? [] : [`${statuses[i]} ${method} ${url}`]));
}
