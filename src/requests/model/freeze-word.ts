import { flat } from "./reply-grammar.ts";

/** Returns whom the words freeze, where they do: a name, or nothing for all that the speaker may freeze. There is no word for a thaw. */
export function freezeWord(text: string): { name: string | null } | undefined {
  const [, name] = /^parley freeze(?: (\S.{0,199}))?$/.exec(flat(text)) ?? [undefined, undefined];
  if (name === undefined && flat(text) !== "parley freeze") return undefined;
  return { name: name === undefined || name === "all" ? null : name };
}
