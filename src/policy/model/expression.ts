import {
  celEnv,
  celFunc,
  type CelFunc,
  type CelInput,
  CelScalar,
  isCelError,
  isCelList,
  isCelMap,
  mapType,
  parse,
  plan,
} from "@bufbuild/cel";
import { RE2JS } from "re2js";
import { isNumberText } from "../../lib/json/number-text.ts";
import { type Truth, doubleOf } from "./argument-conditions.ts";
import { type ArgumentValue, type CallArguments, NumberText } from "./call-arguments.ts";

type Expr = NonNullable<ReturnType<typeof parse>["expr"]>;

/** An expression of the Common Expression Language, ready to be asked (spec/relay 8). */
export interface Expression {
  text: string;
  /** Returns whether it holds of these arguments; null where it cannot be decided. */
  judge(args: CallArguments | undefined): Truth;
}

const MOST_CHARS = 2000;
const MOST_NODES = 300;
/** Steps of one evaluation, about 50 ms of them. */
const MOST_STEPS = 500_000;
/** Characters that one evaluation may hold against regular expressions. */
const MOST_MATCHED_CHARS = 10_000;
const VARIABLE = "args";

/** Characters that are read in the time of one step. */
const CHARS_OF_STEP = 5;
/** One value is compared with another in the time of so many. */
const STEPS_OF_VALUE = 3;
/** Made once, because a loop may meet it at each of its members. */
const TOO_MUCH = new Error("too much to look at");

let matchedChars = 0;
/** Steps within functions, which take as long as their values are large. */
let steps = 0;

const MAP = mapType(CelScalar.DYN, CelScalar.DYN);
const environment = celEnv({
  variables: { [VARIABLE]: CelScalar.DYN },
  funcs: [
    // The package's own takes a member that is null for missing.
    celFunc("@in", [CelScalar.STRING, MAP], CelScalar.BOOL, (name, map) => map.get(name) !== undefined),
    // The package is loose where a condition must not be: these say no before its own functions look.
    strict("@day", (value) => typeof value !== "string" || isDay(value)),
    strict("@decimal", (value) => typeof value !== "string" || isNumberText(value)),
    strict("@exact", isExact),
    strict("@span", (value) => typeof value === "string"),
    // Functions whose time depends on a value: it is weighed before they look.
    celFunc("@weighed", [CelScalar.DYN], CelScalar.DYN, weigh),
    celFunc("@listed", [CelScalar.DYN], CelScalar.DYN, (value) => (isCelList(value) ? weigh(value) : value)),
  ],
  re2: {
    compile(source) {
      const pattern = RE2JS.compile(source);
      return {
        test(text) {
          matchedChars += text.length;
          if (matchedChars > MOST_MATCHED_CHARS) throw new Error("too much to compare");
          return pattern.matcher(text).find();
        },
      };
    },
  },
});
const STRICTER: Readonly<Record<string, string>> = {
  timestamp: "@day",
  double: "@exact",
  int: "@decimal",
  uint: "@decimal",
  duration: "@span",
};

/** Functions that read a text from end to end, and those that compare two values, or the end of one with another. */
const READS_TEXT = new Set("size contains string bytes int uint double bool timestamp duration".split(" "));
const COMPARES = new Set("_==_ _!=_ _<_ _<=_ _>_ _>=_ startsWith endsWith".split(" "));

/** Returns the value. @throws {Error} when the values of this evaluation are more than it has time for */
function weigh<T>(value: T): T {
  steps += STEPS_OF_VALUE + (typeof value === "string" ? value.length / CHARS_OF_STEP : 0);
  if (steps > MOST_STEPS) throw TOO_MUCH;
  if (isCelList(value)) for (const item of value) weigh(item);
  else if (isCelMap(value)) for (const [, item] of value) weigh(item);
  return value;
}

/** Returns a function of the language that gives a value back if it is right, and else an error. */
function strict(name: string, isRight: (value: unknown) => boolean): CelFunc {
  return celFunc(name, [CelScalar.DYN], CelScalar.DYN, (value) => {
    if (!isRight(value)) throw new Error("not in this form");
    return value;
  });
}

/** Whether a double holds every digit of a number. */
function isExact(value: unknown): boolean {
  if (typeof value === "string") return doubleOf(new NumberText(value)) !== undefined;
  return typeof value !== "bigint" || BigInt(Number(value)) === value;
}

/** A day of RFC 3339 that the calendar has. */
function isDay(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)T/.exec(text) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

