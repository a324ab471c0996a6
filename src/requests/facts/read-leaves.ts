import { canonicalExact, isExactNumber, isJsonObject, readExactJson } from "../../lib/json/exact-json.ts";
import type { ForeignSchema } from "../model/request.ts";
import type { ArgumentLeaf, LeafValue } from "./leaves.ts";
import { withMoneyWords } from "./money-names.ts";
import { knownSet, knownWords } from "./name-words.ts";

/** Objects that hold all arguments of a call and say nothing by their own names. */
const WRAPPERS = new Set("args arguments kwargs input params parameters payload request data tool_input".split(" "));
/** Names of a choice among many things: an empty one chooses all. */
export const FILTERS = knownSet(
  "filter filters where criteria criterion condition conditions selector match bedingung filtre",
);
const MOST_DEPTH = 20;

/** Returns the values that say something: nulls, empty texts and lists are left out, except a filter that is empty. */
export function leavesIn(canonical: string, schema?: ForeignSchema): ArgumentLeaf[] {
  return below(readExactJson(canonical), [], schema);
}

function below(value: unknown, path: readonly string[], schema: unknown): ArgumentLeaf[] {
  if (isJsonObject(value) && path.length < MOST_DEPTH && !isEmpty(value)) {
    const properties = isJsonObject(schema) && isJsonObject(schema["properties"]) ? schema["properties"] : {};
    const leaves = Object.entries(value).map(([name, member]) => {
      const isWrapper = isJsonObject(member) && WRAPPERS.has(name);
      const of = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return {
        isMember: !isJsonObject(member),
        below: below(member, isWrapper ? path : [...path, titled(name, of)], of),
      };
    });
    const members = leaves.flatMap((one) => (one.isMember ? one.below : []));
    const told = new Map(withMoneyWords(members).map((leaf, i) => [members[i], leaf]));
    return leaves.flatMap((one) => one.below.map((leaf) => told.get(leaf) ?? leaf));
  }
  const leaf = isEmpty(value) ? emptyFilter(path) : valueOf(value);
  return leaf === null
    ? []
    : [{ path, words: knownWords(path.at(-1) ?? ""), above: path.slice(0, -1).flatMap(knownWords), value: leaf }];
}

/** A title of the agent's schema names an argument whose own name is no word. */
function titled(name: string, schema: unknown): string {
  const title = isJsonObject(schema) ? schema["title"] : undefined;
  const isWord = name.length > 2 || name === "to";
  return typeof title === "string" && title.trim() !== "" && title.length <= 40 && !isWord ? title : name;
}

function valueOf(value: unknown): LeafValue | null {
  if (typeof value === "boolean") return { kind: "switch", on: value };
  if (value === "true" || value === "false") return { kind: "switch", on: value === "true" };
  if (typeof value === "string") return value.trim() === "" ? null : { kind: "text", text: value };
  if (typeof value === "number" || isExactNumber(value)) return { kind: "number", text: canonicalExact(value) };
  return { kind: "list", items: Array.isArray(value) ? value : [value] };
}

function emptyFilter(path: readonly string[]): LeafValue | null {
  return knownWords(path.at(-1) ?? "").some((word) => FILTERS.has(word)) ? { kind: "text", text: "" } : null;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}
