import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { FastifyInstance, FastifySchema, RouteOptions } from "fastify";
import { z } from "zod";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { jsonSchemaOf } from "../../wire/json-schema.ts";
import type { DocumentJob, PlainRoute } from "./api/document-thread.ts";

type About = Omit<DocumentJob, "routes">;

/**
 * Notes every route that follows, and returns what makes one OpenAPI 3.1 document of them, as JSON, from the schemas the
 * routes check with. It is made when somebody first asks for it, beside everything else that the server does.
 */
export function describeApi(app: FastifyInstance, about: About): () => Promise<string> {
  const routes: RouteOptions[] = [];
  let document: Promise<string> | undefined;
  app.addHook("onRoute", (route) => void routes.push(route));
  return () =>
    (document ??= describe(routes, about).catch((error: unknown) => {
      document = undefined;
      throw error;
    }));
}

async function describe(routes: readonly RouteOptions[], about: About): Promise<string> {
  const plain: PlainRoute[] = [];
  for (const route of routes) {
    const { method, schema, config } = route;
    if (!schema || schema.hide) continue;
    // Fastify adds these by itself.
    if (method === "HEAD") continue;
    const body = config?.reads && { body: config.reads };
    // The rest of a path has no name of its own, and generated clients need one.
    const url = route.url.replace(/\*$/, ":path");
    plain.push({ methods: [method].flat(), url, schema: plainSchema({ ...schema, ...body }) });
    await yieldToEventLoop();
  }
  return inThread({ ...about, routes: plain });
}

/** Returns what a route says of itself with JSON Schemas in place of those it checks with. */
function plainSchema({ response, ...rest }: FastifySchema): FastifySchema {
  const isChecked = (value: unknown): value is z.ZodType => value instanceof z.ZodType;
  const plain = (value: unknown): unknown => (isChecked(value) ? jsonSchemaOf(value) : value);
  const each = (parts: object, change: (part: unknown) => unknown) =>
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, change(part)]));
  const plainReply = (reply: unknown): unknown => {
    if (isChecked(reply)) return jsonSchemaOf(reply);
    const { content, ...about } = reply as { content: object };
    return { ...about, content: each(content, (one) => each(one as object, plain)) };
  };
  return { ...each(rest, plain), ...(response !== undefined && { response: each(response as object, plainReply) }) };
}

/** Loading what makes the document, and making it, takes a third of a second of processor time. */
async function inThread(job: DocumentJob): Promise<string> {
  const worker = new Worker(new URL("./api/document-thread.ts", import.meta.url), { workerData: job });
  try {
    const [document] = (await once(worker, "message")) as [string];
    return document;
  } finally {
    await worker.terminate();
  }
}
