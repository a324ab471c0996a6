import { wordDiff, type WordPart } from "../../lib/word-diff.ts";
import { printableLinesExactly } from "../../lib/printable.ts";
import { membersOf, riskiestNames } from "./argument-order.ts";
import type { RequestForm, Request } from "./request.ts";
import { holdsSecret, indented, maskedArgument } from "./view.ts";

/** A call as it was asked, or as it ran. */
export type ComparedCall = Pick<Request, "wire"> & { form: RequestForm & { kind: "approval" } };

/** An argument in which two calls of one function differ. */
export interface ArgumentChange {
  name: string;
  kind: "added" | "removed" | "changed";
  /** The JSON of the earlier value; null without one, and where it is hidden. Invisible characters are escaped. */
  before: string | null;
  /** The same of the present value. */
  now: string | null;
  /** Both values word by word: two texts without their quotes, or the JSON of two lists or objects; else null. */
  words: readonly WordPart[] | null;
  /** A secret is masked, or the whole value is left out where its characters are not known; a long value is left out. */
  hidden: "secret" | "long" | null;
}

/** In characters of JSON; of longer values, only that they differ is said. */
const LONGEST_COMPARED = 2000;
/** Nobody reads more of an earlier call beside the present one. */
const MOST_CHANGES = 20;

/** Returns the arguments in which two calls differ, those that matter most first, and the number of more of them. */
export function argumentChanges(
  before: ComparedCall,
  now: ComparedCall,
): { changes: readonly ArgumentChange[]; more: number } {
  const [earlier, present] = [membersOf(before.form.kwargs), membersOf(now.form.kwargs)];
  const [was, is] = [earlier, present].map((members) => new Map(members.map(({ name, value }) => [name, value])));
  const differing = riskiestNames([...present, ...earlier]).filter((name) => was?.get(name) !== is?.get(name));
  const changes = differing.slice(0, MOST_CHANGES).map((name) =>
    changeOf(name, [
      { call: before, value: was?.get(name) },
      { call: now, value: is?.get(name) },
    ]),
  );
  return { changes, more: differing.length - changes.length };
}

/** The value of an argument in a call, undefined where the call does not have it. */
interface Side {
  call: ComparedCall;
  value: string | undefined;
}

function changeOf(name: string, sides: readonly [before: Side, now: Side]): ArgumentChange {
  const [before, now] = sides;
  const isSecret = sides.some(({ call, value }) => value !== undefined && holdsSecret(call, name));
  const isLong = sides.some(({ value = "" }) => value.length > LONGEST_COMPARED);
  const kind = before.value === undefined ? "added" : now.value === undefined ? "removed" : "changed";
  if (isLong) return { name, kind, before: null, now: null, words: null, hidden: isSecret ? "secret" : "long" };
  const [was, is] = [before, now].map((side) => openValue(name, side));
  return {
    name,
    kind,
    before: was === undefined ? null : shown(indented(was)),
    now: is === undefined ? null : shown(indented(is)),
    words: was === undefined || is === undefined ? null : differingWords(was, is),
    hidden: isSecret ? "secret" : null,
  };
}

/** Returns a value with its secrets masked; undefined without one, and where nobody knows which characters are secret. */
function openValue(name: string, { call, value }: Side): string | undefined {
  if (value === undefined || !holdsSecret(call, name)) return value;
  return maskedArgument(call, name) ?? undefined;
}

/** Returns null also where the difference is one that only JSON shows. */
function differingWords(before: string, now: string): WordPart[] | null {
  const sort = sortOf(before);
  if (sort === "other" || sort !== sortOf(now)) return null;
  const [was = "", is = ""] = [before, now].map((value) =>
    shown(sort === "text" ? (JSON.parse(value) as string) : indented(value)),
  );
  return was === is ? null : wordDiff(was, is);
}

function sortOf(json: string): "text" | "list" | "object" | "other" {
  const sorts = { '"': "text", "[": "list", "{": "object" } as const;
  return sorts[json[0] as keyof typeof sorts] ?? "other";
}

function shown(text: string): string {
  return printableLinesExactly(text).join("\n");
}
