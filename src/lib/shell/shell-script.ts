import type { CommandWord } from "./simple-command.ts";

const KNOWN_OPTION = /^-(?:[a-z]+|-(?:login|norc|noprofile|version|help))$/;

/**
 * The line that a shell gets by `-c`, or "file" for a script of a file, from the words behind the name of the shell. Null
 * for a shell that reads its line from elsewhere, and for one whose options are not known.
 */
export function scriptOf(words: readonly CommandWord[]): { line: string } | "file" | null {
  const at = words.findIndex(({ text }) => !text.startsWith("-") && !text.startsWith("+"));
  const options = words.slice(0, at < 0 ? undefined : at);
  if (options.some(({ text, isExact }) => !isExact || !KNOWN_OPTION.test(text))) return null;
  const flags = options
    .filter(({ text }) => !text.startsWith("--"))
    .map(({ text }) => text.slice(1))
    .join("");
  if (/[soi]/.test(flags)) return null;
  const first = words[at];
  if (flags.includes("c")) return first?.isExact === true ? { line: first.text } : null;
  const isFile = first?.isExact === true && !/^\/(?:dev|proc)\//.test(first.text);
  return isFile || options.some(({ text }) => text === "--version") ? "file" : null;
}
