import { locale } from "./language.ts";

const moments = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

/** Returns a day with its time, to the minute. */
export const moment = (time: string | number): string => moments.format(new Date(time));
