import { isExactNumber } from "../../lib/json/exact-json.ts";

/** The values that a template can read. */
export type Values = Readonly<Record<string, unknown>>;

/** An expression between the braces of a template. */
export type TemplateExpression =
  | { kind: "value"; value: string | number | boolean | null }
  | { kind: "path"; steps: readonly (string | number)[] }
  | { kind: "json"; of: TemplateExpression; indent: number }
  | { kind: "not"; of: TemplateExpression }
  | { kind: "equal"; one: TemplateExpression; other: TemplateExpression; differs: boolean }
  | { kind: "or" | "and"; of: readonly TemplateExpression[] };

const MOST_TOKENS = 200;
const MOST_INDENT = 8;
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(==|!=|[.|()=[\]]))/y;
const WORDS: Readonly<Record<string, boolean | null>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};

type Token = { kind: "text" | "number" | "name" | "sign"; text: string };

/** Reads what stands between the braces of a template, or says what is wrong with it. */
export function readCondition(text: string): { condition: TemplateExpression } | { wrong: string } {
  const notUnderstood = `“${text.trim().slice(0, 60)}” is not understood`;
  const tokens = split(text);
  if (tokens === null) return { wrong: notUnderstood };
  if (tokens.length > MOST_TOKENS) return { wrong: "is too long" };
  try {
    return { condition: new ConditionParser(tokens).whole() };
  } catch (error) {
    if (error instanceof Unexpected) return { wrong: notUnderstood };
    throw error;
  }
}

/** A token that cannot stand at its place in a condition. */
class Unexpected extends Error {}

/** Reads a condition from left to right, each operator by a method that reads those which bind closer. */
class ConditionParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** @throws {Unexpected} where the tokens are no condition, or more than one */
  whole(): TemplateExpression {
    const condition = this.#either();
    if (this.#at < this.#tokens.length) throw new Unexpected();
    return condition;
  }

  #isNext(...texts: string[]): boolean {
    const token = this.#tokens[this.#at];
    return token !== undefined && token.kind !== "text" && texts.includes(token.text);
  }

  #take(sign: string): boolean {
    if (!this.#isNext(sign)) return false;
    this.#at += 1;
    return true;
  }

  #require(sign: string): void {
    if (!this.#take(sign)) throw new Unexpected();
  }

  #next(): Token {
    const token = this.#tokens[this.#at];
    if (!token) throw new Unexpected();
    this.#at += 1;
    return token;
  }

  #either(): TemplateExpression {
    return this.#joined("or", () => this.#joined("and", () => this.#negated()));
  }

  #joined(word: "or" | "and", part: () => TemplateExpression): TemplateExpression {
    const of = [part()];
    while (this.#take(word)) of.push(part());
    const [only, ...more] = of;
    return only !== undefined && more.length === 0 ? only : { kind: word, of };
  }

  #negated(): TemplateExpression {
    return this.#take("not") ? { kind: "not", of: this.#negated() } : this.#compared();
  }

  #compared(): TemplateExpression {
    const one = this.#filtered();
    if (!this.#isNext("==", "!=")) return one;
    const differs = this.#next().text === "!=";
    return { kind: "equal", one, other: this.#filtered(), differs };
  }

  #filtered(): TemplateExpression {
    let of = this.#single();
    while (this.#take("|")) {
      this.#require("tojson");
      of = { kind: "json", of, indent: this.#take("(") ? this.#indent() : 0 };
    }
    return of;
  }

  /** Reads the arguments of `tojson`, after their opening bracket. */
  #indent(): number {
    let indent = 0;
    if (this.#take("indent")) {
      this.#require("=");
      const token = this.#next();
      if (token.kind !== "number") throw new Unexpected();
      indent = Math.min(MOST_INDENT, Number(token.text));
    }
    this.#require(")");
    return indent;
  }

  #single(): TemplateExpression {
    const token = this.#next();
    if (token.kind === "text") return { kind: "value", value: token.text };
    if (token.kind === "number") return { kind: "value", value: Number(token.text) };
    if (token.text === "(") {
      const inner = this.#either();
      this.#require(")");
      return inner;
    }
    if (token.kind === "sign" || ["or", "and", "not", "in"].includes(token.text)) throw new Unexpected();
    const word = Object.hasOwn(WORDS, token.text) ? WORDS[token.text] : undefined;
    if (word !== undefined) return { kind: "value", value: word };
    return { kind: "path", steps: this.#stepsFrom(token.text) };
  }

  /** Reads what is taken out of a name: `.name`, `["name"]` and `[0]`, as often as they come. */
  #stepsFrom(name: string): (string | number)[] {
    const steps: (string | number)[] = [name];
    while (this.#isNext(".", "[")) {
      const isDot = this.#next().text === ".";
      const step = this.#next();
      if (isDot ? step.kind !== "name" : step.kind !== "text" && step.kind !== "number") throw new Unexpected();
      steps.push(step.kind === "number" ? Number(step.text) : step.text);
      if (!isDot) this.#require("]");
    }
    return steps;
  }
}

function split(text: string): Token[] | null {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; text.slice(at).trim() !== ""; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found || tokens.length > MOST_TOKENS) return null;
    const [, quoted, number, name, sign] = found;
    if (quoted !== undefined) tokens.push({ kind: "text", text: quoted.slice(1, -1).replace(/\\(.)/g, "$1") });
    else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else tokens.push({ kind: "sign", text: sign ?? "" });
  }
  return tokens;
}

/** Returns the value of a condition. A missing value is undefined. Only a value's own members are read. */
export function valueAt(condition: TemplateExpression, values: Values): unknown {
  switch (condition.kind) {
    case "value":
      return condition.value;
    case "path":
      return condition.steps.reduce<unknown>((from, step) => own(from, step), values);
    case "json":
      return valueAt(condition.of, values);
    case "not":
      return !isTrue(valueAt(condition.of, values));
    case "equal":
      return (valueAt(condition.one, values) === valueAt(condition.other, values)) !== condition.differs;
    case "or":
    case "and": {
      let last: unknown;
      for (const one of condition.of) {
        last = valueAt(one, values);
        if (isTrue(last) === (condition.kind === "or")) return last;
      }
      return last;
    }
  }
}

/** As Jinja has it: nothing, naught and what is empty are false. */
export function isTrue(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return isExactNumber(value) || Object.keys(value).length > 0;
  return Boolean(value);
}

function own(from: unknown, step: string | number): unknown {
  if (typeof from !== "object" || from === null || isExactNumber(from)) return undefined;
  if (Array.isArray(from)) return typeof step === "number" ? (from as unknown[])[step] : undefined;
  return Object.hasOwn(from, String(step)) ? (from as Record<string, unknown>)[String(step)] : undefined;
}
