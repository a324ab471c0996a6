import { locale } from "../../language.ts";

const dollars = new Intl.NumberFormat(locale, { style: "currency", currency: "USD" });
export const usd = (value: number): string => dollars.format(value);
