import { findNodeAtLocation, getNodeValue, parseTree, type Node, type ParseError } from "jsonc-parser";

/** The text is not JSON, with or without comments. */
export class NotJson extends Error {}

/**
 * Returns the text of a JSON file with `value` at `path`; every other byte stays as it was, comments included. Without
 * a value what stands there is taken out, and so are the objects around it that are empty then: taking out what was put
 * in gives the first text back.
 *
 * @throws {NotJson} also where something on the way is no object
 */
export function editJson(text: string, path: readonly string[], value?: object): string {
  if (text.trim() === "") return value === undefined ? text : `${JSON.stringify(nested(path, value), null, 2)}\n`;
  const tree = treeOf(text);
  let parent = tree;
  let depth = 0;
  for (; ; depth += 1) {
    if (parent.type !== "object") throw new NotJson(`${path.slice(0, depth).join(".") || "the whole"} is no object`);
    const child = depth < path.length - 1 ? findNodeAtLocation(parent, [path[depth] ?? ""]) : undefined;
    if (!child) break;
    parent = child;
  }
  const name = path[depth] ?? "";
  const property = parent.children?.find(({ children }) => children?.[0]?.value === name);
  if (value === undefined) return property ? without(text, parent, property, path.slice(0, depth)) : text;

  const styling = stylingOf(text, parent);
  const written = writtenAs(nested(path.slice(depth + 1), value), styling);
  const old = property?.children?.[1];
  if (old) return spliced(text, old.offset, endOf(old), written);
  const { eol, indent, outer, isOneLine } = styling;
  const entry = `${JSON.stringify(name)}:${isOneLine ? "" : " "}${written}`;
  const last = parent.children?.at(-1);
  if (last) return spliced(text, endOf(last), endOf(last), isOneLine ? `,${entry}` : `,${eol}${indent}${entry}`);
  const inside = isOneLine ? entry : `${eol}${indent}${entry}${eol}${outer}`;
  return spliced(text, parent.offset, endOf(parent), `{${inside}}`);
}

/**
 * Returns the text with one more value at the end of the list at `path`, which holds a value already, written as that
 * one is.
 *
 * @throws {NotJson} where there is no such list
 */
export function appendToJsonList(text: string, path: readonly (string | number)[], value: object | string): string {
  const list = listAt(text, path);
  const styling = stylingOf(text, list);
  const last = list.children?.at(-1);
  if (!last) throw new NotJson(`${path.join(".")} is empty`);
  const between = styling.isOneLine ? ", " : `,${styling.eol}${styling.indent}`;
  return spliced(text, endOf(last), endOf(last), between + writtenAs(value, styling));
}

/** Returns the text without the value at `path`, whose last member is a place in a list. @throws {NotJson} */
export function removeFromJsonList(text: string, path: readonly (string | number)[]): string {
  const values = listAt(text, path.slice(0, -1)).children ?? [];
  const place = Number(path.at(-1));
  const [before, one, after] = [values[place - 1], values[place], values[place + 1]];
  if (!one) throw new NotJson(`${path.join(".")} is missing`);
  if (before) return spliced(text, endOf(before), endOf(one), "");
  return spliced(text, one.offset, after ? after.offset : endOf(one), "");
}

/** Returns the value at `path`; undefined where none stands. @throws {NotJson} */
export function jsonAt(text: string, path: readonly string[]): unknown {
  if (text.trim() === "") return undefined;
  const node = findNodeAtLocation(treeOf(text), [...path]);
  return node && (getNodeValue(node) as unknown);
}

function listAt(text: string, path: readonly (string | number)[]): Node {
  const list = findNodeAtLocation(treeOf(text), [...path]);
  if (list?.type !== "array") throw new NotJson(`${path.join(".")} is no list`);
  return list;
}

/** True when nothing is left in the file. */
export function isEmptyJson(text: string): boolean {
  return text.trim() === "" || treeOf(text).children?.length === 0;
}

const endOf = ({ offset, length }: Node): number => offset + length;
const spliced = (text: string, from: number, to: number, by: string): string =>
  text.slice(0, from) + by + text.slice(to);

/**
 * Returns the value of a text as a program reads it that takes JSON without comments alone; undefined for a blank text.
 *
 * @throws {NotJson} also for a name that an object has twice, for a comment, and for a comma after the last value
 */
export function readPlainJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  treeOf(text);
  try {
    return JSON.parse(text);
  } catch {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true });
    const line = lineOf(text, errors[0]?.offset ?? 0);
    throw new NotJson(`line ${line} has a comment, or a comma that no value follows, and its program reads neither`);
  }
}

/** @throws {NotJson} also where programs read different things: this module takes the first of two members, others the last. */
function treeOf(text: string): Node {
  const tree = parsedTree(text);
  for (const nodes = [tree]; ;) {
    const node = nodes.pop();
    if (!node) return tree;
    const names = new Set<unknown>();
    for (const child of node.children ?? []) {
      const [name] = child.type === "property" ? (child.children ?? []) : [];
      if (name && names.has(name.value)) {
        throw new NotJson(`it has the name ${JSON.stringify(name.value)} twice at line ${lineOf(text, name.offset)}`);
      }
      if (name) names.add(name.value);
      nodes.push(child);
    }
  }
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

function parsedTree(text: string): Node {
  if (text.startsWith("\ufeff")) throw new NotJson("it begins with a byte order mark: save it without one");
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  if (tree && errors.length === 0) return tree;
  throw new NotJson(`it is not valid JSON at line ${lineOf(text, errors[0]?.offset ?? 0)}`);
}

function nested(path: readonly string[], value: object): object {
  return path.reduceRight<object>((inner, name) => ({ [name]: inner }), value);
}

function without(text: string, parent: Node, property: Node, around: readonly string[]): string {
  const siblings = parent.children ?? [];
  const place = siblings.indexOf(property);
  const [before, after] = [siblings[place - 1], siblings[place + 1]];
  if (before) return spliced(text, endOf(before), endOf(property), "");
  if (after) return spliced(text, property.offset, after.offset, "");
  return around.length > 0 ? editJson(text, around) : spliced(text, parent.offset, endOf(parent), "{}");
}

interface Styling {
  eol: string;
  /** One level. */
  unit: string;
  /** Before the members of the object. */
  indent: string;
  /** Before its closing bracket. */
  outer: string;
  isOneLine: boolean;
}

/** Returns how an object is written: what is added to it looks the same. */
function stylingOf(text: string, object: Node): Styling {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const outer = indentAt(text, object.offset);
  const first = object.children?.[0];
  const isFirstOnItsLine = first !== undefined && text.slice(object.offset, first.offset).includes("\n");
  // An empty object says nothing of how it would be written: the rest of the file does.
  const whole = text.trim();
  const isOneLine = first === undefined ? whole !== "{}" && !whole.includes("\n") : !isFirstOnItsLine;
  return { eol, unit, indent: isFirstOnItsLine ? indentAt(text, first.offset) : outer + unit, outer, isOneLine };
}

/** Returns the white space at the start of the line that holds the place. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

function writtenAs(value: object | string, { eol, unit, indent, isOneLine }: Styling): string {
  if (isOneLine) return JSON.stringify(value);
  return JSON.stringify(value, null, unit.startsWith("\t") ? "\t" : unit).replaceAll("\n", eol + indent);
}
