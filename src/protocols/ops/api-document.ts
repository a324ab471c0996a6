import { STATUS_CODES } from "node:http";
import Fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import { COMPILERS } from "../http/compilers.ts";

/**
 * Notes every route that follows, and returns what makes one OpenAPI 3.1 document of them, from the schemas the routes
 * check with. It is made, and what makes it is loaded, when somebody first asks for it.
 */
export function describeApi(app: FastifyInstance, version: string): () => Promise<object> {
  const routes: RouteOptions[] = [];
  let document: Promise<object> | undefined;
  app.addHook("onRoute", (route) => void routes.push(route));
  return () => (document ??= describe(routes, version));
}

/** The routes are described on a server of their own, which serves nothing. */
async function describe(routes: readonly RouteOptions[], version: string): Promise<object> {
  const [{ default: swagger }, { jsonSchemaTransform }] = await Promise.all([
    import("@fastify/swagger"),
    import("fastify-type-provider-zod"),
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
      tags: [
        { name: "agents", description: "For programs that ask." },
        { name: "a2h", description: "For programs that ask named people: the protocol of HumanLayer's clients." },
        { name: "assignment", description: "For programs that give work to coding agents." },
        { name: "people", description: "For people who answer." },
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
    transformObject: (made) => withWords("openapiObject" in made ? made.openapiObject : {}),
  });
  for (const { method, url, schema } of routes) {
    if (schema && !schema.hide) app.route({ method, url, schema, handler: () => undefined });
  }
  await app.ready();
  return app.swagger();
}

/** Says in words what each status means, where the routes leave that out. */
function withWords<T extends object>(document: T): T {
  const paths = "paths" in document ? (document.paths as Record<string, Record<string, Operation>>) : {};
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      if (response.description === "Default Response") response.description = STATUS_CODES[status] ?? status;
    }
  }
  return document;
}

interface Operation {
  responses?: Record<string, { description: string }>;
}