/**
 * Returns the expression that a text holds, or its problem, as the rest of a sentence that begins with the place of the
 * text. Every name, function and pattern is looked at here, because the language looks at them only on the way.
 */
export function readExpression(text: string): Expression | { problem: string } {
  if (text.length > MOST_CHARS) return { problem: `must have at most ${MOST_CHARS} characters` };
  let root: Expr | undefined;
  try {
    root = parse(text).expr;
  } catch (error) {
    const says = error instanceof Error ? error.message.replace(/^<input>:/, "") : String(error);
    return { problem: `is no expression: ${says}` };
  }
  if (!root) return { problem: "is empty" };
  const walk = new Walk();
  const strict = walk.through(root, new Set([VARIABLE]), 0);
  const problem = walk.problem ?? (walk.nodes > MOST_NODES ? `has more than ${MOST_NODES} parts` : undefined);
  if (problem !== undefined) return { problem };
  const evaluate = plan(environment, strict);
  return { text, judge: (args) => judge(evaluate, walk, args?.root) };
}

type Evaluate = (bindings: { [VARIABLE]: CelInput }) => unknown;

function judge(evaluate: Evaluate, { nodes, depth, listed, sums }: Walk, root: ArgumentValue | undefined): Truth {
  if (root === undefined) return null;
  const longest = Math.max(longestIn(root), listed) * (1 + sums);
  if (longest ** depth * nodes > MOST_STEPS) return null;
  matchedChars = 0;
  steps = 0;
  // A loop may meet an error at each member; to note where takes ten times as long as the rest.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const result = evaluate({ [VARIABLE]: valueOf(root) });
    return typeof result === "boolean" && !isCelError(result) ? result : null;
  } catch {
    // A number that the language has no value for.
    return null;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Every rule of a policy looks at the same arguments. */
const VALUES = new WeakMap<object, CelInput>();

function valueOf(root: ArgumentValue): CelInput {
  if (typeof root !== "object" || root === null) return toCel(root);
  let value = VALUES.get(root);
  if (value === undefined) VALUES.set(root, (value = toCel(root)));
  return value;
}

/** Returns the number of members of the longest list or block in here. */
function longestIn(value: ArgumentValue): number {
  const items = value instanceof Map ? [...value.values()] : Array.isArray(value) ? (value as ArgumentValue[]) : [];
  return items.reduce<number>((most, item) => Math.max(most, longestIn(item as ArgumentValue)), items.length);
}

const LEAST_INT = -(2n ** 63n);
const MOST_INT = 2n ** 63n - 1n;
/** The language refuses a symbol wherever it would look at one. */
const NO_VALUE = Symbol("a number beyond the language's") as unknown as CelInput;

function toCel(value: ArgumentValue): CelInput {
  if (value instanceof NumberText) return numberOf(value);
  if (Array.isArray(value)) return value.map((item: ArgumentValue) => toCel(item));
  if (!(value instanceof Map)) return value as null | boolean | string;
  return new Map([...value].map(([name, item]: [string, ArgumentValue]) => [name, toCel(item)]));
}

/** A whole number of 64 bits is an int, in whatever spelling; another one is a double, if that holds every digit. */
function numberOf(number: NumberText): CelInput {
  const double = doubleOf(number);
  const isWhole = double === undefined ? /^-?\d{1,19}$/.test(number.text) : Number.isInteger(double);
  const int = isWhole ? BigInt(double ?? number.text) : MOST_INT + 1n;
  return int >= LEAST_INT && int <= MOST_INT ? int : (double ?? NO_VALUE);
}

/** Looks at every part of an expression, and makes the strict one of it. */
class Walk {
  problem: string | undefined;
  nodes = 0;
  /** How deep its loops are nested. */
  depth = 0;
  /** The members of its longest list. */
  listed = 0;
  /** Its sums, of which each may join two lists. */
  sums = 0;

  /** Returns the part as it is evaluated. `names` are the variables that it may name, `loops` those around it. */
  through(expr: Expr, names: ReadonlySet<string>, loops: number): Expr {
    this.nodes += 1;
    this.depth = Math.max(this.depth, loops);
    const { exprKind: part } = expr;
    const within = (inner: Expr | undefined, known = names, depth = loops): Expr | undefined =>
      inner && this.through(inner, known, depth);
    const as = (exprKind: Expr["exprKind"]): Expr => ({ ...expr, exprKind });
    switch (part.case) {
      case "identExpr":
        if (!names.has(part.value.name)) this.#fault(`has no variable ${part.value.name}; it knows ${VARIABLE}`);
        return expr;
      case "selectExpr":
        return part.value.testOnly
          ? this.#call(expr, "@in", [textPart(expr, part.value.field), within(part.value.operand)])
          : as({ case: "selectExpr", value: { ...part.value, operand: within(part.value.operand) } });
      case "callExpr":
        return this.#callOf(expr, part.value, within);
      case "listExpr": {
        this.listed = Math.max(this.listed, part.value.elements.length);
        const elements = part.value.elements.map((one) => within(one) ?? one);
        return as({ case: "listExpr", value: { ...part.value, elements } });
      }
      case "structExpr":
        this.#fault("must make no block");
        return expr;
      case "comprehensionExpr": {
        const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } = part.value;
        const known = new Set([...names, iterVar, iterVar2, accuVar].filter(Boolean));
        const value = {
          ...part.value,
          iterRange: within(iterRange),
          accuInit: within(accuInit),
          loopCondition: within(loopCondition, known, loops + 1),
          loopStep: within(loopStep, known, loops + 1),
          result: within(result, known),
        };
        return as({ case: "comprehensionExpr", value } as Expr["exprKind"]);
      }
      case "constExpr": {
        const { constantKind: kind } = part.value;
        if (kind.case === "doubleValue" && Math.abs(kind.value) > Number.MAX_SAFE_INTEGER)
          this.#fault("must write a number above 2^53 without a point or an exponent");
        return expr;
      }
      case undefined:
        return expr;
    }
  }

  #callOf(
    expr: Expr,
    call: Extract<Expr["exprKind"], { case: "callExpr" }>["value"],
    within: (inner: Expr | undefined) => Expr | undefined,
  ): Expr {
    const { function: name } = call;
    if (name === "_+_") this.sums += 1;
    if (name !== "_?_:_" && name !== "_&&_" && name !== "_||_" && name !== "_[_]" && name !== "@not_strictly_false")
      if (!environment.funcs.find(name)) this.#fault(`has no function ${name}`);
    const [first] = call.args;
    if (name === "matches" && call.target && first?.exprKind.case === "constExpr") this.#checkPattern(first);
    const args = call.args.map((arg) => within(arg) ?? arg);
    const stricter = call.target || args.length !== 1 ? undefined : STRICTER[name];
    const strict = stricter === undefined ? args : args.map((arg) => this.#call(arg, stricter, [arg]));
    const target = within(call.target);
    const all = target ? [target, ...strict] : strict;
    const parts = this.#weighed(name, all) ?? all;
    const [on, ...rest] = parts;
    const value = target && on ? { ...call, args: rest, target: on } : { ...call, args: parts };
    return { ...expr, exprKind: { case: "callExpr", value } };
  }

  /** Returns the parts of a call with those weighed whose size makes it take long; undefined where none does. */
  #weighed(name: string, parts: readonly Expr[]): Expr[] | undefined {
    const weighs = (part: Expr, by = "@weighed") => (isWritten(part) ? part : this.#call(part, by, [part]));
    if (READS_TEXT.has(name)) return parts.map((part) => weighs(part, "@weighed"));
    if (name === "@in") return parts.map((part, at) => (at === 1 ? weighs(part, "@listed") : part));
    return COMPARES.has(name) && !parts.some(isWritten) ? parts.map((part) => weighs(part)) : undefined;
  }

  #checkPattern({ exprKind }: Expr): void {
    const constant = exprKind.case === "constExpr" ? exprKind.value.constantKind : undefined;
    if (constant?.case !== "stringValue") return;
    try {
      RE2JS.compile(constant.value);
    } catch {
      this.#fault(`has the pattern ${JSON.stringify(constant.value)}, which RE2 does not know`);
    }
  }

  #call(at: Expr, name: string, args: readonly (Expr | undefined)[]): Expr {
    const known = args.filter((arg) => arg !== undefined);
    const value = { $typeName: "cel.expr.Expr.Call" as const, function: name, args: known };
    return { ...at, exprKind: { case: "callExpr", value } };
  }

  #fault(says: string): void {
    this.problem ??= says;
  }
}

function textPart(at: Expr, text: string): Expr {
  const constantKind = { case: "stringValue" as const, value: text };
  return { ...at, exprKind: { case: "constExpr", value: { $typeName: "cel.expr.Constant", constantKind } } };
}

/** Whether a part is a value that the expression itself holds, or a list of such. */
function isWritten({ exprKind: part }: Expr): boolean {
  return part.case === "constExpr" || (part.case === "listExpr" && part.value.elements.every(isWritten));
}
