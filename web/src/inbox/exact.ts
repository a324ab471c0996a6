/** Moments and amounts of what is to be approved, to the last digit, as the reader's language writes them. */
import { locale } from "../language.ts";

/** A moment as its reader's clock has it, and a day as it is everywhere. */
const MOMENT = new Intl.DateTimeFormat(locale, {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const DAY = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeZone: "UTC" });

export const moment = (at: string): string => (at.includes("T") ? MOMENT : DAY).format(new Date(at));

/** Never rounded: every digit of what runs. */
export const money = (amount: string, currency: string): string =>
  new Intl.NumberFormat(locale, { style: "currency", currency, maximumFractionDigits: 20 }).format(
    amount as Intl.StringNumericLiteral,
  );
