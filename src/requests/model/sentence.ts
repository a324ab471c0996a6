import { printable, printableExactly } from "../../lib/printable.ts";
import { cutTo, firstSentenceOf, titleOf } from "../../core/model/title.ts";
import { membersOf, type ArgumentMember } from "./argument-order.ts";
import type { Request } from "./request.ts";
import { argumentsIn, lastPart, LONGEST_READ, looksGrave, MOST_LOOKED_AT } from "./risk.ts";
import { tellingArguments } from "./telling-argument.ts";
import { holdsSecret, maskedArgument, shownTitle } from "./view.ts";

const MOST_ARGUMENTS = 2;
const LONGEST_FUNCTION = 60;
/** Letters, digits and what joins words: such a name can stand in a sentence without hiding anything. */
const IS_SPEAKABLE = /^[A-Za-z][A-Za-z0-9]*(?:(?:_{1,2}|[-.:/])[A-Za-z0-9]+)*$/;
/**
 * Returns one line about a request that distinguishes it from its neighbours in a list. For a call, the line is the
 * function in words and its two most telling arguments (`telling-argument.ts`). For any other request it is the
 * title, or the first sentence if the title is the first line of the words.
 *
 * Arguments that look grave by themselves (`risk.ts`) come first. Empty and switched-off arguments are left out. So are
 * the agent's own words about the call, unless there is nothing else. Secrets are masked, long text is cut, and
 * invisible characters are escaped.
 */
export function sentenceOf(request: Pick<Request, "form" | "title" | "wire" | "words">): string {
  const { form, title, words } = request;
  if (form.kind !== "approval") {
    const first = title === titleOf(words) ? printable(firstSentenceOf(words)) : "";
    return first === "" ? shownTitle(request) : first;
  }
  const does = cutTo(LONGEST_FUNCTION, inWords(form.fn));
  // Nobody is helped by two of so many, and looking through them all takes a while.
  if (form.kwargs.length > LONGEST_READ) return `${does} — ${form.kwargs.length} characters of arguments`;
  const shown = membersOf(form.kwargs).flatMap((member) => {
    if (!holdsSecret(request, member.name)) return [member];
    const masked = maskedArgument(request, member.name);
    return masked === null ? [] : [{ ...member, value: masked }];
  });
  const leaves = shown.flatMap(leavesOf);
  if (leaves.length > MOST_LOOKED_AT) return `${does} — ${leaves.length} arguments`;
  const telling = mostTelling(leaves);
  return telling.length === 0 ? does : `${does} — ${telling.join(", ")}`;
}

function mostTelling(members: readonly ArgumentMember[]): string[] {
  const weighed = tellingArguments(members)
    .map((one) => ({ ...one, weight: one.members.some(isGrave) ? Infinity : one.weight }))
    .filter(({ members, weight }) => weight === Infinity || !members.every(({ value }) => isNothing(value)))
    .sort((one, other) => other.weight - one.weight);
  const done = weighed.filter(({ weight }) => weight >= 0);
  return (done.length > 0 ? done : weighed).slice(0, MOST_ARGUMENTS).map(({ says }) => says());
}

/** The members of an object that is an argument count as arguments: relayed calls have all of theirs in one. */
function leavesOf(member: ArgumentMember): ArgumentMember[] {
  return member.value.startsWith("{") ? membersOf(member.value).flatMap(leavesOf) : [member];
}

function isGrave({ name, value }: ArgumentMember): boolean {
  return argumentsIn(JSON.parse(value), name).some(looksGrave);
}

function isNothing(value: string): boolean {
  return ["null", "false", '""', "[]"].includes(value);
}

/** `delete_database` is "Delete database", `mcp__github__deleteRepo` "Delete repo (github)"; any other name stays. */
function inWords(fn: string): string {
  if (!IS_SPEAKABLE.test(fn)) return printableExactly(fn);
  const last = lastPart(fn);
  const words = last
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[ _-]+/)
    .map((word) => (/^[A-Z][a-z]+$/.test(word) ? word.toLowerCase() : word))
    .join(" ");
  const before = fn.slice(0, -last.length).replace(/^mcp__|__$|[.:/]$/g, "");
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${before === "" ? "" : ` (${before})`}`;
}
