import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { findKey } from "../../access/find-key.ts";
import type { Door, DoorContext } from "../http/door.ts";
import { refuseFromElsewhere } from "../http/reach.ts";
import { measureHealth } from "./health-metrics.ts";
import { type Metrics, measureWork } from "./metrics.ts";
import { openReadiness, type ReadinessWord } from "./readiness.ts";
import { measureRelay } from "./relay-metrics.ts";
import { referencePage } from "./reference-page.ts";

const PLAIN = "text/plain; charset=utf-8";

/**
 * Mounts the operator's routes: health, metrics and the API document. If the policy file differs from the policy in
 * force, or from that of other servers, the health reply adds a line about it. The server stays ready: the last valid
 * policy still decides.
 */
export function opsRoutes(
  door: DoorContext,
  { metrics, openApi }: { metrics: Metrics; openApi: () => Promise<string> },
): (app: Door) => Promise<void> {
  const readiness = openReadiness(door.ctx, door.storeState);
  measureWork(metrics, door);
  measureRelay(metrics, door);
  measureHealth(metrics, door, readiness);

  return async (app) => {
    app.get(
      "/healthz",
      {
        schema: {
          tags: ["operations"],
          summary: "Whether the process runs",
          produces: ["text/plain"],
          response: { 200: z.string() },
        },
      },
      async (_request, reply) => reply.type(PLAIN).send("ok"),
    );

    app.get(
      "/readyz",
      {
        schema: {
          tags: ["operations"],
          summary: "Whether to send requests here",
          produces: ["text/plain"],
          response: { 200: z.string(), 503: z.string() },
        },
      },
      async (_request, reply) => {
        const word = await readiness();
        return reply
          .code(word === "ready" ? 200 : 503)
          .type(PLAIN)
          .send([word, ...(await policyWords(door, word))].join("\n"));
      },
    );

    app.get(
      "/metrics",
      {
        schema: {
          tags: ["operations"],
          summary: "Figures for Prometheus",
          produces: ["text/plain"],
          response: { 200: z.string() },
        },
      },
      async (http, reply) => {
        await refuseStrangers(door, http);
        return reply.type(metrics.registry.contentType).send(await metrics.text());
      },
    );

    reference(app, openApi);
    await app.register(referencePage);
  };
}

/** Returns the faults of the policy; empty where all is well. */
async function policyWords({ policy, otherPolicies }: DoorContext, word: ReadinessWord): Promise<string[]> {
  const state = policy.state();
  const others = word === "unavailable" ? [] : await otherPolicies().catch(() => []);
  return [...(state === "ok" ? [] : [`policy: ${state}`]), ...(others.length > 0 ? ["policy: differs"] : [])];
}

/** Mounts the API document for programs. */
function reference(app: Door, openApi: () => Promise<string>): void {
  app.get(
    "/openapi.json",
    { schema: { tags: ["operations"], summary: "What the API is", response: { 200: z.looseObject({}) } } },
    async (_request, reply) => reply.type("application/json; charset=utf-8").send(await openApi()),
  );
}

/** Figures tell how much is asked here: off this computer they are for a key of scope `admin`. */
async function refuseStrangers({ ctx, config }: DoorContext, http: FastifyRequest): Promise<void> {
  const key = await findKey(ctx, /^Bearer +(\S+) *$/i.exec(http.headers.authorization ?? "")?.[1] ?? "");
  if (key?.scope !== "admin") refuseFromElsewhere(config, http);
}
