/** The text of types of what travels, for packages that depend on nothing: from the JSON Schemas of `src/wire`. */
import { compile } from "json-schema-to-typescript";
import { namedJsonSchemas } from "../src/wire/json-schema.ts";
import "../src/wire/all.ts";

/** Returns a module that exports the types of these schemas, by their ids, and of those they refer to. */
export async function wireTypes(ids) {
  const text = JSON.stringify(namedJsonSchemas()).replaceAll("#/components/schemas/", "#/$defs/");
  const schemas = Object.entries(JSON.parse(text, asDraft7)).map(([id, schema]) => [
    id,
    { ...plain(schema), title: id },
  ]);
  const unknown = ids.filter((id) => !schemas.some(([known]) => known === id));
  if (unknown.length > 0) throw new Error(`src/wire has no schema called ${unknown.join(", ")}`);
  const all = {
    title: "EverySchema",
    type: "object",
    properties: Object.fromEntries(ids.map((id) => [id, { $ref: `#/$defs/${id}` }])),
    $defs: Object.fromEntries(schemas),
  };
  const module = await compile(all, "EverySchema", {
    additionalProperties: false,
    bannerComment: "",
    ignoreMinAndMaxItems: true,
    unknownAny: true,
  });
  return module.replace(/export interface EverySchema \{[^}]*\}\n/, "");
}

/** json-schema-to-typescript knows lists of a fixed length as older drafts of JSON Schema write them. */
function asDraft7(_name, value) {
  if (!value?.prefixItems) return value;
  const { prefixItems, ...schema } = value;
  return { ...schema, items: prefixItems, additionalItems: false };
}

/** Second names of members are for older clients. */
function plain(schema) {
  if (!schema.properties) return schema;
  const own = Object.entries(schema.properties).filter(([, member]) => !member.deprecated);
  return { ...schema, properties: Object.fromEntries(own) };
}
