/** One member of a call's arguments, as it stands in their canonical text. */
export interface ArgumentMember {
  name: string;
  /** `"name":value`, character for character. */
  text: string;
  value: string;
}

/** Names of arguments that are run. */
export const RUNS = wordsIn("command cmd code script sql query statement expression eval exec shell program");
/** Names of people and things that a call affects, and of what it deletes, opens or gives out. */
const REACHES = wordsIn(
  "to cc bcc from recipient destination dest target source url uri link host hostname domain ip port endpoint webhook",
  "path file filename folder dir directory bucket database table repo repository branch ref environment env region",
  "account iban bic card wallet address email mail phone number channel user customer member employee owner person",
  "role permission scope grant access acl policy public visibility admin sudo root privilege policy",
  "password passphrase secret token credential key",
  "resource force delete remove destroy drop overwrite replace recursive purge truncate wipe reset disable revoke bypass skip all",
);
/** Names of amounts. */
const AMOUNTS = wordsIn(
  "amount sum total price cost fee value quantity qty count limit max maximum budget balance rate percent percentage",
  "discount currency duration days hours minutes seconds ttl timeout size replicas",
);
/** Names of arguments in which an agent describes the call in its own words. */
const SAYS = wordsIn(
  "description reason comment note message explanation summary title label subject why context prompt",
);
const ADDRESS = /^"(?:[a-z][a-z0-9+.-]*:\/\/|\/|~\/|\.\.?\/|[A-Z]:\\\\)/i;

/**
 * Returns the members of a call's canonical arguments in another order: those that matter most to the approver come
 * first. The order is: code that runs; people and things affected; amounts; the rest; the agent's own
 * words about the call. Members of one kind keep their order.
 *
 * It goes by names in English and by what looks like an address, so it helps the eye and decides nothing: all arguments
 * are shown all the same.
 */
export function riskiestMembers(canonical: string): ArgumentMember[] {
  return membersOf(canonical)
    .map((member, place) => ({ member, place, weight: weightOf(member) }))
    .sort((one, other) => other.weight - one.weight || one.place - other.place)
    .map(({ member }) => member);
}

/** Returns the names of arguments, each once: those that matter most to an approver first, else as they first stand. */
export function riskiestNames(members: readonly ArgumentMember[]): string[] {
  const weights = new Map<string, number>();
  for (const member of members) weights.set(member.name, Math.max(weightOf(member), weights.get(member.name) ?? -1));
  return [...weights].sort(([, one], [, other]) => other - one).map(([name]) => name);
}

/** Returns the text of arguments that are these members, in their order. */
export function argumentsOf(members: readonly ArgumentMember[]): string {
  return `{${members.map(({ text }) => text).join(",")}}`;
}

/** Returns how much an argument matters to an approver: 4 code, 3 people and things, 2 amounts, 0 others, -1 words. */
export function weightOf({ name, value }: Pick<ArgumentMember, "name" | "value">): number {
  const words = wordsOfName(name);
  const has = (kind: ReadonlySet<string>) => words.some((word) => kind.has(word));
  if (value === "null" || value === "false" || value === '""') return 0;
  if (has(RUNS)) return 4;
  if (has(REACHES) || ADDRESS.test(value)) return 3;
  if (has(AMOUNTS)) return 2;
  return has(SAYS) ? -1 : 0;
}

/** Splits `orderIds`, `order_ids` and `order-ids` into `order`, `id`. */
function wordsOfName(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .flatMap((word) => [word, word.replace(/s$/, "")]);
}

export function wordsIn(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
}

/** Splits canonical JSON of an object at its top, without reading what is inside: every number keeps its digits. */
export function membersOf(canonical: string): ArgumentMember[] {
  const members: ArgumentMember[] = [];
  let depth = 0;
  let from = 1;
  for (let i = 0; i < canonical.length; i += 1) {
    const unit = canonical[i];
    if (unit === '"') {
      for (i += 1; canonical[i] !== '"'; i += 1) if (canonical[i] === "\\") i += 1;
      continue;
    }
    if (unit === "{" || unit === "[") depth += 1;
    if (unit === "}" || unit === "]") depth -= 1;
    const isOver = depth === 0 || (depth === 1 && unit === ",");
    if (!isOver || i <= from) continue;
    const text = canonical.slice(from, i);
    const [quoted = '""'] = /^"(?:[^"\\]|\\.)*"/su.exec(text) ?? [];
    members.push({ name: JSON.parse(quoted) as string, text, value: text.slice(quoted.length + 1) });
    from = i + 1;
  }
  return members;
}
