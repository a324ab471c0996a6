import Fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import { COMPILERS } from "../http/compilers.ts";

interface About {
  version: string;
  /** Where programs reach the server. */
  publicUrl: string;
}

/**
 * Notes every route that follows, and returns what makes one OpenAPI 3.1 document of them, from the schemas the routes
 * check with. It is made, and what makes it is loaded, when somebody first asks for it.
 */
export function describeApi(app: FastifyInstance, about: About): () => Promise<object> {
  const routes: RouteOptions[] = [];
  let document: Promise<object> | undefined;
  app.addHook("onRoute", (route) => void routes.push(route));
  return () => (document ??= describe(routes, about));
}

/** The routes are described on a server of their own, which serves nothing. */
async function describe(routes: readonly RouteOptions[], { version, publicUrl }: About): Promise<object> {
  const [{ default: swagger }, { jsonSchemaTransform }, { nameParts }] = await Promise.all([
    import("@fastify/swagger"),
    import("fastify-type-provider-zod"),
    import("./api/name-parts.ts"),
  ]);
  const app = Fastify({ exposeHeadRoutes: false, schemaController: COMPILERS });
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Parley",
        version,
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
        },
      },
      // Open mode and the crowd need no key; where they are off, every route takes one.
      security: [{}, { key: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (made) => nameParts("openapiObject" in made ? made.openapiObject : {}),
  });
  for (const { method, url, schema, config } of routes) {
    if (!schema || schema.hide) continue;
    const body = config?.reads && { body: config.reads };
    // The rest of a path has no name of its own, and generated clients need one.
    const path = url.replace(/\*$/, ":path");
    app.route({ method, url: path, schema: { ...schema, ...body }, handler: () => undefined });
  }
  await app.ready();
  return app.swagger();
}
