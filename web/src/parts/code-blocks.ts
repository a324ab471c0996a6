/** A part of somebody's words: prose, or a block of code between fences as in Markdown. */
export interface WordsPart {
  text: string;
  /** The language that a fence names, or empty; null for prose. */
  language: string | null;
}

/** A fence with at most a language behind it, and all up to a fence of the same signs or to the end. */
const BLOCK =
  /^ {0,3}(`{3,}|~{3,})[ \t]*(?:([\w+#.-]+)[ \t]*)?\n([^]*?)(?:^ {0,3}\1[`~]*[ \t]*(?:\n|$(?![^]))|$(?![^]))/gm;

/** Splits words into prose and blocks of code. The characters of the code stay as they are; only the fences go. */
export function partsOf(words: string): WordsPart[] {
  const parts: WordsPart[] = [];
  let from = 0;
  const addProse = (text: string): void => {
    const shown = text.replace(/^\n+|(?<!\n)\n+$/g, "");
    if (shown.trim() !== "") parts.push({ text: shown, language: null });
  };
  for (const found of words.matchAll(BLOCK)) {
    addProse(words.slice(from, found.index));
    parts.push({ text: (found[3] ?? "").replace(/\n$/, ""), language: found[2] ?? "" });
    from = found.index + found[0].length;
  }
  addProse(words.slice(from));
  return parts;
}

/** So short a sentence is a greeting, and the next belongs to it. */
const SHORTEST_SENTENCE = 20;
/** An end of a sentence; a small letter behind it shows an abbreviation. */
const END = /[.!?…](?=\s+[^\s\p{Ll}])|[。！？]/gu;

/** Returns the first sentence of the prose on one line; where there is only code, the first line of it. */
export function leadOf(words: string): string {
  const parts = partsOf(words.replace(/\r\n?/g, "\n"));
  const prose = parts.find(({ language }) => language === null)?.text.trim();
  if (prose === undefined) return (parts[0]?.text ?? "").trim().split("\n")[0] ?? "";
  const paragraph = (prose.split(/\n\s*\n/)[0] ?? "").replace(/\s+/g, " ");
  const end = [...paragraph.matchAll(END)].find(({ index }) => index + 1 >= SHORTEST_SENTENCE);
  return end ? paragraph.slice(0, end.index + 1) : paragraph;
}
