import { parseArgs } from "node:util";

/** The command was not given what it needs: exit 2. */
export class WrongUsage extends Error {}

/** More about a flag or a word than its line of help. */
interface Detail {
  help: string;
  /** The possible values, which shells offer; others are refused, by `read` where there is one. */
  choices?: readonly string[];
  /** Makes a value of the text. @throws {WrongUsage} */
  read?: (text: string, name: string) => unknown;
  /** The text in the place of a flag that is left out; help names it. */
  default?: string;
  /** The variable of the environment whose text stands in for a flag that is left out. */
  env?: string;
  /** A flag that must be there; a text is the sentence about a missing one. */
  required?: true | string;
  /** The server's names for it, beside its own, so that a refusal names the flag. */
  wire?: readonly string[];
  /** Usage shows the flag as an alternative to the one before it. */
  or?: true;
}

/**
 * The words and flags of a command, each with its help, by the form in which usage shows it.
 *
 * `ID` is a word, `[FILE]` one that may be left out, `[AGENT...]` any number; `-- COMMAND [ARGUMENT...]` are the words
 * after `--`. `--json` is a switch, `--url URL` has a value, `--repo NAME...` may be given several times.
 */
export type Takes = Readonly<Record<string, string | Detail>>;

type InCamelCase<T extends string> = T extends `${infer A}-${infer B}` ? `${A}${Capitalize<InCamelCase<B>>}` : T;
/** A name of words that spaces and hyphens separate, such as `data-dir`, in camel case. */
export type CamelCase<T extends string> = T extends `${infer A} ${infer B}`
  ? `${A}${Capitalize<CamelCase<B>>}`
  : InCamelCase<T>;

/** Returns a name of words between spaces or hyphens as the member of an object that it becomes: `data-dir` is `dataDir`. */
export function camelCase<T extends string>(name: T): CamelCase<T> {
  return name.replaceAll(/[ -]\w/g, (found) => found.slice(1).toUpperCase()) as CamelCase<T>;
}

type Name<F> = F extends `-- ${infer N} ${string}`
  ? Lowercase<N>
  : F extends `[-- ${infer N}]`
    ? Lowercase<N>
    : F extends `[${infer N}]`
      ? Lowercase<N extends `${infer M}...` ? M : N>
      : F extends `--${infer N} ${string}`
        ? CamelCase<N>
        : F extends `--${infer N}`
          ? CamelCase<N>
          : Lowercase<F & string>;
type One<D> = D extends { read: (text: string, name: string) => infer T }
  ? T
  : D extends { choices: readonly (infer T)[] }
    ? T
    : string;
type Value<D, T> = D extends { required: true | string } | { default: string } ? T : T | undefined;
type Argument<F, D> = F extends `-- ${string}`
  ? readonly [string, ...string[]]
  : F extends `[-- ${string}]`
    ? readonly string[] | undefined
    : F extends `--${string} ${string}...`
      ? Value<D, One<D>[]>
      : F extends `--${string} ${string}`
        ? Value<D, One<D>>
        : F extends `--${string}`
          ? boolean
          : F extends `[${string}...]`
            ? One<D>[]
            : F extends `[${string}]`
              ? One<D> | undefined
              : One<D>;

/** The values of a command line: words by their lower-case names, flags by theirs in camel case. */
export type Arguments<T> = { [F in keyof T as Name<F>]: Argument<F, T[F]> };

/** A flag or a word, as its form and its detail declare it. */
export interface Taken extends Detail {
  kind: "word" | "rest" | "switch" | "value";
  /** How sentences name it, such as `--url` or `ID`. */
  name: string;
  /** How help shows it, such as `--url URL`. */
  shown: string;
  isOptional: boolean;
  isMany: boolean;
}

/** Returns what a command takes, in the order in which help shows it. */
export function takenIn(takes: Takes): Taken[] {
  return Object.entries(takes).map(([form, about]) => {
    const detail = typeof about === "string" ? { help: about } : about;
    const isBracketed = form.startsWith("[");
    const bare = isBracketed ? form.slice(1, -1) : form;
    const isMany = bare.endsWith("...");
    const shown = isMany ? bare.slice(0, -3) : bare;
    const [first = "", value] = shown.split(" ");
    const kind = first === "--" ? "rest" : !first.startsWith("--") ? "word" : value === undefined ? "switch" : "value";
    const name = kind === "rest" ? (value ?? "") : first;
    const help = detail.default === undefined ? detail.help : `${detail.help}; left out, ${detail.default}`;
    const isOptional = kind === "word" || kind === "rest" ? isBracketed : detail.required === undefined;
    return { ...detail, kind, name, shown, help, isOptional, isMany };
  });
}

