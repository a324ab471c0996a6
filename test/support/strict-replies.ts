/**
 * Every JSON reply of a server that a test starts in its process is held strictly against the schema that its route
 * declares: a member that is missing, of another type or unknown fails the request with 500.
 */
import diagnostics from "node:diagnostics_channel";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { yieldAfterLarge } from "../../src/lib/event-loop.ts";

interface Request {
  method: string;
  routeOptions: { url?: string; schema?: { response?: Readonly<Record<string, unknown>> } };
}
interface Reply {
  statusCode: number;
  getHeader(name: string): unknown;
}
interface StartedFastify {
  addHook(name: "onSend", hook: (request: Request, reply: Reply, payload: unknown) => Promise<void>): void;
}

diagnostics.subscribe("fastify.initialization", (message) => {
  const { fastify } = message as { fastify: StartedFastify };
  fastify.addHook("onSend", async ({ method, routeOptions }, reply, payload) => {
    const schema = schemaOf(routeOptions.schema?.response?.[reply.statusCode]);
    const isJson = String(reply.getHeader("content-type")).startsWith("application/json");
    if (!schema || !isJson || typeof payload !== "string") return;
    // The work of a check does not count as the work of the turn in which the server wrote the reply.
    await yieldAfterLarge(payload);
    const problem = problemOf(schema, JSON.parse(payload, withoutPrototype));
    if (problem === null) return;
    const error = new Error(`${method} ${routeOptions.url} ${reply.statusCode} is not as declared: ${problem}`);
    console.error(error.message);
    throw error;
  });
});

/** Zod drops a member that is called `__proto__`; agents may use it in data of theirs. */
const withoutPrototype = (name: string, value: unknown): unknown => (name === "__proto__" ? undefined : value);

/** The schema of a reply, as routes declare it. */
function schemaOf(declared: unknown): z.ZodType | null {
  if (declared instanceof z.ZodType) return declared instanceof z.ZodUnknown ? null : declared;
  const { content } = (declared ?? {}) as { content?: Readonly<Record<string, { schema: unknown }>> };
  return schemaOf(content?.["application/json"]?.schema ?? z.unknown());
}

/** Says how a value differs from its schema; null where it does not. A schema drops the members that it does not know. */
function problemOf(schema: z.ZodType, value: unknown): string | null {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return z.prettifyError(parsed.error);
  return isDeepStrictEqual(parsed.data, value) ? null : `it has unknown members: ${JSON.stringify(value)}`;
}
