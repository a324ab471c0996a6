import { openBoundedThread } from "../bounded-thread.ts";
import { mayHold, mergeSpans, type SecretMatch } from "./secret-rules.ts";
import type { SecretJob } from "./secret-worker.ts";

/** A text to scan, and its name in reports. */
export interface SecretText {
  path: string;
  text: string;
  /** The name of the member whose value it is: what a password is called often says more than how it looks. */
  name?: string | undefined;
}

/** Where a secret stands: characters (code points) of the text at `path`. */
export interface Find {
  path: string;
  /** Such as `aws-access-key`. */
  rule: string;
  from: number;
  to: number;
}

export interface Scan {
  /** In the order of the texts. */
  finds: readonly Find[];
  /** There may be more: looking took too long. For the public that counts as a find, for a team as none. */
  timedOut: boolean;
}

/** Looks for secrets in what agents and people write (spec/security 5). */
export interface SecretScan {
  /**
   * Returns where secrets stand: tokens of known formats, private keys, what is assigned to a name of a secret and
   * looks like one, keys of our own, and the operator's canaries. `secret://<name>` is a reference, and never a find.
   */
  find(texts: readonly SecretText[]): Promise<Scan>;
  /** Returns whether `find` would look at a text at all; true of every text it finds something in. */
  isSuspect(text: string): boolean;
  close(): Promise<void>;
}

const LIMITS = { mostCpuMs: 250, mostHeapMb: 64 };
/** More characters than these go to the thread unseen: even to ask whether they may hold anything would take a while. */
const MANY = 20_000;
const NOTHING: Scan = { finds: [], timedOut: false };

/**
 * Returns a scanner that works in a thread of its own, which starts with the first text that may hold anything; most
 * texts cannot, and cost the caller next to nothing.
 */
export function openSecretScan({ canaries }: { canaries: readonly string[] }): SecretScan {
  const thread = openBoundedThread<SecretJob, readonly (readonly SecretMatch[])[]>(
    new URL("./secret-worker.ts", import.meta.url),
    LIMITS,
  );

  return {
    isSuspect: (text) => text.length > MANY || mayHold(text) || canaries.some((canary) => text.includes(canary)),
    async find(texts) {
      const planted = texts.map(({ text }) => findCanaries(text, canaries));
      const areMany = texts.reduce((sum, { text }) => sum + text.length, 0) > MANY;
      const isSuspect = texts.map(({ text, name }) => areMany || mayHold(text, name));
      const suspects = texts.filter((_, i) => isSuspect[i]);
      if (suspects.length === 0 && planted.every(({ length }) => length === 0)) return NOTHING;
      const found = suspects.length > 0 ? await thread.work(suspects.map(({ text, name }) => ({ text, name }))) : [];
      let looked = 0;
      const finds = texts.flatMap((one, i) => {
        const spans = (isSuspect[i] && found?.[looked++]) || [];
        return inCharacters(one, mergeSpans([...(planted[i] ?? []), ...spans]));
      });
      return { finds, timedOut: found === undefined };
    },
    close: () => thread.close(),
  };
}

/** Returns the text with `[secret:<rule>]` in the place of each find. The finds are those of this one text. */
export function redact(text: string, finds: readonly Omit<Find, "path">[]): string {
  const placeOf = placesIn(text);
  let end = 0;
  let kept = "";
  for (const { rule, from, to } of finds.toSorted((one, other) => one.from - other.from)) {
    kept += `${text.slice(end, placeOf(from))}[secret:${rule}]`;
    end = placeOf(to);
  }
  return kept + text.slice(end);
}

function findCanaries(text: string, canaries: readonly string[]): SecretMatch[] {
  return canaries.flatMap((canary) => {
    const spans: SecretMatch[] = [];
    for (let from = text.indexOf(canary); from >= 0; from = text.indexOf(canary, from + canary.length)) {
      spans.push({ rule: "canary", from, to: from + canary.length });
    }
    return spans;
  });
}

/** The spans are in order and have nothing in common, so one walk through the text is enough for all of them. */
function inCharacters({ path, text }: SecretText, spans: readonly SecretMatch[]): Find[] {
  let [units, characters] = [0, 0];
  const count = (to: number): number => {
    for (; units < to; characters += 1) units += unitsAt(text, units);
    return characters;
  };
  return spans.map(({ rule, from, to }) => ({ path, rule, from: count(from), to: count(to) }));
}

/** Returns a function that returns where a character of a text begins. Call it in the order of the text. */
function placesIn(text: string): (character: number) => number {
  let [units, characters] = [0, 0];
  return (character) => {
    for (; characters < character && units < text.length; characters += 1) units += unitsAt(text, units);
    return units;
  };
}

function unitsAt(text: string, place: number): number {
  return (text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
}
