import { cutTo, firstSentenceOf, titleOf } from "../../core/model/title.ts";
import { printable } from "../../lib/printable.ts";
import { sentenceOfCall } from "./call-sentence.ts";
import { writtenSentence } from "./written-sentence.ts";
import type { PlanWire } from "./plan.ts";
import type { Request } from "./request.ts";
import { LONGEST_READ, MOST_LOOKED_AT } from "./risk.ts";
import { joined, quoted } from "./sentence-parts.ts";
import { LANGUAGES, wordsFor, type Language, type SentenceWords } from "./sentence-words.ts";
import { maskedArguments, shownTitle } from "./view.ts";
import { leavesIn } from "../facts/read-leaves.ts";
import { headOf } from "../facts/function-name.ts";

const LONGEST_OWN = 90;
const LONGEST_PLAN = 200;
const LONGEST_FIRST = 160;

/**
 * Returns one line by which a person decides about a request, the same wherever it is shown. For a call, it is the
 * function in words, what it acts on, amounts with their currency, the receiver and the place, and the switches that
 * destroy something. An operator's sentence for the function stands instead of it; one of the agent stands behind it,
 * marked as the agent's (spec/security 4). For any other request it is the title, or the first sentence if the title is
 * the first line of the words. A plan has its title and the number of its calls, or else its first call.
 *
 * Secrets are masked, long text is cut, and invisible characters are escaped. At most 200 characters.
 */
export function sentenceOf(
  request: Pick<Request, "form" | "title" | "wire" | "words">,
  language: Language = "en",
): string {
  const { form, title, words } = request;
  if (form.kind !== "approval") {
    const first = title === titleOf(words) ? printable(firstSentenceOf(words)) : "";
    return first === "" ? shownTitle(request) : first;
  }
  const say = wordsFor(language);
  if (form.calls !== undefined) return sentenceOfPlan(request, form.calls, say, language);
  const { head } = headOf(form.fn);
  const about = (fact: string) => joined(head, [{ joint: ": ", weight: Infinity, say: () => fact }]);
  // Nobody is helped by a few of so many, and looking through them all takes a while.
  if (form.kwargs.length > LONGEST_READ) return about(say.characters(form.kwargs.length));
  const kwargs = maskedArguments(request, form.kwargs);
  const leaves = leavesIn(kwargs, form.kwargsSchema);
  if (leaves.length > MOST_LOOKED_AT) return about(say.argumentCount(leaves.length));
  const says = request.wire["says"];
  const operators = typeof says === "string" ? writtenSentence(says, kwargs) : null;
  if (operators !== null) return operators;
  const own = form.kwargsSchema?.["x-parley-sentence"];
  const agents = typeof own === "string" ? writtenSentence(own, kwargs) : null;
  return sentenceOfCall(
    form.fn,
    leaves,
    say,
    agents === null ? null : say.agentSays(quoted(agents, LONGEST_OWN).slice(1, -1)),
  );
}

function sentenceOfPlan(
  request: Pick<Request, "form" | "title" | "wire">,
  calls: number,
  say: SentenceWords,
  language: Language,
): string {
  const { first } = request.wire as PlanWire;
  if (first === undefined) return cutTo(LONGEST_PLAN, `${say.plan(calls)}: ${shownTitle(request)}`);
  return calls === 1 ? first[language] : `${cutTo(LONGEST_FIRST, first[language])} ${say.more(calls - 1)}`;
}

/** Returns the sentence of a request in each language, to be kept where the request itself is not read. */
export function sentencesOf(request: Parameters<typeof sentenceOf>[0]): Record<Language, string> {
  const said = LANGUAGES.map((language) => [language, sentenceOf(request, language)] as const);
  return Object.fromEntries(said) as Record<Language, string>;
}
