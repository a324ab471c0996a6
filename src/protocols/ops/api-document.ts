import { STATUS_CODES } from "node:http";
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform } from "fastify-type-provider-zod";

/** Collects every route that follows into one OpenAPI 3.1 document, from the schemas the routes check with. */
export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
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
    transformObject: (document) => withWords("openapiObject" in document ? document.openapiObject : {}),
  });
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
