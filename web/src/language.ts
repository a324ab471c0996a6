/** The language of the app: the one that was chosen on this device, else the browser's first that the app speaks. */
import { setting } from "./device.ts";

export const LANGUAGES = ["en", "de", "ar"] as const;
export type Language = (typeof LANGUAGES)[number];

export const chosenLanguage = setting("language", ["browser", ...LANGUAGES], "browser");

const tags = navigator.languages.filter(isKnown);
const languageOf = (tag: string): Language | undefined => LANGUAGES.find((one) => one === tag.split("-")[0]);

export const language: Language = ((chosen) =>
  chosen === "browser" ? (tags.map(languageOf).find((one) => one !== undefined) ?? "en") : chosen)(
  chosenLanguage.get(),
);

/** The language with the reader's own region, where the browser has one, for dates and numbers. */
export const locale: string = tags.find((tag) => languageOf(tag) === language) ?? language;

export const direction: "ltr" | "rtl" = language === "ar" ? "rtl" : "ltr";

/** The page wears the language and its direction. */
export function wearLanguage(): void {
  document.documentElement.lang = language;
  document.documentElement.dir = direction;
}

/** Some systems name their language in ways that no standard knows, such as `en-US@posix`. */
function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

const loading: Promise<void>[] = [];

/** The module that holds a table of texts in one language. */
type Table<T> = () => Promise<{ text: T }>;

/**
 * Returns a table of texts, in English until `textsLoaded` resolves. Begins to load the table of the reader's language,
 * whose texts then take the place of the English ones, group by group: a group may be kept in a constant, a text may not.
 */
export function translated<T extends object>(english: T, others: Record<Exclude<Language, "en">, Table<T>>): T {
  if (language !== "en") loading.push(others[language]().then(({ text }) => replace(english, text)));
  return english;
}

function replace(texts: object, by: object): void {
  const into = texts as Record<string, unknown>;
  for (const [name, value] of Object.entries(by) as [string, unknown][]) {
    const kept = into[name];
    if (typeof kept === "object" && kept !== null) replace(kept, value as object);
    else into[name] = value;
  }
}

/** Resolves when every table that is in use has its texts; one that cannot be loaded stays English. */
export async function textsLoaded(): Promise<void> {
  await Promise.allSettled(loading);
}

/** Resolves with a module when the tables that it uses have their texts. */
export async function withTexts<M>(module: Promise<M>): Promise<M> {
  const loaded = await module;
  await textsLoaded();
  return loaded;
}
