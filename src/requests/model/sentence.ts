import { firstSentenceOf, titleOf } from "../../core/model/title.ts";
import { printable } from "../../lib/printable.ts";
import { sentenceOfCall } from "./call-sentence.ts";
import { writtenSentence } from "./written-sentence.ts";
import type { Request } from "./request.ts";
import { LONGEST_READ, MOST_LOOKED_AT } from "./risk.ts";
import { joined, quoted } from "./sentence-parts.ts";
import { wordsFor, type Language } from "./sentence-words.ts";
import { maskedArguments, shownTitle } from "./view.ts";
import { leavesIn } from "../facts/read-leaves.ts";
import { headOf } from "../facts/function-name.ts";

const LONGEST_OWN = 90;

/**
 * Returns one line by which a person decides about a request, the same wherever it is shown. For a call, it is the
 * function in words, what it acts on, amounts with their currency, the receiver and the place, and the switches that
 * destroy something. An operator's sentence for the function stands instead of it; one of the agent stands behind it,
 * marked as the agent's (spec/security 4). For any other request it is the title, or the first sentence if the title is
 * the first line of the words.
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
