/** What ends a line where it begins or ends. */
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
/** What is not said by whoever wrote the mail. */
const UNSAID = new Set(["blockquote", "style", "script", "head", "title", "template"]);
const QUOTE_CLASSES = /\b(gmail_quote|gmail_signature|moz-cite-prefix|moz-signature|yahoo_quoted|protonmail_quote)\b/;
const QUOTE_IDS = /\bid\s*=\s*["']?(divRplyFwdMsg|appendonsend|mail-editor-reference-message-container)\b/i;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/**
 * Returns the text of an HTML mail that has no plain part, without what it quotes. It reads from front to end once,
 * whatever the mail holds; the result is text and is shown as text.
 */
export function htmlText(html: string): string {
  let text = "";
  let unsaid: { tag: string; depth: number } | null = null;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (!unsaid) text += unescaped(html.slice(at, open < 0 ? html.length : open).replace(/\s+/g, " "));
    if (open < 0) break;
    const isComment = html.startsWith("<!--", open);
    const close = html.indexOf(isComment ? "-->" : ">", open);
    if (close < 0) break;
    const tag = isComment ? "" : html.slice(open + 1, close);
    at = close + (isComment ? 3 : 1);
    const [, slash = "", given = ""] = /^(\/?)([a-zA-Z][a-zA-Z0-9]*)/.exec(tag) ?? [];
    const name = given.toLowerCase();
    if (QUOTE_IDS.test(tag)) break;
    if (unsaid) {
      if (name === unsaid.tag && !tag.endsWith("/")) unsaid.depth += slash ? -1 : 1;
      if (unsaid.depth === 0) unsaid = null;
    } else if (!slash && (UNSAID.has(name) || QUOTE_CLASSES.test(tag)) && !tag.endsWith("/") && name !== "") {
      unsaid = { tag: name, depth: 1 };
    } else if (name === "br" || BLOCKS.has(name)) {
      text = `${text.trimEnd()}${text.endsWith("\n\n") ? "\n\n" : "\n"}`;
    }
  }
  return text
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .trim();
}

function unescaped(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "";
    },
  );
}
