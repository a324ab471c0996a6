import { z } from "zod";

/** A JSON Schema, or a piece of one. */
export type WireJsonSchema = Readonly<Record<string, unknown>>;

const PLACE = "#/components/schemas/";

const OPTIONS = {
  target: "draft-2020-12",
  // Replies may have more members in a later version: their objects are not closed.
  io: "input",
  unrepresentable: "any",
  override({ jsonSchema }: { jsonSchema: WireJsonSchema }) {
    const schema = jsonSchema as Record<string, unknown>;
    // These say nothing: a whole number is one that JavaScript has, and a name is a text.
    if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
    if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
    if (JSON.stringify(schema["propertyNames"]) === '{"type":"string"}') delete schema["propertyNames"];
    if (JSON.stringify(schema["additionalProperties"]) === "{}") schema["additionalProperties"] = true;
  },
} as const;

/** Returns the JSON Schema of every schema that has an id, by its id; each refers to the others by their places in an OpenAPI document. */
export function namedJsonSchemas(): Readonly<Record<string, WireJsonSchema>> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...OPTIONS, uri: (id) => `${PLACE}${id}` });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $id: _, $schema: __, id: ___, ...schema }]) => [id, schema]),
  );
}

/** Returns the JSON Schema of one schema: a reference, where it has an id. */
export function jsonSchemaOf(schema: z.ZodType): WireJsonSchema {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) return { $ref: `${PLACE}${id}` };
  const { $defs: _, $schema: __, ...made } = z.toJSONSchema(schema, OPTIONS);
  return JSON.parse(JSON.stringify(made).replaceAll('"$ref":"#/$defs/', `"$ref":"${PLACE}`)) as WireJsonSchema;
}
