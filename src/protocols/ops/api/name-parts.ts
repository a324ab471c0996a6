import { STATUS_CODES } from "node:http";
import { named, type Operation, type Schema, text } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { PARAMETERS } from "./parameters.ts";
import { namedJsonSchemas } from "../../../wire/json-schema.ts";
import "../../../wire/all.ts";

type Content = Record<string, { schema?: Schema }>;
interface Reply {
  description: string;
  content?: Content;
}
/** A route as the document has it. */
interface Described {
  operationId?: string;
  tags?: string[];
  parameters?: object[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Reply>;
}
interface ApiDocument {
  paths?: Record<string, Record<string, Described>>;
  components?: { schemas?: Record<string, Schema> };
}

const JSON_TYPE = "application/json";
/** The statuses of refusals at the doors that check requests by themselves. */
const REFUSALS = ["400", "401", "403", "404", "409", "413", "415", "422", "429", "503"];
const ERRORS: Readonly<Record<string, string>> = {
  a2h: "A2hError",
  relay: "WorkError",
  assignment: "WorkError",
};

/**
 * Returns a document whose routes have names, and whose schemas stand in it once, each by a name: generated clients
 * have one type for each, and not a copy for every route.
 */
export function nameParts<T extends object>(given: T): T {
  const document = given as ApiDocument;
  const schemas = new Map<string, Schema>(Object.entries(namedJsonSchemas()));
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, route] of Object.entries(methods)) {
      const operation = OPERATIONS.get(`${method.toUpperCase()} ${path}`);
      if (operation) name(route, operation, schemas);
      for (const [status, reply] of Object.entries(route.responses)) {
        if (reply.description === "Default Response") reply.description = STATUS_CODES[status] ?? status;
      }
    }
  }
  document.components = { ...document.components, schemas: withReferences(schemas) };
  return given;
}

/** Gives a route its name, and its schemas theirs. */
function name(route: Described, operation: Operation, schemas: Map<string, Schema>) {
  const { id, body, reply, also, query = [] } = operation;
  route.operationId = id;
  const parameters = query.map((one) => {
    const { name = one, ...parameter } = PARAMETERS[one] ?? {};
    return { in: "query", name, required: false, ...parameter };
  });
  if (parameters.length > 0) route.parameters = [...(route.parameters ?? []), ...parameters];
  if (route.requestBody) route.requestBody.required ??= true;
  if (body !== undefined) nameBody(route, body, schemas);
  nameReplies(route, reply, schemas);
  if (also !== undefined) nameOtherType(route, also);
  nameRefusals(route);
}

function nameBody(route: Described, body: string, schemas: Map<string, Schema>) {
  if (body.includes("/")) {
    route.requestBody = { required: true, content: { [body]: { schema: { type: "string", format: "binary" } } } };
    return;
  }
  const { content, required = true } = route.requestBody ?? { content: {} };
  const schema = Object.values(content)[0]?.schema;
  keep(schemas, body, schema);
  route.requestBody = { required, content: { [JSON_TYPE]: { schema: named(body) } } };
}

function nameReplies(route: Described, reply: string | undefined, schemas: Map<string, Schema>) {
  const isOk = Object.keys(route.responses).some((status) => status.startsWith("2"));
  if (!isOk) route.responses["200"] = { description: `As ${reply ?? "asked"}` };
  for (const [status, response] of Object.entries(route.responses)) {
    if (!/^2/.test(status) || status === "204" || reply === undefined) continue;
    if (reply.includes("/")) {
      const format = reply === "application/octet-stream" ? { format: "binary" } : {};
      response.content = { [reply]: { schema: { type: "string", ...format } } };
    } else {
      keep(schemas, reply, Object.values(response.content ?? {})[0]?.schema);
      response.content = { [JSON_TYPE]: { schema: named(reply) } };
    }
  }
}

/** Says that the reply is also sent in another type than JSON, as a text. */
function nameOtherType(route: Described, type: string) {
  const { content } = route.responses["200"] ?? {};
  if (content) content[type] = { schema: text() };
}

function nameRefusals(route: Described) {
  const error = ERRORS[route.tags?.[0] ?? ""];
  for (const status of error === undefined ? [] : REFUSALS) {
    route.responses[status] ??= { description: STATUS_CODES[status] ?? status };
  }
  route.responses["default"] ??= { description: "Anything else that is refused" };
  for (const [status, response] of Object.entries(route.responses)) {
    // A server that is not ready says so in one word.
    if (/^[23]/.test(status) || response.content?.["text/plain"]) continue;
    response.content = { [JSON_TYPE]: { schema: named(error ?? "Error") } };
  }
}

/** Keeps a schema by its name; what stands there already and is not the same is a mistake of ours. */
function keep(schemas: Map<string, Schema>, name: string, schema: Schema | undefined) {
  const { description: _, $schema: __, ...found } = schema ?? {};
  const known = schemas.get(name);
  // A reference names itself.
  if (Object.keys(found).length === 0 || "$ref" in found) return;
  if (known && JSON.stringify(known) !== JSON.stringify(found)) throw new Error(`two schemas are called ${name}`);
  schemas.set(name, found);
}

/** Puts the name of a schema wherever the schema itself stands within another. */
function withReferences(schemas: Map<string, Schema>): Record<string, Schema> {
  const isTelling = (schema: Schema) => Object.keys(schema["properties"] ?? {}).length > 0;
  const names = new Map([...schemas].flatMap(([name, one]) => (isTelling(one) ? [[JSON.stringify(one), name]] : [])));
  const replaced = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const name = names.get(JSON.stringify(value));
    if (name !== undefined) return named(name);
    return inside(value);
  };
  const inside = (value: object): unknown =>
    Array.isArray(value)
      ? value.map(replaced)
      : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replaced(member)]));
  return Object.fromEntries([...schemas].map(([name, schema]) => [name, inside(schema) as Schema]));
}
