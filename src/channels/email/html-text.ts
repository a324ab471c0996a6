import { decodeHTML } from "entities/decode";
import { printableLines } from "../../lib/printable.ts";

/** The elements that begin and end on a line of their own. */
const BLOCKS = new Set([
  "p",
  "div",
  "li",
  "ul",
  "ol",
  "tr",
  "table",
  "h1",
  "h2",
  "h3",
  "h4",
  "pre",
  "section",
  "article",
]);

/** The elements whose content is not part of a page's visible text. */
const UNSEEN = new Set(["style", "script", "head", "title", "template", "noscript"]);
/** The elements that a mail may contain as they are: they only shape text. */
const SHAPES = new Set([
  "p",
  "div",
  "span",
  "b",
  "strong",
  "i",
  "em",
  "u",
  "h1",
  "h2",
  "h3",
  "h4",
  "ul",
  "ol",
  "li",
  "pre",
  "code",
  "blockquote",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
]);
const MOST_OPEN = 50;

/** A piece of HTML, from front to end. */
type Piece = { text: string } | { name: string; ends: boolean };

/**
 * Splits HTML into words and tags, without what is unseen. It reads from front to end once, whatever stands in it.
 */
function* piecesOf(html: string): Generator<Piece> {
  let unseen: { tag: string; depth: number } | null = null;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (!unseen) yield { text: decodeHTML(html.slice(at, open < 0 ? html.length : open)) };
    if (open < 0) return;
    const isComment = html.startsWith("<!--", open);
    const close = html.indexOf(isComment ? "-->" : ">", open);
    if (close < 0) return;
    const tag = isComment ? "" : html.slice(open + 1, close);
    at = close + (isComment ? 3 : 1);
    const [, slash = "", given = ""] = /^(\/?)([a-zA-Z][a-zA-Z0-9]*)/.exec(tag) ?? [];
    const name = given.toLowerCase();
    if (unseen) {
      if (name === unseen.tag && !tag.endsWith("/")) unseen.depth += slash ? -1 : 1;
      if (unseen.depth === 0) unseen = null;
    } else if (!slash && name !== "" && !tag.endsWith("/") && UNSEEN.has(name)) {
      unseen = { tag: name, depth: 1 };
    } else if (name !== "") {
      yield { name, ends: slash !== "" };
    }
  }
}

/** Returns the words of a page, without its tags, its styles and where its links lead. */
export function pageText(html: string): string {
  return wordsOf(piecesOf(html));
}

/**
 * Returns a page in which tags are left that shape words, without any attribute, and each is closed. Nothing in it is
 * loaded, leads anywhere, or looks otherwise than the tag alone.
 */
export function shapedPage(html: string): string {
  const open: string[] = [];
  let out = "";
  for (const piece of piecesOf(html)) {
    if ("text" in piece) out += escapedHtml(printableLines(piece.text).join("\n"));
    else if (piece.name === "br" || piece.name === "hr") out += `<${piece.name}>`;
    else if (!SHAPES.has(piece.name)) continue;
    else if (!piece.ends) {
      if (open.length >= MOST_OPEN) continue;
      open.push(piece.name);
      out += `<${piece.name}>`;
    } else if (open.includes(piece.name)) {
      for (let last = open.pop(); last !== undefined; last = last === piece.name ? undefined : open.pop())
        out += `</${last}>`;
    }
  }
  return (
    out +
    open
      .reverse()
      .map((name) => `</${name}>`)
      .join("")
  );
}

function wordsOf(pieces: Iterable<Piece>): string {
  let text = "";
  let kept = 0;
  for (const piece of pieces) {
    if ("text" in piece) {
      const words = kept > 0 ? piece.text : piece.text.replace(/[^\S\u00a0]+/g, " ");
      text += kept === 0 && text.endsWith("\n") ? words.trimStart() : words;
    } else {
      if (piece.name === "pre") kept = Math.max(0, kept + (piece.ends ? -1 : 1));
      if (piece.name === "br" || BLOCKS.has(piece.name)) {
        text = `${text.trimEnd()}${text.endsWith("\n\n") ? "\n\n" : "\n"}`;
      }
    }
  }
  const lines = text.split("\n").map((line) => line.trimEnd());
  return lines.join("\n").trim();
}

export function escapedHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
