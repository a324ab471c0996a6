import { printable } from "../../lib/printable.ts";

/** Returns words as they can stand behind a `#`: on one line, and without anything unseen. */
export const comment = (words: string): string => printable(words).replaceAll(/[\r\n]/g, " ");

/** Returns a value as YAML reads it: as JSON, with other characters than those of ASCII as escapes. */
export const text = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Returns texts as a list on one line. */
export const flow = (values: readonly string[]): string => `[${values.map(text).join(", ")}]`;
