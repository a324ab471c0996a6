/** The names and addresses of a person, and the pseudonym that replaces them once they are erased. */
export interface Identifiers {
  /** Null where somebody else has the same name, so that the name alone does not identify the person. */
  name: string | null;
  /** Stands for the name: tells one erased person from another, and nobody who that is. */
  pseudonym: string;
  /** Mail addresses, telephone numbers and Slack users, as they are normally written. */
  addresses: readonly string[];
}

export const pseudonymOf = (person: string): string => `Erased person ${person}`;

/**
 * Matches the place before a name or an address: the beginning, a character of no word, or an escape of JSON or of a
 * URL.
 */
const BEFORE = String.raw`(?<=^|[^\p{L}\p{N}._+-]|\\[nrtbf]|%[0-9A-Fa-f]{2})`;
const AFTER_ADDRESS = String.raw`(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])`;
const AFTER_NAME = String.raw`(?![\p{L}\p{N}_])`;
/** Where a name is a whole value, by itself or in JSON. */
const VALUE_BEGINS = String.raw`(?<=^|")`;
const VALUE_ENDS = String.raw`(?=$|\\*")`;

/** Returns the pattern that finds a text as it stands. */
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Returns every way in which an address is written. */
export function formsOf(address: string): string[] {
  const digits = address.startsWith("+") ? [address.slice(1)] : [];
  return [...new Set([address, encodeURIComponent(address), ...digits])];
}

/**
 * Returns what makes a text one that names the person by the pseudonym, and by numbered words instead of addresses. A
 * name of several words goes wherever it stands. One of a single word may be a word of the language: it goes where it
 * is a whole value, and in sentences that this server has made (`isOurs`).
 */
export function eraser({ name, pseudonym, addresses }: Identifiers): (text: string, isOurs: boolean) => string {
  const number = pseudonym.replace(/\D+/g, "");
  const steps = addresses.flatMap((address, i) =>
    formsOf(address).map((form) => ({
      found: new RegExp(`${BEFORE}${literally(form)}${AFTER_ADDRESS}`, "giu"),
      put: `erased-${number}-${i + 1}`,
    })),
  );
  const forms = name === null ? [] : [...new Set([name, JSON.stringify(name).slice(1, -1)])];
  const isDistinct = name !== null && /\s/.test(name);
  const namesFound = (isWord: boolean) =>
    forms.map((form) => {
      const [before, after] = isWord ? [BEFORE, AFTER_NAME] : [VALUE_BEGINS, VALUE_ENDS];
      return { found: new RegExp(`${before}${literally(form)}${after}`, "gu"), put: pseudonym };
    });
  const anywhere = [...steps, ...namesFound(isDistinct)];
  const inOurs = [...steps, ...namesFound(true)];
  return (text, isOurs) =>
    (isOurs ? inOurs : anywhere).reduce((before, { found, put }) => before.replace(found, () => put), text);
}

/** Returns a list of addresses in JSON without those that were erased: a copy of a mail goes to nobody in their place. */
export function withoutErased(json: string): string {
  return json.replace(/(?<=\[)"erased-\d+-\d+"(?:,|(?=\]))|,"erased-\d+-\d+"(?=[,\]])/g, "");
}

/**
 * The part of a text that a digest covers, and that stays as it was approved: the arguments of a call. The rest may
 * change.
 */
const ARGUMENTS = /("kwargs":"(?:[^"\\]|\\.)*")/;

/** Changes a text of JSON everywhere but in a call's arguments. */
export function besideArguments(json: string, change: (part: string) => string): string {
  return json
    .split(ARGUMENTS)
    .map((part, i) => (i % 2 === 1 ? part : change(part)))
    .join("");
}
