/** Numbers, times and plurals in the reader's own language. */
const locale = navigator.languages.find(isKnown) ?? "en";

/** Some systems name their language in ways that no standard knows, such as `en-US@posix`. */
function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

const plurals = new Intl.PluralRules("en");
const numbers = new Intl.NumberFormat(locale);
const percents = new Intl.NumberFormat(locale, { style: "percent" });
const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const number = (value: number): string => numbers.format(value);
export const percent = (share: number): string => percents.format(share);
export const day = (time: string | number): string => moments.format(new Date(time));

/** Picks the form of a word that goes with a count, and puts the count before it. */
export function count(value: number, one: string, other: string): string {
  return `${number(value)} ${plurals.select(value) === "one" ? one : other}`;
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
    new Intl.NumberFormat("en", {
      style: "unit",
      unit: of,
      unitDisplay: "short",
    }).format(value);
  return unit === "hour" && minutes > 0 ? `${short(whole, unit)} ${short(minutes, "minute")}` : short(whole, unit);
}

/** How long ago something was, in words. */
export function ago(ms: number): string {
  const { unit, ms: size } = UNITS.find((one) => ms >= one.ms) ?? UNITS[3];
  return relative.format(-Math.floor(Math.max(0, ms) / size), unit);
}
