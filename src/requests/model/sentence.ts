import { printableExactly } from "../../lib/printable.ts";
import { cutTo } from "../../core/model/title.ts";
import { isDescriptionOnly, membersOf, weightOf, type ArgumentMember } from "./argument-order.ts";
import type { Request } from "./request.ts";
import { argumentsIn, lastPart, LONGEST_READ, looksGrave, MOST_LOOKED_AT } from "./risk.ts";
import { holdsSecret, maskedArgument, shownTitle } from "./view.ts";

const MOST_ARGUMENTS = 2;
const LONGEST_NAME = 30;
const LONGEST_VALUE = 60;
const LONGEST_FUNCTION = 60;
/** Letters, digits and what joins words: such a name can stand in a sentence without hiding anything. */
const IS_SPEAKABLE = /^[A-Za-z][A-Za-z0-9]*(?:(?:_{1,2}|[-.:/])[A-Za-z0-9]+)*$/;
/** Without its quotes such a text could pass for something else: a number, a switch, or the next argument. */
const NEEDS_QUOTES = /^\s|\s$|^$|[,:;—](?:\s|$)|^(?:true|false|null|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$|^[[{"]/i;

/**
 * Returns one line about a request that distinguishes it from its neighbours in a list. For a call, the line is the
 * function in words and its two most important arguments, never the agent's own words. For any other request it is the
 * title.
 *
 * The most important arguments are those that look grave by themselves (`risk.ts`), then the first in the order in
 * which people see them all (`argument-order.ts`). Empty and switched-off arguments are left out. So are the agent's
 * own words, unless there is nothing else. Secrets are masked, long text is cut, and invisible characters are escaped.
 */
export function sentenceOf(request: Pick<Request, "form" | "title" | "wire">): string {
  const { form } = request;
  if (form.kind !== "approval") return shownTitle(request);
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
  const telling = mostTelling(leaves).map(inShort);
  return telling.length === 0 ? does : `${does} — ${telling.join(", ")}`;
}

function mostTelling(members: readonly ArgumentMember[]): ArgumentMember[] {
  const weighed = members
    .map((member) => ({ member, weight: isGrave(member) ? Infinity : weightOf(member) }))
    .filter(({ member, weight }) => weight === Infinity || !isNothing(member.value))
    .sort((one, other) => other.weight - one.weight)
    .map(({ member }) => member);
  const done = weighed.filter((member) => !isDescriptionOnly(member));
  return (done.length > 0 ? done : weighed).slice(0, MOST_ARGUMENTS);
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

function inShort({ name, value }: ArgumentMember): string {
  const inside = /^"(.*)"$/s.exec(value)?.[1];
  const text = inside === undefined || NEEDS_QUOTES.test(inside) ? value : inside;
  return `${short(LONGEST_NAME, name)}: ${short(LONGEST_VALUE, text)}`;
}

/** The beginning of a text; an escape is at most as long as ten characters, so what is cut before is never missed. */
function short(most: number, text: string): string {
  return cutTo(most, printableExactly(text.slice(0, 4 * most)));
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
