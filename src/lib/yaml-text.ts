import { Document, isMap, isScalar, type Node, Pair, Scalar, type ScalarTag, YAMLMap, YAMLSeq } from "yaml";
import { printable } from "./printable.ts";

/** A value below comments of one line each. */
export class NotedValue {
  readonly value: unknown;
  readonly notes: readonly string[];

  constructor(value: unknown, notes: readonly string[]) {
    this.value = value;
    this.notes = notes;
  }
}

const MOST_CHARS = 110;

/**
 * Returns the lines of a YAML list under a name. Short collections of plain values go on one line, as people write
 * them. Other characters than those of ASCII are escapes, so that no value looks like another one; notes have
 * escapes for what is unseen alone.
 */
export function listLines(name: string, items: readonly unknown[]): string[] {
  const document = new Document(nodeOf({ [name]: items }), {
    schema: "core",
    version: "1.2",
    customTags: (tags) => [ESCAPED, ...tags],
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: true }).trimEnd().split("\n");
}

function nodeOf(value: unknown): Node {
  if (value instanceof NotedValue) {
    const node = nodeOf(value.value);
    node.commentBefore = value.notes.map((note) => ` ${printable(note)}`).join("\n");
    return node;
  }
  // A reader could take -0 for another value than 0.
  if (typeof value !== "object" || value === null) return new Scalar(Object.is(value, -0) ? 0 : value);
  const collection = Array.isArray(value) ? new YAMLSeq<Node>() : new YAMLMap<Scalar, Node>();
  if (isMap<Scalar, Node>(collection))
    for (const [key, one] of Object.entries(value)) collection.add(new Pair(new Scalar(key), nodeOf(one)));
  else for (const one of value as unknown[]) collection.add(nodeOf(one));
  const members = collection.items.map((item) => ("key" in item ? item.value : item));
  const isPlain = members.every((one) => isScalar(one) && !one.commentBefore);
  collection.flow = isPlain && JSON.stringify(value).length <= MOST_CHARS;
  return collection;
}

const ESCAPED: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => typeof value === "string" && !/^[\x20-\x7e]*$/.test(value),
  resolve: (text) => text,
  stringify: ({ value }) => asciiJson(value),
};

/** Returns a value as JSON, which YAML reads as well, with other characters than those of ASCII as escapes. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
