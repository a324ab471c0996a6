/** One block of Block Kit, as far as this channel writes them. */
export type Block = Readonly<Record<string, unknown>> & { type: string };

/** Longer texts Slack refuses, each in its place. */
export const MOST_HEADER = 150;
const MOST_TEXT = 3000;
export const MOST_BUTTON = 75;

/** Plain text: nothing in it is markup, a link, an emoji or a mention. */
export const plain = (text: string, most = MOST_TEXT) => ({ type: "plain_text", text: cut(text, most), emoji: false });

/** Small print. */
export const small = (...texts: readonly string[]): Block => ({
  type: "context",
  elements: texts.map((text) => plain(text)),
});

export const section = (text: string): Block => ({ type: "section", text: plain(text) });

/** A text whose every character is shown as it is, in a fixed width. */
export const preformatted = (text: string): Block => richText("rich_text_preformatted", [{ type: "text", text }]);

/** Somebody's words, set off at their edge. */
export const quote = (text: string): Block => richText("rich_text_quote", [{ type: "text", text }]);

/** A line that ends in a link of ours. */
export const linkLine = (before: string, url: string, label: string, after: string): Block =>
  richText("rich_text_section", [
    { type: "text", text: before },
    { type: "link", url, text: label },
    ...(after === "" ? [] : [{ type: "text", text: after }]),
  ]);

function richText(type: string, elements: readonly object[]): Block {
  return { type: "rich_text", elements: [{ type, elements }] };
}

/** Returns a text in no more than `most` UTF-16 units, its end marked where something is missing. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Returns a text that Slack's own markup cannot be written in: no mention, no link, no entity. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
