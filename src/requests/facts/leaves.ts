import { canonicalExact, isExactNumber, isJsonObject, readExactJson } from "../../lib/json/exact-json.ts";
import type { ForeignSchema } from "../model/request.ts";
import { knownWords } from "./name-words.ts";

/** A value of a call that is no object. Digits are as in the canonical text. */
export type LeafValue =
  | { kind: "text" | "number"; text: string }
  | { kind: "switch"; on: boolean }
  | { kind: "list"; items: readonly unknown[] };

/** An argument, at whatever depth, with the names it stands below. */
export interface ArgumentLeaf {
  path: readonly string[];
  /** The known words of its own name. */
  words: readonly string[];
  /** The known words of all names above it. */
  above: readonly string[];
  value: LeafValue;
}

/** Objects that hold all arguments of a call and say nothing by their own names. */
const WRAPPERS = new Set("args arguments kwargs input params parameters payload request data tool_input".split(" "));
const MOST_DEPTH = 20;

/** Returns the values that say something: nulls, empty texts and empty lists are left out. */
export function leavesIn(canonical: string, schema?: ForeignSchema): ArgumentLeaf[] {
  return below(readExactJson(canonical), [], schema);
}

function below(value: unknown, path: readonly string[], schema: unknown): ArgumentLeaf[] {
  if (isJsonObject(value) && path.length < MOST_DEPTH) {
    const properties = isJsonObject(schema) && isJsonObject(schema["properties"]) ? schema["properties"] : {};
    return Object.entries(value).flatMap(([name, member]) => {
      const isWrapper = isJsonObject(member) && WRAPPERS.has(name);
      const of = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return below(member, isWrapper ? path : [...path, titled(name, of)], of);
    });
  }
  const leaf = valueOf(value);
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
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return null;
  if (typeof value === "boolean") return { kind: "switch", on: value };
  if (value === "true" || value === "false") return { kind: "switch", on: value === "true" };
  if (typeof value === "string") return value.trim() === "" ? null : { kind: "text", text: value };
  if (typeof value === "number" || isExactNumber(value)) return { kind: "number", text: canonicalExact(value) };
  return { kind: "list", items: Array.isArray(value) ? value : [value] };
}

/** Returns whether a word is in the name of a leaf. */
export function isNamed({ words }: ArgumentLeaf, kind: ReadonlySet<string>): boolean {
  return words.some((word) => kind.has(word));
}

/** Returns the text of a leaf that is a text or a number; null for any other. */
export function textOf({ value }: ArgumentLeaf): string | null {
  return value.kind === "text" || value.kind === "number" ? value.text : null;
}
