import { isJsonObject, membersOf } from "../lib/json/exact-json.ts";

/**
 * Returns a name as a parser has it that ignores capitals, such as Go's encoding/json: by Unicode's folding, in which
 * the long s is an s and the Kelvin sign a k.
 */
export function foldedName(name: string): string {
  return name.toLowerCase().toUpperCase().toLowerCase();
}

/**
 * Finds two names that a parser which ignores capitals takes for one: two of one object, or one of an object and one of
 * the schema for it. Names that the schema itself has side by side are two. The schema is followed through `properties`
 * and `items` alone.
 */
export function findAlikeNames(value: unknown, schema: unknown): readonly [string, string] | undefined {
  if (Array.isArray(value)) {
    const { items } = membersOf(schema);
    return firstOf(value as unknown[], (item) => findAlikeNames(item, items));
  }
  if (!isJsonObject(value)) return undefined;
  const properties = membersOf(membersOf(schema)["properties"]);
  const known = new Map(Object.keys(properties).map((name) => [foldedName(name), name]));
  return firstOf(Object.keys(value), (name) => {
    const isOwn = Object.hasOwn(properties, name);
    const folded = foldedName(name);
    const other = known.get(folded);
    if (!isOwn && other !== undefined && other !== name) return [other, name] as const;
    if (!isOwn) known.set(folded, name);
    return findAlikeNames(value[name], isOwn ? properties[name] : undefined);
  });
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
