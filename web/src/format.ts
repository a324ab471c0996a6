/** Numbers, times and plurals in the reader's language. */
import { type Language, language, locale } from "./language.ts";

/** Lengths of time stand within sentences; English ones are the same in every region. */
const sentences = language === "en" ? language : locale;
const numbers = new Intl.NumberFormat(locale);
const percents = new Intl.NumberFormat(locale, { style: "percent" });
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(sentences, { numeric: "auto" });

export const number = (value: number): string => numbers.format(value);
export const percent = (share: number): string => percents.format(share);
export const day = (time: string | number): string => moments.format(new Date(time));

/** The forms of a phrase for the counts that a language tells apart; "#" stands for the count. */
export type CountedForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** Returns what picks the form of a phrase that goes with a count in a language, and puts the count into it. */
export function pluralsOf(of: Language): (value: number, forms: CountedForms) => string {
  const rules = new Intl.PluralRules(of);
  return (value, forms) => (forms[rules.select(value)] ?? forms.other).replace("#", number(value));
}

/** Words of others within a sentence, such as a name, whose direction leaves that of the sentence as it is. */
export const isolated = (words: string): string => `\u2068${words}\u2069`;

const english = pluralsOf("en");

/** Picks the form of a word that goes with a count in English or German, and puts the count before it. */
export function count(value: number, one: string, other: string): string {
  return english(value, { one: `# ${one}`, other: `# ${other}` });
}

const UNITS = [
  { unit: "day", ms: 86_400_000 },
  { unit: "hour", ms: 3_600_000 },
  { unit: "minute", ms: 60_000 },
  { unit: "second", ms: 1000 },
] as const;

/** A length of time in its largest sensible unit, such as "12 min"; hours keep their minutes. */
export function duration(ms: number): string {
  const rest = Math.max(0, ms);
  const { unit, ms: size } = UNITS.find((one) => rest >= one.ms) ?? UNITS[3];
  const whole = Math.floor(rest / size);
  const minutes = Math.floor((rest % size) / 60_000);
  const short = (value: number, of: string): string =>
    new Intl.NumberFormat(sentences, {
      style: "unit",
      unit: of,
      // The short forms of Arabic are single letters.
      unitDisplay: language === "ar" ? "long" : "short",
    }).format(value);
  return unit === "hour" && minutes > 0 ? `${short(whole, unit)} ${short(minutes, "minute")}` : short(whole, unit);
}

/** How long ago something was, in words. */
export function ago(ms: number): string {
  const { unit, ms: size } = UNITS.find((one) => ms >= one.ms) ?? UNITS[3];
  return relative.format(-Math.floor(Math.max(0, ms) / size), unit);
}
