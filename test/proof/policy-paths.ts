import { like, STAR } from "./policy-like.ts";

/**
 * Decides the line `path` of a rule once more, from spec/relay 8 alone, by trying every way to share names among the
 * parts of a pattern. Null where the answer is open.
 */
export function pathsAgree(patterns: readonly string[], paths: readonly unknown[], folder: unknown): boolean | null {
  const answers = paths.map((path) => (typeof path === "string" ? pathAgrees(patterns, path, folder) : null));
  const [first = null] = answers;
  return answers.every((answer) => answer === first) ? first : null;
}

function pathAgrees(patterns: readonly string[], path: string, folder: unknown): boolean | null {
  const names = namesFrom(path, typeof folder === "string" ? folder : null);
  if (names === null) return null;
  const agree = (isLoose: boolean) => patterns.some((pattern) => takes(pattern.split("/"), names, isLoose));
  return agree(false) || (agree(true) ? null : false);
}

function namesFrom(path: string, folder: string | null): string[] | null {
  if (path === "" || /[\\$%*?`]|^~/.test(path)) return null;
  const isInside = folder !== null && `${path}/`.startsWith(`${folder}/`);
  if (path.startsWith("/") && !isInside) return null;
  const names: string[] = [];
  for (const name of (isInside ? path.slice(folder.length) : path).split("/")) {
    if (name === ".." && names.length === 0) return null;
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name.normalize("NFC"));
  }
  return names;
}

/** Whether a pattern takes these names; loosely, case makes no difference, and a star takes hidden names. */
function takes([part, ...parts]: readonly string[], names: readonly string[], isLoose: boolean): boolean {
  const [name, ...others] = names;
  if (part === undefined) return name === undefined;
  const isApart = name === undefined || (!isLoose && part.startsWith("*") && name.startsWith("."));
  if (part === "**") return takes(parts, names, isLoose) || (!isApart && takes([part, ...parts], others, isLoose));
  if (isApart) return false;
  const [wanted, given] = isLoose ? [part.toLowerCase(), name.toLowerCase()] : [part, name];
  return like(wanted.normalize("NFC").replaceAll("*", STAR), given) && takes(parts, others, isLoose);
}
