import { flat } from "./reply-grammar.ts";

/** Returns whom the words freeze, where they do: a name, or nothing for all that the speaker may freeze. There is no word for a thaw. */
export function freezeWord(text: string): { name: string | null } | undefined {
  const words = text.normalize("NFKC").trim().replace(/\s+/g, " ");
  if (flat(words) === "parley freeze") return { name: null };
  // The case of a name tells two agents apart.
  const [, named] = /^parley freeze (\S.{0,200})$/i.exec(words) ?? [];
  const name = named?.replace(/[.!]$/, "").trimEnd();
  if (name === undefined || name === "") return undefined;
  return { name: name.toLowerCase() === "all" ? null : name };
}
