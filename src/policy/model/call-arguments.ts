/** A number as its JSON text has it: no digit is lost (spec/relay 8). */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value within the arguments of a call. Members are in a Map, so that a name such as `__proto__` is a name. */
export type ArgumentValue =
  null | boolean | string | NumberText | readonly ArgumentValue[] | ReadonlyMap<string, ArgumentValue>;

/** Longer arguments are not read: no condition on them can be decided. */
const MOST_CHARS = 1_000_000;
/** Neither are arguments with more lists and blocks within one another. */
const MOST_LEVELS = 200;

/** TypeScript's types lack the third argument of a reviver. */
type ExactParse = (
  text: string,
  reviver: (name: string, value: unknown, source: { source?: string }) => unknown,
) => unknown;
const parse = JSON.parse as ExactParse;

/** The arguments of a call, read when a condition first asks for them. */
export class CallArguments {
  readonly #text: () => string;
  #root: ArgumentValue | undefined;
  #isRead = false;

  /** `text` returns JSON; it is called once, when a condition looks. */
  constructor(text: () => string) {
    this.#text = text;
  }

  /** The arguments as a whole; undefined when they are too long or too deep to be read, or no JSON. */
  get root(): ArgumentValue | undefined {
    if (!this.#isRead) {
      this.#isRead = true;
      const text = this.#text();
      this.#root = text.length > MOST_CHARS || isDeep(text) ? undefined : readArguments(text);
    }
    return this.#root;
  }

  /** Returns the value at a JSON Pointer (RFC 6901), given by its parts, or undefined. */
  at(path: readonly string[]): ArgumentValue | undefined {
    let value = this.root;
    for (const part of path) {
      if (value instanceof Map) value = value.get(part) as ArgumentValue | undefined;
      else if (Array.isArray(value)) value = INDEX.test(part) ? (value[Number(part)] as ArgumentValue) : undefined;
      else return undefined;
    }
    return value;
  }
}

const INDEX = /^(0|[1-9]\d{0,8})$/;

function isDeep(text: string): boolean {
  let levels = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (sign === "[" || sign === "{") levels += 1;
    else if (sign === "]" || sign === "}") levels -= 1;
    if (levels > MOST_LEVELS) return true;
  }
  return false;
}

function readArguments(text: string): ArgumentValue | undefined {
  try {
    return parse(text, (_name, value, { source }) => {
      if (typeof value === "number") return new NumberText(source ?? String(value));
      const isPlain = typeof value === "object" && value !== null && !Array.isArray(value);
      return isPlain && !(value instanceof NumberText) && !(value instanceof Map)
        ? new Map(Object.entries(value))
        : value;
    }) as ArgumentValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
