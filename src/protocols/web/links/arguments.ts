import type { TypedArgument } from "../../../requests/model/typed-argument.ts";
import type { WireArgumentRow } from "../../../wire/inbox.ts";
import { html, type Content, type Markup } from "../pages/html.ts";

/** The style sheet that arguments add to the page of a one-time link. */
export const ARGUMENTS_STYLE = `
.lines { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 18rem; overflow: auto; }
.lines span { display: block; min-height: 1lh; }
.lines span:not(:last-child)::after { content: " ↵" / ""; color: var(--quiet); }
.diff span { display: block; }
.diff [data-sign="+"] { background: light-dark(#e3f0ea, #1b3029); }
.diff [data-sign="-"] { background: light-dark(#f8e4df, #3a211c); }
.diff [data-sign="@"] { color: var(--quiet); }
.wide { overflow: auto; max-height: 18rem; }
table { border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.375rem 0.75rem 0.375rem 0; border-bottom: 1px solid var(--line); text-align: start;
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--quiet); font-weight: 500; }
td { min-width: 4rem; white-space: pre-wrap; }
dd a { color: var(--accent); overflow-wrap: anywhere; display: inline-block; padding: 0.625rem 0; }
.arguments ul { margin: 0; padding-left: 1.25rem; overflow-wrap: anywhere; }
summary { min-height: 2.75rem; align-content: center; cursor: pointer; }
.tick { display: flex; align-items: center; gap: 0.75rem; min-height: 2.75rem; overflow-wrap: anywhere; }
.tick input { flex: none; width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
`;

/** The form that decides, which the boxes beside secrets belong to. */
export const DECISION_FORM = "decision";

/** Returns the name of the box by which somebody says that they have seen the secret of this argument. */
export const seenBox = (at: number): string => `seen:${at}`;

/**
 * Every argument in full, as what it is, and its JSON one press away. One that holds a secret is shown with its secret
 * masked, and whole after a press. Where `seen` is given, there is a box beside the whole of it: an approval needs each.
 */
export function argumentsMarkup(rows: readonly WireArgumentRow[], seen?: (box: string) => boolean): Markup {
  if (rows.length === 0) return html`<p>It takes no arguments.</p>`;
  const each = rows.map((row, at) => {
    return html`<div>
      <dt>${row.name}</dt>
      <dd>
        ${row.secret ? secretMarkup(row, seen && { name: seenBox(at), checked: seen(seenBox(at)) }) : valueMarkup(row)}
      </dd>
    </div>`;
  });
  return html`<dl class="arguments" aria-label="Arguments">${each}</dl>`;
}

function secretMarkup(row: WireArgumentRow, box: { name: string; checked: boolean } | undefined): Markup {
  const tick =
    box !== undefined &&
    html`<label class="tick"
      ><input
        type="checkbox"
        name="${box.name}"
        value="yes"
        form="${DECISION_FORM}"
        ${box.checked ? html` checked` : null}
      />I have seen all of ${row.name}</label
    >`;
  return html`${row.masked !== null && rawMarkup(`Value of ${row.name}, with its secret masked`, row.masked)}
    <details>
      <summary>It holds a secret. Show it</summary>
      ${valueMarkup(row)} ${tick}
    </details>`;
}

function rawMarkup(label: string, text: string): Markup {
  return html`<pre dir="ltr" tabindex="0" role="region" aria-label="${label}">${text}</pre>`;
}

function valueMarkup({ name, text, typed }: WireArgumentRow): Markup {
  const raw = rawMarkup(`Value of ${name}`, text);
  // One line in its quotes says as much as one without.
  if (typed === null || (typed.kind === "text" && typed.lines.length === 1)) return raw;
  return html`${typedMarkup(name, typed)}
    <details>
      <summary class="quiet">Raw</summary>
      ${raw}
    </details>`;
}

function typedMarkup(name: string, typed: TypedArgument): Markup {
  switch (typed.kind) {
    case "text": {
      const lines = typed.lines.map((line) => html`<span dir="auto">${line}</span>`);
      return html`<div class="lines" tabindex="0" role="region" aria-label="Text of ${name}">${lines}</div>`;
    }
    case "diff": {
      const lines = typed.lines.map(({ sign, text }) => html`<span data-sign="${sign}">${text}${"\n"}</span>`);
      return html`<pre class="diff" dir="ltr" tabindex="0" role="region" aria-label="Diff of ${name}">${lines}</pre>`;
    }
    case "list":
      return html`<ul>
        ${typed.items.map((item) => html`<li dir="auto">${item}</li>`)}
      </ul>`;
    case "table":
      return tableMarkup(
        name,
        html`<tr>
          ${typed.columns.map((column) => html`<th scope="col" dir="auto">${column}</th>`)}
        </tr>`,
        typed.rows.map((row) => row.map((cell) => html`<td dir="auto">${cell}</td>`)),
      );
    case "fields": {
      const rows = typed.rows.map(([field, value]) => [
        html`<th scope="row" dir="auto">${field}</th>`,
        html`<td dir="auto">${value}</td>`,
      ]);
      return tableMarkup(name, null, rows);
    }
    case "link":
      return html`<p>
        <a href="${typed.href}" target="_blank" rel="noreferrer" dir="ltr">${typed.text}</a>
        <span class="quiet">Opens ${typed.host}</span>
      </p>`;
    case "date":
      return html`<p>${dateWords(typed.at)} <span class="quiet">${typed.text}</span></p>`;
    case "money":
      return html`<p>${typed.amount} ${typed.currency} <span class="quiet">${typed.text}</span></p>`;
  }
}

function tableMarkup(name: string, head: Content, rows: readonly (readonly Markup[])[]): Markup {
  return html`<div class="wide" tabindex="0" role="region" aria-label="Table of ${name}">
    <table>
      ${head}${rows.map(
        (cells) =>
          html`<tr>
            ${cells}
          </tr>`,
      )}
    </table>
  </div>`;
}

/** A page without a script knows no zone of its reader's. Formats take long to make, and a call may have many dates. */
const DAY = new Intl.DateTimeFormat("en", { dateStyle: "full", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat("en", { dateStyle: "full", timeStyle: "long", timeZone: "UTC" });

function dateWords(at: string): string {
  return (at.includes("T") ? MOMENT : DAY).format(new Date(at));
}
