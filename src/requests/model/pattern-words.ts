import { memberPointer, pointerParts } from "../../lib/json/json-pointer.ts";
import { printableExactly } from "../../lib/printable.ts";
import type { GrantPattern } from "../../policy/model/pattern.ts";
import type { Language } from "./sentence-words.ts";

/** The words of a pattern, in a language of the readers. Each text of a call is in quotes. */
interface PatternWords {
  command: (pattern: string, isOpen: boolean) => string;
  /** Says which words the dots of an open command stand for. */
  rest: string;
  /** Says that several commands need not stand as they stood. */
  loose: string;
  file: (path: string) => string;
  below: (folder: string) => string;
  anyFile: string;
  /** Says that the text of a tool for files is free. */
  content: string;
  inFolder: (folder: string) => string;
  anyFolder: string;
  by: (agent: string) => string;
  any: (name: string) => string;
  between: (name: string, least: string, most: string) => string;
  is: (name: string, values: readonly string[]) => string;
  run: string;
  and: string;
  unreadable: string;
}

const EN: PatternWords = {
  command: (pattern, isOpen) => (isOpen ? `“${pattern} …”` : `exactly “${pattern}”`),
  rest: "“…” is any further words that stay in the folder",
  loose: "in any order, each also repeated or left out",
  file: (path) => `the file “${path}”`,
  below: (folder) => `any file below “${folder}”`,
  anyFile: "any file of the folder",
  content: "with any content or search",
  inFolder: (folder) => `in “${folder}”`,
  anyFolder: "in any folder",
  by: (agent) => `by “${agent}”`,
  any: (name) => `any ${name}`,
  between: (name, least, most) => `${name} from ${least} to ${most}`,
  is: (name, values) => `${name} ${values.join(" or ")}`,
  run: "in this session",
  and: "and",
  unreadable: "nothing: the pattern cannot be read",
};

const DE: PatternWords = {
  command: (pattern, isOpen) => (isOpen ? `„${pattern} …“` : `genau „${pattern}“`),
  rest: "„…“ sind beliebige weitere Wörter, die im Ordner bleiben",
  loose: "in beliebiger Folge, jeder auch mehrfach oder gar nicht",
  file: (path) => `die Datei „${path}“`,
  below: (folder) => `jede Datei unter „${folder}“`,
  anyFile: "jede Datei des Ordners",
  content: "mit beliebigem Inhalt oder Suchtext",
  inFolder: (folder) => `in „${folder}“`,
  anyFolder: "in jedem Ordner",
  by: (agent) => `von „${agent}“`,
  any: (name) => `${name} beliebig`,
  between: (name, least, most) => `${name} von ${least} bis ${most}`,
  is: (name, values) => `${name} ${values.join(" oder ")}`,
  run: "in dieser Sitzung",
  and: "und",
  unreadable: "nichts: das Muster ist nicht lesbar",
};

const AR: PatternWords = {
  command: (pattern, isOpen) => (isOpen ? `«${pattern} …»` : `«${pattern}» تحديدًا`),
  rest: "«…» أي كلمات أخرى تبقى ضمن المجلد",
  loose: "بأي ترتيب، مع جواز تكرار كل منها أو حذفه",
  file: (path) => `الملف «${path}»`,
  below: (folder) => `أي ملف ضمن «${folder}»`,
  anyFile: "أي ملف في المجلد",
  content: "بأي محتوى أو نص بحث",
  inFolder: (folder) => `في «${folder}»`,
  anyFolder: "في أي مجلد",
  by: (agent) => `بواسطة «${agent}»`,
  any: (name) => `${name}: أي قيمة`,
  between: (name, least, most) => `${name} من ${least} إلى ${most}`,
  is: (name, values) => `${name} ${values.join(" أو ")}`,
  run: "في هذه الجلسة",
  and: "و",
  unreadable: "لا شيء: تعذرت قراءة النمط",
};

const ALL: Readonly<Record<Language, PatternWords>> = { en: EN, de: DE, ar: AR };

type Conditions = GrantPattern["when"];
type Tests = Readonly<Record<string, unknown>>;
type Arguments = Readonly<Record<string, Tests>>;

