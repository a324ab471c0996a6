import { indented } from "../../requests/model/view.ts";
import { canonicalExact, isExactNumber } from "../../lib/json/exact-json.ts";
import { escapedHtml } from "./html-text.ts";
import { isTrue, readCondition, valueAt, type TemplateExpression, type Values } from "./template-condition.ts";

/** A piece of a template. */
type Piece =
  | { kind: "text"; text: string }
  | { kind: "print"; value: TemplateExpression }
  | { kind: "if"; branches: readonly { when: TemplateExpression | null; then: readonly Piece[] }[] }
  | { kind: "for"; names: readonly string[]; over: TemplateExpression; each: readonly Piece[] };

export type Template = readonly Piece[];

/** An error in a template's syntax, with its line. */
export class TemplateError extends Error {
  readonly line: number;

  constructor(says: string, line: number) {
    super(says);
    this.name = "TemplateError";
    this.line = line;
  }
}

const MOST_NESTED = 20;
/** The most steps of one template in all, so that nested loops end. */
const MOST_STEPS = 20_000;
const MOST_CHARACTERS = 200_000;

interface Token {
  kind: "text" | "print" | "tag";
  text: string;
  line: number;
}

/**
 * Reads an agent's template: `{{ path }}`, `{% if %}`, `{% for %}`, `or`, comparisons and `tojson`, in the spelling of
 * Jinja. Nothing in it can be called, and nothing but the values it is given can be reached.
 *
 * @throws {TemplateError} with the line
 */
export function parseTemplate(source: string): Template {
  const tokens = tokensOf(source);
  let next = 0;
  const lastLine = source.split("\n").length;

  return piecesUntil([], 0).pieces;

  function piecesUntil(ends: readonly string[], depth: number): { pieces: Piece[]; end: string; rest: string } {
    const pieces: Piece[] = [];
    for (let token = tokens[next]; token; token = tokens[next]) {
      next += 1;
      const { line } = token;
      if (token.kind === "text") {
        pieces.push({ kind: "text", text: token.text });
        continue;
      }
      if (token.kind === "print") {
        pieces.push({ kind: "print", value: condition(token.text, line) });
        continue;
      }
      const [, word = "", rest = ""] = /^(\w*)(?!\w)\s*(?!\s)([^]*)$/.exec(token.text) ?? [];
      if (ends.includes(word)) return { pieces, end: word, rest };
      if (depth >= MOST_NESTED) throw new TemplateError(`may be nested ${MOST_NESTED} deep`, line);
      if (word === "if") pieces.push(ifPiece(rest, line, depth));
      else if (word === "for") pieces.push(forPiece(rest, line, depth));
      else throw new TemplateError(`{% ${word} %} has no place here`, line);
    }
    if (ends.length > 0) throw new TemplateError(`{% ${ends.at(-1)} %} is missing`, lastLine);
    return { pieces, end: "", rest: "" };
  }

  function ifPiece(first: string, line: number, depth: number): Piece {
    const branches: { when: TemplateExpression | null; then: Piece[] }[] = [];
    let when: TemplateExpression | null = condition(first, line);
    for (;;) {
      const ends = when === null ? ["endif"] : ["elif", "else", "endif"];
      const { pieces, end, rest } = piecesUntil(ends, depth + 1);
      branches.push({ when, then: pieces });
      if (end === "endif") return { kind: "if", branches };
      when = end === "else" ? null : condition(rest, tokens[next - 1]?.line ?? line);
    }
  }

  function forPiece(text: string, line: number, depth: number): Piece {
    const [, one, two, over] = /^([A-Za-z_]\w*)(?:\s*,\s*([A-Za-z_]\w*))?\s+in\s+(\S[^]*)$/.exec(text) ?? [];
    if (one === undefined || over === undefined)
      throw new TemplateError("{% for %} needs a name, in, and a list", line);
    const names = two === undefined ? [one] : [one, two];
    // The one way that templates write it; nothing is called.
    const list = condition(two === undefined ? over : over.replace(/\.items\(\)\s*$/, ""), line);
    const { pieces } = piecesUntil(["endfor"], depth + 1);
    return { kind: "for", names, over: list, each: pieces };
  }

  function condition(text: string, line: number): TemplateExpression {
    const read = readCondition(text);
    if ("wrong" in read) throw new TemplateError(read.wrong, line);
    return read.condition;
  }
}

/** Splits a template at its braces; a dash inside them takes the space outside. */
function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let trim = false;
  const lines = (text: string) => text.split("\n").length - 1;
  while (at < source.length) {
    const found = /\{[{%#]/g;
    found.lastIndex = at;
    const start = found.exec(source)?.index ?? source.length;
    const opened = source.slice(start, start + 2);
    const closing = { "{{": "}}", "{%": "%}", "{#": "#}" }[opened] ?? "";
    const takesBefore = source[start + 2] === "-";
    let text = source.slice(at, start);
    if (trim) text = text.trimStart();
    if (takesBefore) text = text.trimEnd();
    if (text !== "") tokens.push({ kind: "text", text, line });
    line += lines(source.slice(at, start));
    if (opened === "") break;

    const end = source.indexOf(closing, start + 2);
    if (end < 0) throw new TemplateError(`${closing} is missing`, line);
    const inner = source
      .slice(start + 2, end)
      .replace(/^-/, "")
      .replace(/-$/, "")
      .trim();
    if (opened !== "{#") tokens.push({ kind: opened === "{{" ? "print" : "tag", text: inner, line });
    trim = source[end - 1] === "-";
    line += lines(source.slice(start, end));
    at = end + 2;
  }
  return tokens;
}

/** Renders a template with these values, each of them escaped for HTML. A result that is too long is cut. */
export function renderTemplate(template: Template, values: Values): string {
  let out = "";
  let steps = 0;
  const isOver = () => steps > MOST_STEPS || out.length > MOST_CHARACTERS;

  function render(pieces: Template, known: Values): void {
    for (const piece of pieces) {
      steps += 1;
      if (isOver()) return;
      if (piece.kind === "text") out += piece.text;
      else if (piece.kind === "print") out += escapedHtml(printed(piece.value, known));
      else if (piece.kind === "if") {
        const taken = piece.branches.find(({ when }) => when === null || isTrue(valueAt(when, known)));
        if (taken) render(taken.then, known);
      } else {
        for (const given of listed(valueAt(piece.over, known), piece.names.length)) {
          if (isOver()) return;
          const own = Object.fromEntries(piece.names.map((name, i) => [name, given[i]]));
          render(piece.each, { ...known, ...own });
        }
      }
    }
  }

  render(template, values);
  return isOver() ? `${out.slice(0, MOST_CHARACTERS)}…` : out;
}

function printed(value: TemplateExpression, known: Values): string {
  const found = valueAt(value, known);
  if (value.kind === "json")
    return value.indent > 0 ? indented(canonicalExact(found), value.indent) : canonicalExact(found);
  if (found === undefined || found === null) return "";
  return typeof found === "string" ? found : canonicalExact(found);
}

/** Every member of a list, or of an object: by name alone, or with what it holds. */
function listed(value: unknown, wanted: number): unknown[][] {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return [];
  if (Array.isArray(value)) return value.map((one: unknown) => (wanted === 1 || !Array.isArray(one) ? [one] : one));
  return Object.entries(value);
}
