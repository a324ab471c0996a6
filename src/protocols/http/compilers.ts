import type { FastifySchemaCompiler, FastifyServerOptions } from "fastify";
import type { z } from "zod";
import { replyJson } from "../../lib/json/ready-json.ts";
import { checkFields } from "./check-fields.ts";

const checkOf: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (value: unknown) =>
    checkFields(schema, value);

/**
 * Checks input by the schemas of the routes, and writes replies as plain JSON. Fastify gets them when it is
 * made: it would load compilers of its own first, which costs a start 90 modules.
 */
export const COMPILERS = {
  compilersFactory: {
    buildValidator: () => checkOf,
    buildSerializer: () => () => replyJson,
  },
  // Fastify's types know its own compilers only.
} as unknown as NonNullable<FastifyServerOptions["schemaController"]>;
