import { parseExactJson } from "../../lib/exact-json.ts";
import { printableLines } from "../../lib/printable.ts";
import { withoutForgery } from "../../requests/model/agent-words.ts";
import type { AskView } from "../../requests/model/view.ts";
import { pageText, shapedPage } from "./html-text.ts";
import { parseTemplate, renderTemplate } from "./template.ts";
import type { Values } from "./template-condition.ts";

/** What becomes of the HTML templates that agents send along: nothing, its words, or its words in their shape. */
export type Templates = "off" | "text" | "sanitized";

/** Longer, and an agent's words would bury what Parley says itself. */
const MOST_CHARACTERS = 20_000;
/** As deep as a body may be nested. */
const MOST_DEPTH = 64;

/** What an agent's template says about an ask, as text, and in its shape where that is wanted. */
export interface TemplateWords {
  text: string;
  html: string | null;
}

/**
 * Returns what a template that was checked says; nothing where it says nothing. `ours` is an address of this server: what
 * could pass for one, or for a code, is left out, and then the template keeps no shape in which it might hide.
 */
export function templateWords(
  source: string,
  view: AskView,
  { isShaped, ours }: { isShaped: boolean; ours: string },
): TemplateWords | null {
  const page = renderTemplate(parseTemplate(source), valuesOf(view));
  const written = printableLines(pageText(page)).join("\n");
  const said = withoutForgery(written, ours);
  if (said === "") return null;
  const isWhole = said.length <= MOST_CHARACTERS && said === written;
  const text = said.length <= MOST_CHARACTERS ? said : `${said.slice(0, MOST_CHARACTERS)}…`;
  return { text, html: isShaped && isWhole ? shapedPage(page) : null };
}

/** What a template can show: the request as the agent sent it, and nothing of the people or of this server. */
function valuesOf({ kind, run, title, words, exact }: AskView): Values {
  const type = { approval: "function_call", reply: "human_contact", value: "message" }[kind];
  const spec = exact
    ? { fn: exact.fn, kwargs: parseExactJson(Buffer.from(exact.kwargs), { maxDepth: MOST_DEPTH }) }
    : { msg: words, subject: title };
  return { type, event: { run_id: run, spec } };
}
