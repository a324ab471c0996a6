import { cutTo } from "../../core/model/title.ts";
import { canonicalExact, readExactJson } from "../../lib/json/exact-json.ts";
import { printableExactly } from "../../lib/printable.ts";
import { moneyOf, type Money } from "./argument-money.ts";
import { RUNS, weightOf, wordsIn, wordsOfName, type ArgumentMember } from "./argument-order.ts";
import { readDiff, summaryOfDiff } from "../../core/model/unified-diff.ts";

/** One fact of a row: an argument, or several that say one thing. */
export interface TellingArgument {
  members: readonly ArgumentMember[];
  /** The most telling is the heaviest; negative for words about the call. */
  weight: number;
  /** Returns the fact in a few words. */
  says: () => string;
}

const LONGEST_NAME = 30;
const LONGEST_VALUE = 60;
const MOST_FILES = 3;
/** The last words of the names of arguments that say what a thing is called. */
const NAMES = wordsIn("subject title name");
const PLACES = wordsIn("path file filename");
const RECIPIENTS = wordsIn("to cc bcc recipient");
/** Without its quotes such a text could pass for something else: a number, a switch, a list, or the next argument. */
const NEEDS_QUOTES =
  /^\s|\s$|^$|[,:;—](?:\s|$)|^(?:true|false|null|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$|^[[{"“]|^\d+ (?:recipients|items)$|(?: and \d+ more| [+−]\d+)$/i;

/**
 * Returns the arguments of a call as facts for a row: code and changes first, then the subject or name and amounts of
 * money, paths and recipients, then all others in the order of `weightOf`. It goes by names in English.
 */
export function tellingArguments(all: readonly ArgumentMember[]): TellingArgument[] {
  const currency = currencyBeside(all);
  const moneyIn = ({ name, value }: ArgumentMember) => moneyOf(name, value, { currency });
  const isMoney = all.some((member) => moneyIn(member) !== null);
  const recipients = all.filter(({ name, value }) => isRecipients(name) && addressesIn(value).length > 0);
  const count = recipients.reduce((sum, { value }) => sum + addressesIn(value).length, 0);
  // One is enough: an agent chooses these words, and two of them would leave no room for another argument.
  const called = all.find(isName);
  return all.flatMap((member): TellingArgument[] => {
    if (count > 1 && recipients.includes(member)) {
      const says = () => `${count} recipients`;
      return member === recipients[0] ? [{ members: recipients, weight: 4, says }] : [];
    }
    if (member.name === "currency" && currency !== null && isMoney) return [];
    const money = moneyIn(member);
    const weight = money || member === called ? 5 : telling(member);
    return [{ members: [member], weight, says: () => inShort(member, money) }];
  });
}

/** Amounts of several objects may stand here, so that only one currency for all of them is certain. */
function currencyBeside(all: readonly ArgumentMember[]): string | null {
  const [only = null, ...others] = new Set(all.filter(({ name }) => name === "currency").map(({ value }) => value));
  return only?.startsWith('"') && others.length === 0 ? (JSON.parse(only) as string) : null;
}

function telling(member: ArgumentMember): number {
  const words = wordsOfName(member.name);
  const has = (kind: ReadonlySet<string>) => words.some((word) => kind.has(word));
  const weight = weightOf(member);
  if (weight === 0 && ["null", "false", '""'].includes(member.value)) return 0;
  if (has(RUNS) || diffIn(member.value)) return 6;
  return has(PLACES) || has(RECIPIENTS) ? 4 : weight;
}

function isName({ name, value }: ArgumentMember): boolean {
  return NAMES.has(wordsOfName(name).at(-1) ?? "") && value.startsWith('"') && value !== '""';
}

function isRecipients(name: string): boolean {
  return wordsOfName(name).some((word) => RECIPIENTS.has(word));
}

/** The addresses of a list, or of a text that holds several mail addresses. */
function addressesIn(value: string): string[] {
  const of = JSON.parse(value) as unknown;
  if (Array.isArray(of)) return of.filter((one) => one !== null).map(String);
  if (typeof of !== "string" || of === "") return [];
  const parts = of.split(/[,;]/).filter((part) => part.trim() !== "");
  return parts.every((part) => part.includes("@")) ? parts : [of];
}

function inShort({ name, value }: ArgumentMember, money: Money | null): string {
  const called = short(LONGEST_NAME, name);
  if (money) return `${called}: ${money.amount} ${money.currency}`;
  const change = diffIn(value);
  if (change) return change.startsWith("+") ? `${called}: ${change}` : change;
  if (value.startsWith('"')) return `${called}: ${bare(JSON.parse(value) as string)}`;
  if (!value.startsWith("[")) return `${called}: ${short(LONGEST_VALUE, value)}`;
  return `${called}: ${listInShort(name, readExactJson(value) as unknown[])}`;
}

/** A command in parts as it is written at a prompt; the first element of any other list, and how many there are. */
function listInShort(name: string, items: readonly unknown[]): string {
  const shown = items.map((item) => (typeof item === "string" ? item : null));
  const isText = shown.every((item) => item !== null);
  if (isText && wordsOfName(name).some((word) => RUNS.has(word))) return bare(shown.join(" "));
  const [first] = items;
  const more = items.length > 1 ? ` and ${items.length - 1} more` : "";
  if (typeof first === "string") return `${bare(first)}${more}`;
  const inJson = canonicalExact(first ?? null);
  if (/^[[{]/.test(inJson)) return `${items.length} ${items.length === 1 ? "item" : "items"}`;
  return `${short(LONGEST_VALUE, inJson)}${more}`;
}

/** A text on one line, in quotes where it could pass for something else; no quote inside ends them. */
function bare(text: string): string {
  const line = text
    .slice(0, 4 * LONGEST_VALUE)
    .replace(/\r\n|[\r\n]/g, " ↵ ")
    .replaceAll("\t", " ");
  if (!NEEDS_QUOTES.test(line)) return short(LONGEST_VALUE, line);
  return `“${short(LONGEST_VALUE, line.replace(/[“”]/g, '"'))}”`;
}

/** The files of a diff and its added and removed lines, such as `README.md, package.json +12 −3`; null for any other value. */
function diffIn(value: string): string | null {
  if (!value.includes("\\n")) return null;
  const of = JSON.parse(value) as unknown;
  const texts: unknown[] = Array.isArray(of) ? of : [of];
  for (const text of texts) {
    const lines = typeof text === "string" ? readDiff(text.split("\n")) : null;
    if (!lines) continue;
    const { files, added, removed } = summaryOfDiff(lines);
    const more = files.length > MOST_FILES ? ` and ${files.length - MOST_FILES} more` : "";
    const named = files.length === 0 ? "" : `${files.slice(0, MOST_FILES).map(bare).join(", ")}${more} `;
    return `${named}+${added} −${removed}`;
  }
  return null;
}

/** The beginning of a text; an escape is at most as long as ten characters, so what is cut before is never missed. */
function short(most: number, text: string): string {
  return cutTo(most, printableExactly(text.slice(0, 4 * most)));
}