/** Returns a pattern in one sentence that names all that it asks of a call; every character of it is seen. */
export function patternSentence({ when, run }: GrantPattern, language: Language): string {
  const words = ALL[language];
  const { fn, agent, path, args = {} } = when as { fn?: string; agent?: string; path?: string; args?: Arguments };
  if (fn === undefined || agent === undefined) return words.unreadable;
  const { "/cwd": folder, ...others } = args;
  const commands = commandsOf(when);
  const isBound = commands.length > 0 || path !== undefined;
  const where = folder === undefined ? words.anyFolder : words.inFolder(inQuotes(String(folder["equals"])));
  const parts = [
    ...(commands.length > 0 ? [commandWords(commands, words)] : []),
    ...(commands.length > 1 ? [words.loose] : []),
    ...(path === undefined ? [] : [pathWords(path, words)]),
    ...argumentWords(isBound ? others : args, words),
    ...(path === undefined ? [] : [words.content]),
    ...(isBound ? [where] : []),
    words.by(inQuotes(agent)),
    ...(run === undefined ? [] : [words.run]),
  ];
  const rest = commands.some(isOpen) ? ` (${words.rest})` : "";
  return `${plainName(fn)}: ${parts.join(", ")}${rest}`;
}

/** Returns a text for between quotes: it cannot end them. */
const inQuotes = (text: string): string =>
  printableExactly(text).replace(/[“”„«»]/g, (quote) => `\\u${quote.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Returns a name as it is, if it can be taken for no other word of the sentence; else in quotes. */
const plainName = (name: string): string =>
  /^[\p{L}\p{M}\p{N}_.$@~*+-]+$/u.test(name) ? printableExactly(name) : printableExactly(JSON.stringify(name));

const commandsOf = ({ command }: Conditions): readonly string[] => (command ?? []) as readonly string[];
const isOpen = (command: string): boolean => command.endsWith(" *");

function commandWords(commands: readonly string[], words: PatternWords): string {
  const each = commands.map((one) => words.command(inQuotes(isOpen(one) ? one.slice(0, -2) : one), isOpen(one)));
  return each.join(` ${words.and} `);
}

function pathWords(path: string, words: PatternWords): string {
  if (path === "**") return words.anyFile;
  return path.endsWith("/**") ? words.below(inQuotes(path.slice(0, -3))) : words.file(inQuotes(path));
}

/** Returns what is asked of each argument, and which may have any value. */
function argumentWords(tests: Arguments, words: PatternWords): string[] {
  const within = Object.entries(tests).flatMap(([place, { schema }]) =>
    Object.entries(innerOf(schema as Schema | undefined)).flatMap(([name, one]) =>
      placesIn(one, memberPointer(place, name)),
    ),
  );
  const beside = Object.keys(tests).filter((one) => tests[one]?.["schema"] === undefined);
  const others = beside.filter((one) => !within.some(({ place }) => place === one)).map((place) => ({ place }));
  return [...within, ...others].map(({ place, value }: Place) => {
    const name = placeName(place);
    if (value !== undefined) return words.is(name, [value]);
    const test = Object.hasOwn(tests, place) ? tests[place] : undefined;
    return test ? testWords(name, test, words) : words.any(name);
  });
}

function testWords(name: string, test: Tests, words: PatternWords): string {
  if ("max" in test) {
    const [least, most] = [test["min"], test["max"]].map((number) => printableExactly(String(number)));
    return words.between(name, least ?? "", most ?? "");
  }
  const values = "one_of" in test ? (test["one_of"] as readonly unknown[]) : [test["equals"]];
  return words.is(
    name,
    values.map((value) => printableExactly(JSON.stringify(value))),
  );
}

interface Schema {
  type?: string;
  properties?: Readonly<Record<string, Schema>>;
  prefixItems?: readonly Schema[];
}

/** One place in the arguments, as a JSON Pointer; with its value where that is an empty list or block. */
interface Place {
  place: string;
  value?: string;
}

function placesIn(schema: Schema, place: string): Place[] {
  const inner = Object.entries(innerOf(schema));
  if (inner.length > 0) return inner.flatMap(([name, one]) => placesIn(one, memberPointer(place, name)));
  const value = schema.type === "array" ? "[]" : schema.type === "object" ? "{}" : undefined;
  return [{ place, ...(value !== undefined && { value }) }];
}

const innerOf = ({ properties, prefixItems }: Schema = {}): Readonly<Record<string, Schema>> =>
  properties ?? Object.fromEntries((prefixItems ?? []).entries());

const placeName = (place: string): string => (pointerParts(place) ?? [place]).map(plainName).join("/");
