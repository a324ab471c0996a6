import { parseExactJson } from "../../lib/json/exact-json.ts";
import { printableLines } from "../../lib/printable.ts";
import { withoutForgery } from "../../requests/model/agent-words.ts";
import type { RequestView } from "../../requests/model/view.ts";
import { pageText, shapedPage } from "./html-text.ts";
import { parseTemplate, renderTemplate } from "./template.ts";
import type { Values } from "./template-condition.ts";

/** The use of agents' HTML templates: they are ignored, read as text, or sent as sanitized HTML. */
export type Templates = "off" | "text" | "sanitized";

/** Longer, and an agent's words would bury what Parley says itself. */
const MOST_CHARACTERS = 20_000;
/** As deep as a body may be nested. */
const MOST_DEPTH = 64;

/** The words of an agent's template about a request: as text, and as HTML where that is configured. */
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
  view: RequestView,
  { isShaped, ours }: { isShaped: boolean; ours: string },
): TemplateWords | null {
  const page = renderTemplate(parseTemplate(source), valuesOf(view));
  const written = printableLines(pageText(page)).join("\n");
  const words = withoutForgery(written, ours);
  if (words === "") return null;
  const isWhole = words.length <= MOST_CHARACTERS && words === written;
  const text = words.length <= MOST_CHARACTERS ? words : `${words.slice(0, MOST_CHARACTERS)}…`;
  return { text, html: isShaped && isWhole ? shapedPage(page) : null };
}

/** Returns the values that a template can show: the agent's own request, without data of people or of this server. */
function valuesOf({ kind, run, title, words, exact }: RequestView): Values {
  const type = { approval: "function_call", reply: "human_contact", value: "message" }[kind];
  const spec = exact
    ? { fn: exact.fn, kwargs: parseExactJson(Buffer.from(exact.kwargs), { maxDepth: MOST_DEPTH }) }
    : { msg: words, subject: title };
  return { type, event: { run_id: run, spec } };
}
