/** Stands for anything within a pattern. */
export const STAR = "\0";

/** Returns whether a pattern takes a text, by trying every split at its stars. */
export function like(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  if (pattern[0] !== STAR) return pattern[0] === text[0] && like(pattern.slice(1), text.slice(1));
  for (let from = 0; from <= text.length; from += 1) if (like(pattern.slice(1), text.slice(from))) return true;
  return false;
}
