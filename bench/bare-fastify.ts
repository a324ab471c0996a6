/** The reference for the time of a start: a Fastify with one route. It prints its address when it listens. */
import { enableCompileCache } from "node:module";
import { join } from "node:path";

enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/parley"));
const { default: fastify } = await import("fastify");
const app = fastify();
app.get("/healthz", async () => "ok");
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
