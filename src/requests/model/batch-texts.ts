import { nearest } from "../../lib/nearest.ts";
import type { KeyCounts } from "./key-counts.ts";

const MAIL = /^(?:[^<>]*<)?[^\s<>@]+@(?<host>[^\s<>@]+)>?$/u;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#\s]*@)?(?<host>[^/?#\s]+)/iu;
const NAME = /^(?<host>[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+)$/u;
/** Shorter hosts are like many others. */
const SHORTEST_LIKE = 8;
/** A folder that texts share is looked for in so many characters, and so many folders deep. */
const LONGEST_BEGINNING = 500;
const MOST_BEGINNINGS = 20;
/** So many hosts are compared with one, the most frequent first; fewer where there are many to compare. */
const MOST_HOSTS = 100;
const FEWEST_HOSTS = 10;
const MOST_PAIRS = 200_000;
/** Letters that pass for others at a glance. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/rn/g, "m"],
  [/vv/g, "w"],
  [/[1il|]/g, "l"],
  [/0/g, "o"],
  [/5/g, "s"],
];

/**
 * Returns the host of a mail address or of the address of a page, in small letters; null for other texts. An argument
 * that is `namedHost` holds the name of a host alone, too.
 */
export function hostIn(text: string, namedHost: boolean): string | null {
  const words = text.trim();
  const host = (MAIL.exec(words) ?? ADDRESS.exec(words) ?? (namedHost ? NAME.exec(words) : null))?.groups?.["host"];
  return host === undefined ? null : host.toLowerCase();
}

/** Returns whether an argument of this name holds the name of a host. */
export const isNamedHost = (name: string): boolean => /domain|host|server|site|zone|endpoint|url|dns/i.test(name);

/**
 * Returns the host among those of other calls in whose place this one stands: it passes for that one, or others have few
 * hosts and not this one. Null for a host that fits.
 */
export function likeliestHost(host: string, hosts: KeyCounts, call: number, traits: HostTraits): string | null {
  if (hosts.count(call, host) > 0) return null;
  const most = Math.min(MOST_HOSTS, Math.max(FEWEST_HOSTS, MOST_PAIRS / hosts.total(call)));
  const names: string[] = [];
  for (const [other] of hosts.ranked(call)) {
    if (names.push(other) >= most) break;
  }
  const [first = ""] = names;
  if (names.some((other) => host.endsWith(`.${other}`))) return null;
  const isForeign = (one: string) => /[^\x20-\x7e]|(?:^|\.)xn--/u.test(one);
  if (hosts.size(call) <= Math.max(1, hosts.total(call) / 5)) return first;
  const own = traits.of(host);
  const passesFor = names.find((name) => {
    const other = traits.of(name);
    return (
      other.likeness === own.likeness ||
      other.beforeEnding === own.beforeEnding ||
      host.includes(name) ||
      (name.includes(".") && host.includes(other.hyphened))
    );
  });
  if (passesFor !== undefined) return passesFor;
  if (isForeign(host) && !names.some(isForeign)) return first;
  // Hosts are often numbered.
  const unnumbered = names.filter((name) => traits.of(name).withoutDigits !== own.withoutDigits);
  return host.length < SHORTEST_LIKE ? null : (nearest(host, unnumbered) ?? null);
}

/** By which hosts are compared; each host is read once. */
export class HostTraits {
  readonly #known = new Map<string, ReturnType<typeof traitsOf>>();

  of(host: string): ReturnType<typeof traitsOf> {
    let known = this.#known.get(host);
    if (known === undefined) this.#known.set(host, (known = traitsOf(host)));
    return known;
  }
}

function traitsOf(host: string) {
  return {
    likeness: likenessOf(host),
    /** Without what follows its last dot: `acme` of `acme.com`. */
    beforeEnding: host.slice(0, host.lastIndexOf(".")),
    hyphened: host.replaceAll(".", "-"),
    withoutDigits: host.replaceAll(/\d/g, ""),
  };
}

function likenessOf(host: string): string {
  const plain = host.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return ALIKE.reduce((text, [letters, one]) => text.replaceAll(letters, one), plain);
}

/** Returns whether a text goes up from its folder. */
export const isClimbing = (text: string): boolean => /(?:^|[\s/\\"'=:])\.\.(?:[/\\]|$)/.test(text);

/** Returns whether a text names a place from the root, or from somebody's home. */
export const isRooted = (text: string): boolean => /(?:^|[\s"'=])(?:[/~]|[A-Za-z]:[\\/])/.test(text);

/** Returns the folders, or the first words, with which a text begins: `lib/`, `lib/db/` of `lib/db/a`. */
export function beginningsOf(text: string): string[] {
  const beginnings: string[] = [];
  const parts = text.slice(0, LONGEST_BEGINNING).split(/(?<=[/\\ ])/);
  let beginning = "";
  for (const part of parts.slice(0, Math.min(parts.length - 1, MOST_BEGINNINGS))) {
    beginning += part;
    beginnings.push(beginning);
  }
  return beginnings;
}

/** Returns the form of a text: each run of letters and each number as one sign, all else as it stands. */
export const shapeOf = (text: string): string => text.replaceAll(/\p{L}+/gu, "a").replaceAll(/\d+/g, "9");

/** Returns the signs in a text beside letters, digits and those of ordinary names, and one for letters beyond Latin. */
export function signsIn(text: string): Set<string> {
  const signs = new Set(text.match(/[^\p{L}\p{N}\s.,_-]/gu));
  if (/[^\P{L}\u0000-\u024f]/u.test(text)) signs.add("letters beyond Latin");
  return signs;
}
