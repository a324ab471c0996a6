import { createKey } from "../../src/access/create-key.ts";
import { ROOMY } from "../support/contract.ts";
import { doorOf, keylessRoutes, noteRoutes, statusOf, type Place, type Route } from "../support/reach.ts";
import { openWorld, type World } from "../support/world.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { diceOf, type Dice } from "./sim-dice.ts";

const SERVERS = 8;
const SERVERS_PER_HOUR = 1000;
const REQUESTS = 250;
const MAX_FAILURES = 5;
const NO_EDGE = { PARLEY_LIMITS_EDGE_PER_SECOND: "1000000", PARLEY_LIMITS_EDGE_BURST: "1000000" };

/** A server's settings, and the clients for which they are made. */
interface Setup {
  env: Record<string, string>;
  hosts: readonly string[];
  isOwn: boolean;
  open: string | undefined;
  isPublic: boolean;
}

/** The one respect in which a server is not for this computer alone: what a mistake would overlook. */
const ODDITIES = ["none", "bind", "url", "hosts", "proxies"] as const;

/**
 * The headers that proxies add to requests: Caddy and Traefik, nginx as it is documented, content networks, old ones.
 */
const SIGNS = [
  "X-Forwarded-For",
  "x-forwarded-proto",
  "X-Forwarded-Host",
  "x-forwarded-server",
  "X-Forwarded-Prefix",
  "Forwarded",
  "VIA",
  "X-Real-IP",
  "True-Client-IP",
  "X-Client-IP",
  "CF-Connecting-IP",
  "X-Original-Forwarded-For",
  "X-Envoy-External-Address",
];

/**
 * Servers set up in every way, and requests as programs of this computer and proxies in front of it make them, without a
 * key: each is let in exactly where a second reading of the rule says so (spec/security 2).
 */
export const reach: Harness = {
  name: "reach",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted = options.longHours ? Math.ceil(SERVERS_PER_HOUR * options.longHours) : SERVERS;
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const tableOf = noteRoutes();
    const keyless = await keylessOf(tableOf);
    const failures: Failure[] = [];
    const done: Record<"servers" | "requests" | "strangers", number> = { servers: 0, requests: 0, strangers: 0 };
    for (; done.servers < (options.seed === undefined ? wanted : 1) && performance.now() < until; done.servers += 1) {
      const seed = base + done.servers;
      const says = await trySeed(seed, keyless, done);
      for (const one of says) failures.push({ says: one, repeat: `npm run prove -- reach --seed ${seed}` });
      if ((failures.length > 0 && options.stopAtFirstFailure) || failures.length >= MAX_FAILURES) break;
    }
    return { figures: { seed: base, routes: keyless.length, ...done }, failures };
  },
};

async function keylessOf(tableOf: () => Route[]): Promise<Route[]> {
  await using home = await openWorld({ on: "sqlite", env: { ...ROOMY, ...NO_EDGE } });
  return await keylessRoutes(tableOf(), { ...placeOf(home), host: "localhost" });
}

async function trySeed(seed: number, keyless: readonly Route[], done: Record<string, number>): Promise<string[]> {
  const dice = diceOf(seed);
  // One seed after another, so that a short run has seen each.
  const setup = setUp(dice, ODDITIES[seed % ODDITIES.length] ?? "none");
  await using world = await openWorld({ on: "sqlite", env: { ...ROOMY, ...NO_EDGE, ...setup.env } });
  const found: string[] = [];
  for (let i = 0; i < REQUESTS && found.length === 0; i += 1) {
    // Those that show the most come up often enough.
    const route = dice.chance(0.05)
      ? (keyless.find(({ url }) => url === "/metrics") ?? dice.pick(keyless))
      : dice.pick(keyless);
    const headers = dice.chance(0.6) ? { [dice.pick(SIGNS)]: dice.pick(["203.0.113.77", "127.0.0.1", "x"]) } : {};
    const isHere = setup.isOwn && Object.keys(headers).length === 0;
    const status = await statusOf(route, { ...placeOf(world), host: dice.pick(setup.hosts) }, headers);
    done["requests"] = (done["requests"] ?? 0) + 1;
    if (!isHere) done["strangers"] = (done["strangers"] ?? 0) + 1;
    const mayEnter = {
      agents: setup.open === undefined ? isHere : setup.open === "true",
      crowd: setup.isPublic || isHere,
      figures: isHere,
    }[doorOf(route)];
    if (mayEnter === (status !== 401)) continue;
    const what = mayEnter ? "somebody was kept out" : `${isHere ? "somebody" : "a stranger"} was let in`;
    found.push(`${what}: ${status} ${route.method} ${route.url} ${JSON.stringify({ ...setup.env, headers })}`);
  }
  found.push(...(await tryWebhook(world, setup)));
  return found;
}

/** An agent with a key of its own asks for events at an address of this computer. */
async function tryWebhook(world: World, { isOwn, env }: Setup): Promise<string[]> {
  const { text } = await createKey(world.server.ctx, { name: "ana-bot", scope: "agent" });
  const body = { url: "http://127.0.0.1:9/told", format: "a2h" };
  const register = async (more: Record<string, string>) => {
    const headers = { authorization: `Bearer ${text}`, ...more };
    return (await world.call("POST", "/humanlayer/v1/webhook_endpoints", { headers, body })).status;
  };
  const [plain, passedOn] = [await register({}), await register({ via: "1.1 proxy" })];
  if (plain === (isOwn ? 201 : 422) && passedOn === 422) return [];
  return [`a webhook to this computer: ${plain}, passed on ${passedOn} ${JSON.stringify(env)}`];
}

function setUp(dice: Dice, odd: (typeof ODDITIES)[number]): Setup {
  const url = odd === "url" ? "https://ask.example.com" : dice.pick([undefined, "https://parley.localhost"]);
  const name = odd === "hosts" ? "inner.example" : dice.pick([undefined, "home.localhost"]);
  const open = dice.pick([undefined, undefined, undefined, "true", "false"]);
  const isPublic = dice.chance(0.25);
  const env = {
    PARLEY_HOST: odd === "bind" ? "0.0.0.0" : dice.pick(["127.0.0.1", "localhost"]),
    ...(url !== undefined && { PARLEY_PUBLIC_URL: url }),
    ...(name !== undefined && { PARLEY_HOSTS: name }),
    ...(odd === "proxies" && { PARLEY_TRUSTED_PROXIES: dice.pick(["127.0.0.1", "10.0.0.0/8", "::1"]) }),
    ...(open !== undefined && { PARLEY_OPEN: open }),
    ...(isPublic && { PARLEY_CROWD_PUBLIC: "true" }),
  };
  const hosts = ["127.0.0.1", "localhost", ...(url ? [new URL(url).host] : []), ...(name ? [name] : [])];
  return { env, hosts, isOwn: odd === "none", open, isPublic };
}

function placeOf(world: World): Omit<Place, "host"> {
  return { address: "127.0.0.1", port: Number(new URL(world.url).port) };
}
