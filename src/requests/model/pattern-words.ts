import { printableExactly } from "../../lib/printable.ts";
import type { GrantPattern } from "../../policy/model/pattern.ts";
import type { Language } from "./sentence-words.ts";

/** The words of a pattern, in a language of the readers. Each text of a call is in quotes. */
interface PatternWords {
  command: (pattern: string, isOpen: boolean) => string;
  /** Says which words the dots of an open command stand for. */
  rest: string;
  file: (path: string) => string;
  below: (folder: string) => string;
  anyFile: string;
  inFolder: (folder: string) => string;
  anyFolder: string;
  by: (agent: string) => string;
  any: (name: string) => string;
  between: (name: string, least: string, most: string) => string;
  is: (name: string, values: readonly string[]) => string;
  run: string;
  and: string;
}

const EN: PatternWords = {
  command: (pattern, isOpen) => (isOpen ? `“${pattern} …”` : `exactly “${pattern}”`),
  rest: "“…” is any further words that stay in the folder",
  file: (path) => `the file “${path}”`,
  below: (folder) => `any file below “${folder}”`,
  anyFile: "any file of the folder",
  inFolder: (folder) => `in “${folder}”`,
  anyFolder: "in any folder",
  by: (agent) => `by “${agent}”`,
  any: (name) => `any ${name}`,
  between: (name, least, most) => `${name} from ${least} to ${most}`,
  is: (name, values) => `${name} ${values.join(" or ")}`,
  run: "in this session",
  and: "and",
};

const DE: PatternWords = {
  command: (pattern, isOpen) => (isOpen ? `„${pattern} …“` : `genau „${pattern}“`),
  rest: "„…“ sind beliebige weitere Wörter, die im Ordner bleiben",
  file: (path) => `die Datei „${path}“`,
  below: (folder) => `jede Datei unter „${folder}“`,
  anyFile: "jede Datei des Ordners",
  inFolder: (folder) => `in „${folder}“`,
  anyFolder: "in jedem Ordner",
  by: (agent) => `von „${agent}“`,
  any: (name) => `${name} beliebig`,
  between: (name, least, most) => `${name} von ${least} bis ${most}`,
  is: (name, values) => `${name} ${values.join(" oder ")}`,
  run: "in dieser Sitzung",
  and: "und",
};

const AR: PatternWords = {
  command: (pattern, isOpen) => (isOpen ? `«${pattern} …»` : `«${pattern}» تحديدًا`),
  rest: "«…» أي كلمات أخرى تبقى ضمن المجلد",
  file: (path) => `الملف «${path}»`,
  below: (folder) => `أي ملف ضمن «${folder}»`,
  anyFile: "أي ملف في المجلد",
  inFolder: (folder) => `في «${folder}»`,
  anyFolder: "في أي مجلد",
  by: (agent) => `بواسطة «${agent}»`,
  any: (name) => `${name}: أي قيمة`,
  between: (name, least, most) => `${name} من ${least} إلى ${most}`,
  is: (name, values) => `${name} ${values.join(" أو ")}`,
  run: "في هذه الجلسة",
  and: "و",
};

const ALL: Readonly<Record<Language, PatternWords>> = { en: EN, de: DE, ar: AR };

type Conditions = GrantPattern["when"];
type Tests = Readonly<Record<string, unknown>>;

/** Returns a pattern in one sentence that names all that it asks of a call; every character of it is seen. */
export function patternSentence({ when, run }: GrantPattern, language: Language): string {
  const words = ALL[language];
  const { fn, agent, args = {} } = when as { fn: string; agent: string; args?: Readonly<Record<string, Tests>> };
  const { "/cwd": folder, "": shape, ...others } = args;
  const things = thingsOf(when, words);
  const isBound = things.length === 0;
  const where = isBound
    ? []
    : [folder === undefined ? words.anyFolder : words.inFolder(printableExactly(String(folder["equals"])))];
  const members = isBound ? argumentWords({ ...others, ...(folder && { "/cwd": folder }) }, shape, words) : [];
  const parts = [
    things.join(` ${words.and} `),
    ...members,
    ...where,
    words.by(printableExactly(agent)),
    ...(run === undefined ? [] : [words.run]),
  ];
  const isOpen = commandsOf(when).some((one) => one.endsWith(" *"));
  const rest = isOpen ? ` (${words.rest})` : "";
  return `${printableExactly(fn)}: ${parts.filter((part) => part !== "").join(", ")}${rest}`;
}

const commandsOf = ({ command }: Conditions): readonly string[] => (command ?? []) as readonly string[];

function thingsOf(when: Conditions, words: PatternWords): string[] {
  const commands = commandsOf(when);
  const { path } = when;
  if (commands.length > 0) {
    return commands.map((one) => {
      const isOpen = one.endsWith(" *");
      return words.command(printableExactly(isOpen ? one.slice(0, -2) : one), isOpen);
    });
  }
  if (typeof path !== "string") return [];
  if (path === "**") return [words.anyFile];
  const below = path.endsWith("/**") ? path.slice(0, -3) : null;
  return [below === null ? words.file(printableExactly(path)) : words.below(printableExactly(below))];
}

/** Returns what is asked of each argument, and which may have any value. */
function argumentWords(
  tests: Readonly<Record<string, Tests>>,
  shape: Tests | undefined,
  words: PatternWords,
): string[] {
  const free = membersOf(shape?.["schema"] as Schema | undefined, "").filter(
    (pointer) => !Object.keys(tests).some((one) => one === pointer || one.startsWith(`${pointer}/`)),
  );
  const asked = Object.entries(tests).flatMap(([pointer, test]) => testWords(nameOf(pointer), test, words));
  return [...asked, ...free.map((pointer) => words.any(nameOf(pointer)))];
}

function testWords(name: string, test: Tests, words: PatternWords): string[] {
  if ("length" in test) return [];
  if ("max" in test) {
    const [least, most] = [test["min"], test["max"]].map((number) => printableExactly(String(number)));
    return [words.between(name, least ?? "", most ?? "")];
  }
  const values = "one_of" in test ? (test["one_of"] as readonly unknown[]) : [test["equals"]];
  return [
    words.is(
      name,
      values.map((value) => printableExactly(JSON.stringify(value))),
    ),
  ];
}

interface Schema {
  properties?: Readonly<Record<string, Schema>>;
}

function membersOf(schema: Schema | undefined, pointer: string): string[] {
  const members = Object.entries(schema?.properties ?? {});
  if (members.length === 0) return pointer === "" ? [] : [pointer];
  return members.flatMap(([name, inner]) =>
    membersOf(inner, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}

const nameOf = (pointer: string): string =>
  printableExactly(pointer.slice(1).replaceAll("~1", "/").replaceAll("~0", "~"));
