import { parentPort, workerData } from "node:worker_threads";
import swagger from "@fastify/swagger";
import Fastify, { type HTTPMethods } from "fastify";
import { COMPILERS } from "../../http/compilers.ts";
import { nameParts } from "./name-parts.ts";

/** A route with its schemas as JSON Schema. */
export interface PlainRoute {
  methods: HTTPMethods[];
  url: string;
  schema: object;
}

/** The work of the thread: it posts the document of these routes, as JSON, and ends. */
export interface DocumentJob {
  version: string;
  /** Where programs reach the server. */
  publicUrl: string;
  /** The name of the cookie that holds a session. */
  sessionCookie: string;
  routes: PlainRoute[];
}

/** The routes are described on a server of their own, which serves nothing. */
async function describe({ version, publicUrl, sessionCookie, routes }: DocumentJob): Promise<string> {
  const app = Fastify({ exposeHeadRoutes: false, schemaController: COMPILERS });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Parley",
        version,
        license: { name: "Apache 2.0", identifier: "Apache-2.0" },
        description: "Programs ask, people answer. Errors are always `{ error: { code, message, details? } }`.",
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: "agents", description: "For programs that ask." },
        {
          name: "a2h",
          description:
            "For programs that ask named people: the protocol of HumanLayer's clients, who find the same routes under `/humanlayer/v1`.",
        },
        { name: "mcp", description: "For agents that speak the Model Context Protocol." },
        { name: "relay", description: "For executors, which work on jobs and ask on the way." },
        { name: "assignment", description: "For programs that give work to coding agents." },
        { name: "people", description: "For people who answer." },
        { name: "inbox", description: "For people who are asked by name." },
        { name: "receipts", description: "For whoever verifies what was decided." },
        { name: "sessions", description: "For people with a name here." },
        { name: "administration", description: "For admins, by their session or an admin key." },
        { name: "operations", description: "For whoever runs the server." },
      ],
      components: {
        securitySchemes: {
          key: { type: "http", scheme: "bearer", description: "A key made with `parley keys create`." },
          session: { type: "apiKey", in: "cookie", name: sessionCookie, description: "The session of an admin." },
        },
      },
      // Open mode and the crowd need no key; where they are off, every route takes one.
      security: [{}, { key: [] }],
    },
    transformObject: (made) => nameParts("openapiObject" in made ? made.openapiObject : {}),
  });
  for (const { methods: method, url, schema } of routes) {
    app.route({ method, url, schema, handler: () => undefined });
  }
  await app.ready();
  return JSON.stringify(app.swagger());
}

parentPort?.postMessage(await describe(workerData as DocumentJob));
