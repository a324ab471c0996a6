import { sentenceOf } from "./sentence.ts";
import { agentName, askerName, isGuarded, optionsOf } from "./view.ts";
import type { Request, DecidedBy } from "./request.ts";

/** The most characters of a text that are searched. Few texts are longer, and a whole page of the inbox is searched. */
const LONGEST_LOOKED_AT = 20_000;
const MOST_WORDS = 8;

/** Returns the words somebody looks for, each once, as they are compared. */
export function soughtWords(query: string): string[] {
  const words = folded(query)
    .split(/\s+/)
    .filter((word) => word !== "");
  return [...new Set(words)].slice(0, MOST_WORDS);
}

/**
 * Returns whether every one of the words stands somewhere in what people are shown of an ask that is over: who asked and
 * who decided, what would run or was asked, the agent's words and the answer, and the day on which it ended (UTC,
 * `2026-11-23`, or its beginning). Arguments that hold a secret are not looked through, and neither are addresses.
 *
 * @param called how people are called, by id
 */
export function isSought(request: Request, words: readonly string[], called: ReadonlyMap<string, string>): boolean {
  const shown = folded(textsOf(request, called).join("\n"));
  return words.every((word) => shown.includes(word));
}

function textsOf(request: Request, called: ReadonlyMap<string, string>): string[] {
  const { form, outcome } = request;
  const chosen = optionsOf(request).find(({ name }) => name === outcome?.option);
  const isOpenly = form.kind === "approval" && !isGuarded(request);
  const texts = [
    request.settledAt === null ? "" : new Date(request.settledAt).toISOString().slice(0, 10),
    askerName(request),
    outcome?.by ? nameOf(outcome.by, called) : "",
    sentenceOf(request),
    form.kind === "approval" ? form.fn : request.title,
    isOpenly ? form.kwargs : "",
    isOpenly && outcome?.edited ? (outcome.kwargs ?? "") : "",
    request.words,
    chosen?.title ?? outcome?.option ?? "",
    outcome?.comment ?? "",
    outcome?.text ?? "",
    outcome?.value ?? "",
  ];
  return texts.map((text) => text.slice(0, LONGEST_LOOKED_AT));
}

/** Returns the name of a decider; empty for one who is known only by an address. */
function nameOf({ kind, id }: DecidedBy, called: ReadonlyMap<string, string>): string {
  if (kind === "person") return called.get(id) ?? "";
  return kind === "agent" ? agentName(id) : kind === "policy" ? id : "";
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
