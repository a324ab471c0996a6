import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** Everything comes from here, offline too. Swagger UI sets styles on its elements, which no other page of ours may. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>Parley API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <script defer src="/docs/swagger-ui-bundle.js"></script>
    <script defer src="/docs/start.js"></script>
  </head>
  <body>
    <main id="reference"></main>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  tryItOutEnabled: false,
  validatorUrl: null,
});
`;

/** The API's reference is readable at `/docs`. */
export async function referencePage(app: FastifyInstance): Promise<void> {
  const hidden = { schema: { hide: true } } as const;
  app.addHook("onSend", async (_request, reply) => {
    reply
      .header("content-security-policy", CONTENT_SECURITY_POLICY)
      .header("cross-origin-opener-policy", "same-origin");
  });
  await app.register(fastifyStatic, {
    root: fileURLToPath(new URL("./static/", import.meta.resolve("@fastify/swagger-ui"))),
    serve: false,
    cacheControl: false,
  });

  app.get("/docs", hidden, (_request, reply) => reply.type("text/html; charset=utf-8").send(PAGE));
  app.get("/docs/start.js", hidden, (_request, reply) => reply.type("text/javascript; charset=utf-8").send(START));
  for (const file of ["swagger-ui.css", "swagger-ui-bundle.js"]) {
    app.get(`/docs/${file}`, hidden, (_request, reply) => reply.header("cache-control", "no-cache").sendFile(file));
  }
}
