import { isExactNumber } from "../../lib/exact-json.ts";

/** What a template can reach. */
export type Values = Readonly<Record<string, unknown>>;

/** What stands between the braces of a template. */
export type Condition =
  | { is: "value"; value: string | number | boolean | null }
  | { is: "path"; steps: readonly (string | number)[] }
  | { is: "json"; of: Condition; indent: number }
  | { is: "not"; of: Condition }
  | { is: "equal"; one: Condition; other: Condition; differs: boolean }
  | { is: "or" | "and"; of: readonly Condition[] };

const MOST_TOKENS = 200;
const MOST_INDENT = 8;
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(==|!=|[.|()=[\]]))/y;
const WORDS: Readonly<Record<string, boolean | null>> = {
  ...{ true: true, True: true, false: false, False: false },
  ...{ none: null, None: null },
};

type Token = { is: "text" | "number" | "name" | "sign"; text: string };

/** Reads what stands between the braces of a template, or says what is wrong with it. */
export function readCondition(text: string): { condition: Condition } | { wrong: string } {
  const tokens = split(text);
  if (tokens === null) return { wrong: `“${text.trim().slice(0, 60)}” is not understood` };
  if (tokens.length > MOST_TOKENS) return { wrong: "is too long" };
  let at = 0;
  const isNext = (...texts: string[]) => {
    const token = tokens[at];
    return token !== undefined && token.is !== "text" && texts.includes(token.text);
  };
  const take = (sign: string): boolean => {
    if (!isNext(sign)) return false;
    at += 1;
    return true;
  };
  class Wrong extends Error {}
  const wrong = (): never => {
    throw new Wrong(`“${text.trim().slice(0, 60)}” is not understood`);
  };

  const joined = (word: "or" | "and", part: () => Condition): Condition => {
    const of = [part()];
    while (take(word)) of.push(part());
    const [only, ...more] = of;
    return only !== undefined && more.length === 0 ? only : { is: word, of };
  };
  const either = (): Condition => joined("or", () => joined("and", negated));
  const negated = (): Condition => (take("not") ? { is: "not", of: negated() } : compared());
  function compared(): Condition {
    const one = filtered();
    if (!isNext("==", "!=")) return one;
    const differs = tokens?.[at]?.text === "!=";
    at += 1;
    return { is: "equal", one, other: filtered(), differs };
  }
  function filtered(): Condition {
    let of = single();
    while (take("|")) {
      if (!take("tojson")) wrong();
      let indent = 0;
      if (take("(")) {
        if (take("indent")) {
          if (!take("=")) wrong();
          indent = Math.min(MOST_INDENT, Number(tokens?.[at]?.is === "number" ? tokens[at]?.text : wrong()));
          at += 1;
        }
        if (!take(")")) wrong();
      }
      of = { is: "json", of, indent };
    }
    return of;
  }
  function single(): Condition {
    const token = tokens?.[at] ?? wrong();
    at += 1;
    if (token.is === "text") return { is: "value", value: token.text };
    if (token.is === "number") return { is: "value", value: Number(token.text) };
    if (token.text === "(") {
      const inner = either();
      return take(")") ? inner : wrong();
    }
    if (token.is === "sign" || ["or", "and", "not", "in"].includes(token.text)) return wrong();
    const word = Object.hasOwn(WORDS, token.text) ? WORDS[token.text] : undefined;
    if (word !== undefined) return { is: "value", value: word };
    const steps: (string | number)[] = [token.text];
    while (isNext(".", "[")) {
      const isDot = take(".");
      if (!isDot) at += 1;
      const step = tokens?.[at] ?? wrong();
      at += 1;
      if (isDot ? step.is !== "name" : step.is !== "text" && step.is !== "number") wrong();
      steps.push(step.is === "number" ? Number(step.text) : step.text);
      if (!isDot && !take("]")) wrong();
    }
    return { is: "path", steps };
  }

  try {
    const condition = either();
    return at === tokens.length ? { condition } : { wrong: wrong() };
  } catch (error) {
    if (error instanceof Wrong) return { wrong: error.message };
    throw error;
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
    if (quoted !== undefined) tokens.push({ is: "text", text: quoted.slice(1, -1).replace(/\\(.)/g, "$1") });
    else if (number !== undefined) tokens.push({ is: "number", text: number });
    else if (name !== undefined) tokens.push({ is: "name", text: name });
    else tokens.push({ is: "sign", text: sign ?? "" });
  }
  return tokens;
}

/** Returns what a condition comes to. What is not there is nothing, and only what a value itself holds is there. */
export function valueAt(condition: Condition, values: Values): unknown {
  switch (condition.is) {
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
        if (isTrue(last) === (condition.is === "or")) return last;
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
