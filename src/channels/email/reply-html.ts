import { compile } from "html-to-text";

/** Signatures that mail programs mark as such. */
const SIGNATURES = [
  "div.gmail_signature",
  "div.moz-signature",
  "pre.moz-signature",
  "div#Signature",
  "div#ms-outlook-mobile-signature",
];
const DEEPEST = 200;

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: DEEPEST },
  // A mail may have several bodies: a program puts what it quotes behind the first.
  baseElements: { selectors: [] },
  selectors: [
    ...SIGNATURES.map((selector) => ({ selector, format: "skip" })),
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    { selector: "head", format: "skip" },
    { selector: "title", format: "skip" },
    { selector: "p", options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
    { selector: "ul", options: { itemPrefix: "- " } },
    { selector: "td", format: "inlineSurround", options: { suffix: " " } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
});

/**
 * Returns the text of a mail that is HTML alone, with its quotes behind `>` and without the signatures that its program
 * marks. The result is text and is shown as text.
 */
export function replyHtml(html: string): string {
  return convert(html).replaceAll("\u00a0", " ");
}
