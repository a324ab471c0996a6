/** Markup that may be sent as it is: only `html` makes it, here or in the thread that draws. */
class Markup {
  readonly pieces: readonly Piece[];
  constructor(pieces: readonly Piece[]) {
    this.pieces = pieces;
  }

  get text(): string {
    return this.pieces.map((piece) => (typeof piece === "string" ? piece : new TextDecoder().decode(piece))).join("");
  }
}
/** A text, or one in UTF-8 already. */
type Piece = string | Uint8Array;
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
  const all: Piece[] = [];
  pieces.forEach((piece, i) => {
    print(values[i - 1] ?? null, all);
    add(piece, all);
  });
  return new Markup(all);
}

/** Returns markup whose text, in UTF-8, `html` made in another thread. */
export function drawnMarkup(bytes: Uint8Array): Markup {
  return new Markup([bytes]);
}

function print(content: Content, all: Piece[]): void {
  if (content === null || content === false) return;
  if (content instanceof Markup) for (const piece of content.pieces) add(piece, all);
  else if (typeof content === "object") for (const one of content) print(one, all);
  else
    add(
      String(content).replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? ""),
      all,
    );
}

/** Texts one after the other are one, so that markup of many parts is one text. */
function add(piece: Piece, all: Piece[]): void {
  const last = all.at(-1);
  if (typeof last === "string" && typeof piece === "string") all[all.length - 1] = last + piece;
  else all.push(piece);
}