/** Returns whether this is a flag, and no word. */
export const isFlag = ({ kind }: Taken): boolean => kind === "switch" || kind === "value";

/** Returns flags one by one, and together where they are alternatives. */
export function alternativesIn(taken: readonly Taken[]): Taken[][] {
  const groups: Taken[][] = [];
  for (const flag of taken.filter(isFlag)) {
    if (flag.or) groups.at(-1)?.push(flag);
    else groups.push([flag]);
  }
  return groups;
}

/** Returns the values of a command line. @throws {WrongUsage}, and the errors of `parseArgs` */
export function readArguments<const T extends Takes>(
  takes: T,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Arguments<T> {
  const taken = takenIn(takes);
  const words = taken.filter(({ kind }) => kind === "word");
  const rest = taken.find(({ kind }) => kind === "rest");
  const end = rest && argv.includes("--") ? argv.indexOf("--") : argv.length;
  const { values, positionals } = parseArgs({
    args: argv.slice(0, end),
    allowPositionals: words.length > 0 || rest !== undefined,
    options: Object.fromEntries(
      taken.filter(isFlag).map(({ name, kind, isMany }) => {
        return [name.slice(2), { type: kind === "switch" ? ("boolean" as const) : "string", multiple: isMany }];
      }),
    ),
  });
  const read: [Taken, unknown][] = rest ? [[rest, restIn(rest, argv.slice(end))]] : [];
  read.push(...readWords(words, positionals));
  for (const flags of alternativesIn(taken)) {
    const names = flags.map(({ name }) => name);
    const given = names.filter((name) => values[name.slice(2)] !== undefined);
    if (flags.length > 1 && flags[0]?.required && given.length !== 1)
      throw new WrongUsage(`give one of ${names.join(", ")}`);
    for (const flag of flags)
      read.push([flag, flagValue(flag, values[flag.name.slice(2)] ?? (flag.env && env[flag.env]))]);
  }
  return Object.fromEntries(read.map(([one, value]) => [keyOf(one), value])) as Arguments<T>;
}

const keyOf = (one: Taken): string => (isFlag(one) ? camelCase(one.name.slice(2)) : one.name.toLowerCase());

function restIn({ name, isOptional }: Taken, [end, ...words]: readonly string[]): readonly string[] | undefined {
  if (words.length === 0 && !isOptional) throw new WrongUsage(`the ${name.toLowerCase()} is missing, after --`);
  return end === undefined ? undefined : words;
}

function readWords(words: readonly Taken[], texts: readonly string[]): [Taken, unknown][] {
  const [first] = words;
  if (first?.isMany && texts.includes("")) throw new WrongUsage(`${first.name} is empty`);
  if (first?.isMany) return [[first, texts.map((text) => valueOf(first, text))]];
  const names = words.map(({ name }) => name);
  if (texts.length > 0 && !first) throw new WrongUsage(`"${texts[0]}" is not expected here`);
  if (texts.length > words.length) {
    const quoted = words.length > 1 ? "what holds spaces" : "it if it holds spaces";
    throw new WrongUsage(`there is one ${names.join(" and one ")}; quote ${quoted}`);
  }
  const emptyWord = words.find((_, i) => texts[i] === "");
  if (emptyWord) throw new WrongUsage(`${emptyWord.name} is empty`);
  const needed = words.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  if (texts.length < needed.length)
    throw new WrongUsage(`${needed.join(" and ")} ${needed.length > 1 ? "are needed" : "is missing"}`);
  return words.map((word, i) => [word, texts[i] === undefined ? undefined : valueOf(word, texts[i])]);
}

type Given = string | boolean | readonly (string | boolean)[] | undefined;

function flagValue(flag: Taken, given: Given): unknown {
  if (flag.kind === "switch") return given === true;
  const text = given ?? flag.default;
  if (text !== undefined)
    return typeof text === "object" ? text.map((one) => valueOf(flag, String(one))) : valueOf(flag, String(text));
  if (!flag.required) return undefined;
  throw typeof flag.required === "string"
    ? new WrongUsage(flag.required)
    : flag.choices
      ? noChoice(flag)
      : new WrongUsage(`${flag.name} is missing`);
}

function valueOf(one: Taken, text: string): unknown {
  if (one.read) return one.read(text, one.name);
  if (one.choices?.includes(text) === false) throw noChoice(one);
  return text;
}

const noChoice = ({ name, choices = [] }: Taken): WrongUsage =>
  new WrongUsage(`${name} must be one of ${choices.join(", ")}`);
