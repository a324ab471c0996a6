import { readDiff, type DiffLine } from "../../../core/model/unified-diff.ts";
import { html, type Markup } from "../pages/html.ts";

/** A fence with at most a language behind it, and all up to a fence of the same signs or to the end. */
const BLOCK =
  /^ {0,3}(`{3,}|~{3,})[ \t]*(?:([\w+#.-]+)[ \t]*)?\n([^]*?)(?:^ {0,3}\1[`~]*[ \t]*(?:\n|$(?![^]))|$(?![^]))/gm;
/** The words of a coding agent's request end with what it would change (`tasks/model/attempt-asks.ts`). */
const CHANGE = "\n\nWhat would change:\n";
const IS_DIFF = /^(?:diff|patch)$/i;

/**
 * Draws somebody's words line by line as they were written, with blocks of code and diffs as such; null for no words.
 * With `hasChange` they may end with the change that a coding agent would make, line by line.
 */
export function wordsMarkup(words: string, hasChange: boolean): Markup | null {
  const [spoken = "", ...changes] = hasChange ? words.split(CHANGE) : [words];
  const parts = partsOf(spoken);
  const change =
    changes.length > 0 &&
    html`<h2>What would change</h2>
      ${diffMarkup(signed(changes.join(CHANGE)))}`;
  if (parts.length === 0 && change === false) return null;
  return html`${parts.length > 0 && html`<blockquote>${parts}</blockquote>`}${change}`;
}

function partsOf(words: string): Markup[] {
  const parts: Markup[] = [];
  let from = 0;
  const addProse = (text: string): void => {
    const shown = text.replace(/^\n+|(?<!\n)\n+$/g, "");
    if (shown.trim() !== "") parts.push(html`<p dir="auto">${shown}</p>`);
  };
  for (const found of words.matchAll(BLOCK)) {
    addProse(words.slice(from, found.index));
    parts.push(blockMarkup((found[3] ?? "").replace(/\n$/, ""), found[2] ?? ""));
    from = found.index + found[0].length;
  }
  addProse(words.slice(from));
  return parts;
}

function blockMarkup(code: string, language: string): Markup {
  const diff = readDiff(code.split("\n")) ?? (IS_DIFF.test(language) ? signed(code) : null);
  if (diff) return diffMarkup(diff);
  return html`<pre class="block" dir="ltr" tabindex="0" role="region" aria-label="Code"><code>${code}</code></pre>`;
}

function diffMarkup(lines: readonly DiffLine[]): Markup {
  const each = lines.map(({ sign, text }) => html`<span data-sign="${sign}">${text}${"\n"}</span>`);
  return html`<pre class="block diff" dir="ltr" tabindex="0" role="region" aria-label="Diff">${each}</pre>`;
}

/** Lines that are known to be a diff, by the first sign of each. */
function signed(text: string): DiffLine[] {
  return text.split("\n").map((line) => {
    if (/^(?:\+\+\+|---|@@) /.test(line)) return { sign: "@", text: line };
    const first = line.charAt(0);
    return { sign: first === "+" || first === "-" ? first : " ", text: line };
  });
}
