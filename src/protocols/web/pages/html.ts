/** Markup that may be sent as it is: only `html` makes it, here or in the thread that draws. */
class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
export type { Markup };

/** The content that may stand between pieces of markup; null and false leave nothing. */
export type Content = string | number | Markup | null | false | readonly Content[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Returns markup in which every value is text: as content, or inside a quoted attribute. Nowhere else may a value stand.
 */
export function html(pieces: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(pieces.reduce((text, piece, i) => text + printed(values[i - 1] ?? null) + piece));
}

/** Returns markup whose text `html` made in another thread. */
export function drawnMarkup(text: string): Markup {
  return new Markup(text);
}

function printed(content: Content): string {
  if (content === null || content === false) return "";
  if (content instanceof Markup) return content.text;
  if (typeof content === "object") return content.map(printed).join("");
  return String(content).replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? "");
}
