import type { Context } from "../../../context.ts";
import { closingSentence } from "../../../requests/end/closing-sentence.ts";
import { type CallOutcomeState, outcomeOf } from "../../../requests/model/call-outcome.ts";
import type { Request } from "../../../requests/model/request.ts";
import { withEditedArguments } from "../../../requests/model/view.ts";
import { readCallOutcomes } from "../../../requests/outcome/read-outcomes.ts";
import { type NamedDecision, readDecided } from "../../../requests/read/read-decided.ts";
import { printableLines } from "../../../lib/printable.ts";
import { drawnArguments, drawnAsk } from "../drawing/draw-thread.ts";
import { html, type Content, type Markup } from "./html.ts";
import { outcomeMarkup, titleOf } from "../links/view.ts";
import type { StillPage } from "./still-page.ts";

/** A signed receipt, and where it and the keys stand. */
interface SignedReceipt {
  jws: string;
  publicUrl: string;
}

/** Returns the page of a receipt: who decided what, when, over what exactly, and how to verify it. */
export async function receiptPage(
  ctx: Pick<Context, "db">,
  request: Request,
  signed: SignedReceipt,
): Promise<StillPage> {
  const sentence = await closingSentence(ctx.db, request);
  const decisions = (await readDecided(ctx, request)).map(decisionMarkup);
  const body = html`${outcomeMarkup(sentence.charAt(0).toUpperCase() + sentence.slice(1))} ${await drawnAsk(request)}
    ${await editedMarkup(request)} ${answerMarkup(request)}
    <section>
      <h2>Who decided</h2>
      ${decisions.length > 0 ? decisions : html`<p>Nobody.</p>`} ${timesMarkup(request)}
    </section>
    ${await outcomeOfCallMarkup(ctx, request, signed)} ${verifyMarkup(request, signed)}`;
  return { title: `Receipt: ${titleOf(request)}`, body };
}

function decisionMarkup({ name, by, at, approved, comment, digest }: NamedDecision): Markup {
  const what = approved === null ? "Answered" : approved ? "Approved" : "Rejected";
  const facts: [string, Content][] = [
    ["Decision", what],
    ["Who", name],
    ["By", by.via],
    ["When", timeMarkup(at)],
    ...(digest === undefined ? [] : [["Was shown", digest] as [string, Content]]),
  ];
  return html`${factsMarkup(facts)}${comment !== undefined && wordsMarkup(comment)}`;
}

/** Returns a person's text as a quotation, unchanged except that invisible characters show. */
function wordsMarkup(words: string): Markup | false {
  return words.trim() !== "" && html`<blockquote dir="auto">${printableLines(words).join("\n")}</blockquote>`;
}

/** Returns the answer, where it is more than yes or no. */
function answerMarkup({ form, outcome }: Request): Markup | false {
  const answer = outcome?.value ?? outcome?.text ?? outcome?.option;
  if (form.kind === "approval" || answer === undefined) return false;
  return html`<section>
    <h2>The answer</h2>
    ${wordsMarkup(answer)}
  </section>`;
}

/** Returns the arguments that a person edited; the approval is for these. */
async function editedMarkup(request: Request): Promise<Markup | false> {
  const { edited, kwargs, guard } = request.outcome ?? {};
  if (edited !== true || kwargs === undefined) return false;
  return html`<section>
    <h2>Approved with these arguments instead</h2>
    ${await drawnArguments(withEditedArguments(request, kwargs, guard), kwargs)}
  </section>`;
}

const ENDS: Readonly<Record<CallOutcomeState, string>> = {
  awaited: "Approved; its agent has not said yet that it ran",
  started: "Started; its end is not reported yet",
  done: "Done",
  failed: "Failed",
  withdrawn: "Withdrawn by the agent: it was not run",
  unknown: "Unknown: its agent has not said how it ended",
  not_run: "Not run",
  not_reported: "Not reported: its agent does not say what becomes of its calls",
};

/** Returns what became of an approved call; nothing where there is nothing to say. */
async function outcomeOfCallMarkup(
  ctx: Pick<Context, "db">,
  request: Request,
  { publicUrl }: SignedReceipt,
): Promise<Markup | false> {
  const outcome = outcomeOf(request, (await readCallOutcomes(ctx, [request])).get(request.id));
  if (!outcome) return false;
  const { state, at, words, resultDigest } = outcome;
  const isEnd = state !== "awaited" && state !== "started";
  const facts: [string, Content][] = [
    ["The call", ENDS[state]],
    ["Since", timeMarkup(at)],
    ...(resultDigest === null ? [] : [["Result", resultDigest] as [string, Content]]),
  ];
  return html`<section>
    <h2>What became of it</h2>
    ${factsMarkup(facts)}
    ${
      words !== null &&
      html`<p>In the agent's words:</p>
        ${wordsMarkup(words)}`
    }
    ${isEnd && html`<p>Signed statement: <a href="/receipts/${request.id}/outcome">${publicUrl}/receipts/${request.id}/outcome</a></p>`}
  </section>`;
}

function timesMarkup({ createdAt, settledAt }: Request): Markup {
  const over: [string, Content][] = settledAt === null ? [] : [["Over", timeMarkup(settledAt)]];
  return factsMarkup([["Asked", timeMarkup(createdAt)], ...over]);
}

function verifyMarkup(request: Request, { jws, publicUrl }: SignedReceipt): Markup {
  const address = `${publicUrl}/receipts/${request.id}`;
  const digest = request.outcome?.digest ?? request.digest;
  const { form } = request;
  const compared =
    form.kind === "approval" &&
    html`<p>
        To compare it with what ran, write the arguments into a file as JSON. The digest is the SHA-256 of the canonical
        JSON of function and arguments.
      </p>
      ${factsMarkup([["Digest", digest ?? ""]])}
      ${commandMarkup("Command that compares", `parley verify ${address} --fn ${quoted(form.fn)} --kwargs arguments.json`)}`;
  return html`<section>
    <h2>How to verify it</h2>
    <p>
      This page is what the server says now. The receipt below was signed when it was fetched, and whoever changes it is
      found out. It proves what this server recorded, and not that anybody understood it.
    </p>
    ${commandMarkup("Command that verifies", `parley verify ${address}`)} ${compared}
    <p>The public keys stand at <a href="/.well-known/jwks.json">${publicUrl}/.well-known/jwks.json</a>.</p>
    <h2>The receipt</h2>
    <pre tabindex="0" role="region" aria-label="The receipt, as a compact JWS">${jws}</pre>
  </section>`;
}

function commandMarkup(label: string, command: string): Markup {
  return html`<pre tabindex="0" role="region" aria-label="${label}">${command}</pre>`;
}

/** An agent wrote the name of the function, and whoever verifies copies it into a shell. */
function quoted(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function timeMarkup(at: number): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;
}

function factsMarkup(facts: readonly [string, Content][]): Markup {
  const rows = facts.map(
    ([term, fact]) =>
      html`<div>
        <dt>${term}</dt>
        <dd>${fact}</dd>
      </div>`,
  );
  return html`<dl class="facts">${rows}</dl>`;
}
