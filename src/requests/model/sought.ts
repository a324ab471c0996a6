import { leavesOf } from "./audience.ts";
import type { Language } from "./sentence-words.ts";
import { sentenceOf } from "./sentence.ts";
import { agentName, askerName, isGuarded, optionsOf, withEditedArguments } from "./view.ts";
import type { Request, DecidedBy } from "./request.ts";

/** The most characters of a text that are searched. Few texts are longer, and a whole page of the inbox is searched. */
const LONGEST_LOOKED_AT = 20_000;
const MOST_WORDS = 8;

/** How people are called, by id, and the language in which the reader sees sentences. */
interface Seeker {
  called: ReadonlyMap<string, string>;
  language: Language;
}

/** Returns the words somebody looks for, each once, as they are compared. */
export function soughtWords(query: string): string[] {
  const words = folded(query)
    .split(/\s+/)
    .filter((word) => word !== "");
  return [...new Set(words)].slice(0, MOST_WORDS);
}

/**
 * Returns whether every one of the words stands somewhere in what people are shown of a request: who asked, who may
 * answer while it waits and who decided, what would run or was asked, the agent's words and the answer, and the day on which it ended (UTC,
 * `2026-11-23`, or its beginning). Arguments that hold a secret are not looked through, and neither are addresses.
 */
export function isSought(request: Request, words: readonly string[], seeker: Seeker): boolean {
  if (words.length === 0) return true;
  const shown = folded(textsOf(request, seeker).join("\n"));
  return words.every((word) => shown.includes(word));
}

function textsOf(request: Request, { called, language }: Seeker): string[] {
  const { form, outcome } = request;
  const asked = request.state === "open" ? leavesOf(request.audience).map(({ target }) => target) : [];
  const chosen = optionsOf(request).find(({ name }) => name === outcome?.option);
  const edited = outcome?.edited ? (outcome.kwargs ?? "") : "";
  const texts = [
    request.settledAt === null ? "" : new Date(request.settledAt).toISOString().slice(0, 10),
    askerName(request),
    outcome?.by ? nameOf(outcome.by, called) : "",
    ...asked.map((target) => (target.via === "person" ? (called.get(target.person) ?? "") : "")),
    sentenceOf(request, language),
    language === "en" ? "" : sentenceOf(request),
    form.kind === "approval" ? form.fn : request.title,
    form.kind === "approval" && !isGuarded(request) ? form.kwargs : "",
    isGuarded(withEditedArguments(request, edited, outcome?.guard)) ? "" : edited,
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
