import { sentenceOf } from "../../../requests/model/sentence.ts";
import { ownTaskOf } from "../../../requests/model/task-of-request.ts";
import { askerName, viewBesideArguments } from "../../../requests/model/view.ts";
import type { Request } from "../../../requests/model/request.ts";
import type { Field, Shape } from "../../../requests/model/schema-shape.ts";
import { printableLines } from "../../../lib/printable.ts";
import { argumentRows } from "../inbox/arguments.ts";
import { ARGUMENTS_STYLE, argumentsMarkup, DECISION_FORM } from "./arguments.ts";
import { html, type Content, type Markup } from "../pages/html.ts";
import { RISK_STYLE, riskMarkup } from "./risk.ts";
import { wordsMarkup } from "./words.ts";

/** The parts of the page of a one-time link. */
export interface LinkPage {
  /** Allows the page's one style sheet. */
  styleNonce: string;
  title: string;
  body: Markup;
}

/** The present input of the form, and its error. */
export interface LinkForm {
  action: string;
  nonce: string;
  /** The form asks for the code of the message. */
  asksCode: boolean;
  values: Readonly<Record<string, string>>;
  wrong: string | null;
}

const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#f6f5f1, #131412); --ink: light-dark(#1b1c19, #eeece6);
  --quiet: light-dark(#5d5b54, #a9a79e); --line: light-dark(#dfdcd3, #2f322d); --edge: light-dark(#8a877d, #737870);
  --accent: light-dark(#0b6b57, #7fd1b9); --on-accent: light-dark(#ffffff, #06251d);
  --sunken: light-dark(#eceae3, #232622); --alarm: light-dark(#a1301c, #ff9f8c); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 1.0625rem/1.5 system-ui, sans-serif; }
main { max-width: 42rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; display: grid;
  grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2, legend { margin: 0; padding: 0; font-size: 1.0625rem; font-weight: 600; }
p, dl, dd, blockquote, figure, fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
.quiet, .facts dt { color: var(--quiet); font-size: 0.875rem; }
h1, button, label, figcaption { overflow-wrap: anywhere; }
.fn, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.arguments > div { padding: 0.75rem 0; border-top: 1px solid var(--line); }
.arguments dt { font-weight: 600; overflow-wrap: anywhere; }
pre { margin: 0.25rem 0 0; max-height: 18rem; overflow: auto; font-size: 0.875rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
blockquote { margin-top: 0.5rem; padding-left: 1rem; border-left: 3px solid var(--line); display: grid;
  grid-template-columns: minmax(0, 1fr); gap: 0.75rem; }
blockquote p { white-space: pre-wrap; overflow-wrap: anywhere; }
.block { margin: 0; padding: 0.75rem 1rem; border-radius: 0.5rem; background: var(--sunken); }
.fn { overflow-wrap: anywhere; }
.facts > div { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0.125rem 0; font-size: 0.875rem; }
.facts dt { flex: 0 0 6rem; }
.facts dd { flex: 1 1 10rem; min-width: 0; overflow-wrap: anywhere; }
.outcome { padding: 1rem 1.25rem; border-radius: 0.75rem; background: var(--sunken); font-weight: 600; }
.wrong { color: var(--alarm); }
form { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
fieldset { display: grid; gap: 0.5rem; }
fieldset label { display: flex; align-items: center; gap: 0.75rem; min-height: 2.75rem; padding: 0.5rem 0.75rem;
  border: 1px solid var(--edge); border-radius: 0.75rem; overflow-wrap: anywhere; }
fieldset label small { display: block; color: var(--quiet); }
input[type="radio"] { flex: none; width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
.field { display: grid; gap: 0.375rem; font-weight: 600; }
.field .quiet { font-weight: 400; }
textarea, input[type="text"] { width: 100%; min-height: 2.75rem; padding: 0.625rem 0.875rem; font: inherit;
  font-weight: 400; color: inherit; background: transparent; border: 1px solid var(--edge); border-radius: 0.75rem; }
.code { max-width: 10rem; letter-spacing: 0.2em; text-transform: uppercase; }
button { min-height: 3rem; padding: 0.5rem 1.5rem; border: 0; border-radius: 0.75rem; background: var(--accent);
  color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

/** Returns the whole page; it runs no script and loads nothing. */
export function documentOf({ styleNonce, title, body }: LinkPage): Buffer {
  const style = `<style nonce="${styleNonce}">${STYLE}${ARGUMENTS_STYLE}${RISK_STYLE}</style>`;
  const head = html`<meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><meta
      name="color-scheme"
      content="light dark"
    /><meta name="robots" content="noindex" /><title>${title} · Parley</title>`;
  const before = `<!doctype html><html lang="en"><head>${head.text}${style}</head><body><main>`;
  const pieces = [before, ...body.pieces, "</main></body></html>\n"];
  return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}

/**
 * Shows what is asked: of a call one sentence, how risky it looks and why, its function and every argument; then whose
 * words follow, then who asks and how long. With what is ticked in the form so far, secrets have boxes to be ticked.
 */
export function askMarkup(request: Request, ticked?: LinkForm["values"]): Markup {
  const view = viewBesideArguments(request);
  const rows = request.form.kind === "approval" ? argumentRows(request, request.form.kwargs) : null;
  const whose = `In the words of ${view.agent}. A program wrote this; nobody has checked it.`;
  const text = rows || !view.words.startsWith(view.title) ? view.words : view.words.slice(view.title.length).trim();
  const words = wordsMarkup(text, ownTaskOf(request) !== null);
  return rows
    ? html`<p class="quiet">${view.agent} asks for your approval</p>
        <h1>${sentenceOf(request)}</h1>
        ${riskMarkup(request)}
        <p>It runs <code class="fn">${view.fn ?? ""}</code></p>
        ${argumentsMarkup(rows, ticked && ((box) => ticked[box] !== undefined))}
        ${
          words !== null &&
          html`<figure>
            <figcaption class="quiet">${whose}</figcaption>
            ${words}
          </figure>`
        }
        ${inquiriesMarkup(request)} ${factsMarkup(request, view)}`
    : html`<p class="quiet">${whose}</p>
        <h1 dir="auto">${view.title}</h1>
        ${words} ${inquiriesMarkup(request)} ${factsMarkup(request, view)}`;
}

/** The questions to the agent, each with its answer; nothing without any. */
function inquiriesMarkup({ inquiries = [] }: Request): Content {
  if (inquiries.length === 0) return null;
  const shown = (words: string): string => printableLines(words).join("\n");
  return html`<section>
    <h2>Questions to the agent</h2>
    ${inquiries.map(
      ({ text, answer }) =>
        html`<p dir="auto">${shown(text)}</p>
          <blockquote><p dir="auto">${answer === undefined ? "No answer yet." : shown(answer)}</p></blockquote>`,
    )}
  </section>`;
}

function factsMarkup(request: Request, view: ReturnType<typeof viewBesideArguments>): Markup {
  const facts: [string, string][] = [
    ["Asked by", view.agent],
    ...(view.run === null ? [] : [["Run", view.run] as [string, string]]),
    [
      "Deadline",
      view.expiresAt === null ? "None" : `${new Date(view.expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC`,
    ],
    ...(request.state === "open" ? [["On silence", view.onSilence] as [string, string]] : []),
    ...(view.digest === null ? [] : [["Digest", view.digest.replace("sha256:", "").slice(0, 8)] as [string, string]]),
  ];
  return html`<dl class="facts">
    ${facts.map(
      ([term, fact]) =>
        html`<div>
          <dt>${term}</dt>
          <dd>${fact}</dd>
        </div>`,
    )}
  </dl>`;
}

/** The one button of a page that was only looked at. */
export function continueMarkup(action: string, wrong: string | null): Markup {
  return html`${wrong !== null && html`<p class="wrong" role="alert">${wrong}</p>`}
    <form method="post" action="${action}">
      <div><button type="submit">Continue</button></div>
    </form>
    <p class="quiet">Nothing is decided until you choose on the next page.</p>`;
}

export function outcomeMarkup(sentence: string): Markup {
  return html`<p class="outcome" role="status">${sentence}</p>`;
}

/** The form that decides: nothing in it is chosen beforehand. */
export function decisionMarkup(request: Request, form: LinkForm): Markup {
  const view = viewBesideArguments(request);
  const { values } = form;
  const radio = (value: string, label: Content, describes?: string) =>
    radioMarkup("choice", { value, label, describes, checked: values["choice"] === value });
  const options = view.options.map(({ title, name, description }, i) => {
    const label = request.form.kind === "approval" ? `Reject: ${title ?? name}` : (title ?? name);
    return radio(`option:${i}`, label, description);
  });
  const choices =
    request.form.kind === "approval" ? [radio("approve", "Approve"), radio("reject", "Reject"), ...options] : options;
  return html`<form method="post" id="${DECISION_FORM}" action="${form.action}">
    <input type="hidden" name="nonce" value="${form.nonce}" />
    <input type="hidden" name="digest" value="${request.digest ?? ""}" />
    ${form.wrong !== null && html`<p class="wrong" role="alert">${form.wrong}</p>`}
    ${
      choices.length > 0 &&
      html`<fieldset>
        <legend>Your decision</legend>
        ${choices}
      </fieldset>`
    }
    ${takesComment(request.form.kind, view.shape) ? commentMarkup(values["comment"]) : writtenMarkup(request, view.shape, values)}
    ${form.asksCode && html`<label class="field">Code<span class="quiet">The four characters from the message. Every answer needs them.</span><input type="text" name="code" class="code" maxlength="8" autocomplete="off" autocapitalize="characters" spellcheck="false" /></label>`}
    <div><button type="submit">Send</button></div>
  </form>`;
}

function radioMarkup(
  name: string,
  option: { value: string; label: Content; describes?: string | undefined; checked: boolean },
): Markup {
  const { value, label, describes, checked } = option;
  return html`<label
    ><input type="radio" name="${name}" value="${value}" ${checked ? html` checked` : null} /><span
      >${label}${describes !== undefined && html`<small>${describes}</small>`}</span
    ></label
  >`;
}

function takesComment(kind: Request["form"]["kind"], shape: Shape | null): boolean {
  return kind === "approval" || (shape?.kind === "decision" && shape.comment !== "none");
}

/** Where a press is the whole answer nothing is written; else one box, or one field for each member. */
function writtenMarkup(request: Request, shape: Shape | null, values: LinkForm["values"]): Markup | false {
  if (shape?.kind === "choice" || shape?.kind === "decision") return false;
  if (shape?.kind !== "object") return textMarkup(request, shape, values["text"]);
  return html`${shape.fields.map((field, i) => fieldMarkup(field, `field:${i}`, values[`field:${i}`]))}`;
}

function fieldMarkup({ label, description, required, of }: Field, name: string, value = ""): Markup {
  const title = required ? label : `${label} (optional)`;
  if (of.kind === "choice") {
    const each = of.offers.map((offer, i) =>
      radioMarkup(name, { value: String(i), label: offer.label, checked: value === String(i) }),
    );
    return html`<fieldset>
      <legend>${title}</legend>
      ${description !== undefined && html`<p class="quiet">${description}</p>`} ${each}
    </fieldset>`;
  }
  const hint = [...(description === undefined ? [] : [description]), ...(of.says === "text" ? [] : [of.says])];
  return html`<label class="field"
    >${title}${hint.length > 0 && html`<span class="quiet">${hint.join("; ")}</span>`}<input
      type="text"
      name="${name}"
      value="${value}"
      maxlength="40000"
      autocomplete="off"
      ${of.kind === "number" ? html` inputmode="decimal"` : null}
  /></label>`;
}

function commentMarkup(comment = ""): Markup {
  return html`<label class="field"
    >Comment (optional)<textarea name="comment" rows="3" maxlength="5000">${comment}</textarea>
  </label>`;
}

function textMarkup(request: Request, shape: Shape | null, text = ""): Markup {
  const { form } = request;
  const schema = form.kind === "value" && shape?.kind === "json" ? form.schema : null;
  const hint = shape?.kind === "number" || shape?.kind === "text" ? `: ${shape.says}` : "";
  const label = form.kind === "reply" && form.options.length > 0 ? "Or write your own answer" : "Your answer";
  return html`${
      schema !== null &&
      html`<p class="quiet">It must fit this JSON Schema. With an account here you get a form instead.</p>
        <pre tabindex="0" role="region" aria-label="JSON Schema">
${printableLines(JSON.stringify(schema, null, 2)).join("\n")}</pre>`
    }
    <label class="field"
      >${schema === null ? `${label}${hint}` : "Your answer, as JSON"}<textarea name="text" rows="6" maxlength="40000">
${text}</textarea>
    </label>`;
}

/** Returns a notice, for a link that leads nowhere or a request that the pages do not offer. */
export function noticeMarkup(title: string, says: string): Markup {
  return html`<h1>${title}</h1>
    <p>${says}</p>`;
}

/** The title of the page, in a browser's list of windows: never more than who asks. */
export function titleOf(request: Request): string {
  return `A request by ${askerName(request)}`;
}
