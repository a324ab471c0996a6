import { membersOf as exactMembersOf, readExactJson } from "../../../lib/json/exact-json.ts";
import { printableExactly, printableLinesExactly } from "../../../lib/printable.ts";
import type { Request } from "../../../requests/model/request.ts";
import { argumentsOf, riskiestMembers } from "../../../requests/model/argument-order.ts";
import { partsIn, typedArgument, type TypedArgument } from "../../../requests/model/typed-argument.ts";
import { holdsSecret, indented, maskedArgument } from "../../../requests/model/view.ts";
import type { WireArgumentRow, WireTypedArgument } from "../../../wire/inbox.ts";

/** So much of one call is drawn as what it is: characters, and lines, items, cells or amounts. The rest is JSON alone. */
const MOST_DRAWN_CHARACTERS = 250_000;
const MOST_DRAWN_PARTS = 5000;

/** Returns canonical arguments of a call as people are shown them, the riskiest first. */
export function argumentRows(request: Pick<Request, "wire">, kwargs: string): WireArgumentRow[] {
  const members = riskiestMembers(kwargs);
  const draw = drawWithin(exactMembersOf(readExactJson(kwargs)));
  return rowsOf(printableLinesExactly(indented(argumentsOf(members))).join("\n")).map((row, i) => {
    const { name = "", value = "null" } = members[i] ?? {};
    const secret = holdsSecret(request, name);
    const typed = draw(name, value);
    return {
      ...row,
      typed: typed && ({ ...typed, is: typed.kind } as WireTypedArgument),
      secret,
      masked: secret ? maskedText(request, name) : null,
    };
  });
}

/** Draws one argument after the other, among which they stand, until they are as many or as long as one view draws. */
function drawWithin(beside: Readonly<Record<string, unknown>>): (name: string, value: string) => TypedArgument | null {
  let [characters, parts] = [0, 0];
  return (name, value) => {
    if (parts >= MOST_DRAWN_PARTS || characters + value.length > MOST_DRAWN_CHARACTERS) return null;
    characters += value.length;
    const typed = typedArgument(name, value, beside);
    if (typed === null || parts + partsIn(typed) > MOST_DRAWN_PARTS) return null;
    parts += partsIn(typed);
    return typed;
  };
}

/** Returns whether each argument of a call holds a secret, in the order of its rows. */
export function secretRows(request: Pick<Request, "wire">, kwargs: string): boolean[] {
  return riskiestMembers(kwargs).map(({ name }) => holdsSecret(request, name));
}

function maskedText(request: Pick<Request, "wire">, name: string): string | null {
  const masked = maskedArgument(request, name);
  return masked === null ? null : withLineBreaks(printableLinesExactly(indented(masked)).join("\n"));
}

/**
 * Splits the arguments as a view shows them, one row each, in their order: the rows hold the same characters as the
 * text, but for white space between the parts of it. A line break inside a string stays `\n` and also begins a new line,
 * so that a long text can be read.
 */
function rowsOf(argumentsText: string): { name: string; text: string }[] {
  const rows: { name: string; text: string }[] = [];
  for (const line of argumentsText.split("\n").slice(1, -1)) {
    const found = /^ {2}"((?:[^"\\]|\\.)*)": (.*)$/su.exec(line);
    const last = rows.at(-1);
    if (found) rows.push({ name: nameOf(found[1] ?? ""), text: found[2] ?? "" });
    else if (last) last.text += `\n${line.slice(2)}`;
  }
  return rows.map(({ name, text }) => ({ name, text: withLineBreaks(text.replace(/,$/, "")) }));
}

/** Returns the name of an argument as its row has it. */
export const shownName = (name: string): string => nameOf(printableExactly(JSON.stringify(name)).slice(1, -1));

/** A name whose letters are written as they are is shown without its quotes; any other as it stands in the text. */
function nameOf(inside: string): string {
  return inside.includes("\\") || inside.trim() !== inside || inside === "" ? `"${inside}"` : inside;
}

function withLineBreaks(text: string): string {
  return text.replace(/\\(.)/gsu, (escape, letter: string) => (letter === "n" ? `${escape}\n` : escape));
}
