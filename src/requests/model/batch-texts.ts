import { nearest } from "../../lib/nearest.ts";

const MAIL = /^(?:[^<>]*<)?[^\s<>@]+@(?<host>[^\s<>@]+)>?$/u;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#\s]*@)?(?<host>[^/?#\s]+)/iu;
/** Shorter hosts are like many others. */
const SHORTEST_LIKE = 6;
/** A folder that texts share is looked for in so many characters. */
const LONGEST_BEGINNING = 500;
/** Letters that pass for others at a glance. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/rn/g, "m"],
  [/vv/g, "w"],
  [/[1il|]/g, "l"],
  [/0/g, "o"],
  [/5/g, "s"],
];

/** Returns the host of a mail address or of the address of a page, in small letters; null for other texts. */
export function hostIn(text: string): string | null {
  const host = (MAIL.exec(text.trim()) ?? ADDRESS.exec(text.trim()))?.groups?.["host"];
  return host === undefined ? null : host.toLowerCase();
}

/**
 * Returns the host among those of other calls in whose place this one stands: it passes for that one, or others have few
 * hosts and not this one. Null for a host that fits.
 */
export function likeliestHost(host: string, hosts: readonly string[]): string | null {
  const counts = new Map<string, number>();
  for (const other of hosts) counts.set(other, (counts.get(other) ?? 0) + 1);
  if (counts.has(host) || [...counts.keys()].some((other) => host.endsWith(`.${other}`))) return null;
  const [most = ""] = [...counts].toSorted(([, one], [, other]) => other - one).map(([other]) => other);
  const isForeign = (one: string) => /[^\x20-\x7e]|(?:^|\.)xn--/u.test(one);
  if (counts.size <= Math.max(1, hosts.length / 5)) return most;
  const likeness = likenessOf(host);
  const passesFor = [...counts.keys()].find(
    (other) =>
      likenessOf(other) === likeness ||
      host.includes(other) ||
      (other.includes(".") && host.includes(other.replaceAll(".", "-"))),
  );
  if (passesFor !== undefined) return passesFor;
  if (isForeign(host) && ![...counts.keys()].some(isForeign)) return most;
  const several = [...counts].flatMap(([other, count]) => (count > 1 ? [other] : []));
  return host.length < SHORTEST_LIKE ? null : (nearest(host, several) ?? null);
}

function likenessOf(host: string): string {
  const plain = host.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  return ALIKE.reduce((text, [letters, one]) => text.replaceAll(letters, one), plain);
}

/** Returns whether a text goes up from its folder. */
export const isClimbing = (text: string): boolean => /(?:^|[\s/\\"'=:])\.\.(?:[/\\]|$)/.test(text);

/** Returns whether a text names a place from the root, or from somebody's home. */
export const isRooted = (text: string): boolean => /(?:^|[\s"'=])(?:[/~]|[A-Za-z]:[\\/])/.test(text);

/** Returns the folder, or the first words, with which at least this share of texts begins; null for texts of many. */
export function folderOfMost(texts: readonly string[], share: number): string | null {
  const parts = texts.map((text) =>
    text
      .slice(0, LONGEST_BEGINNING)
      .split(/(?<=[/\\ ])/)
      .slice(0, -1),
  );
  let inside = parts;
  let folder = "";
  for (let level = 0; ; level += 1) {
    const groups = Map.groupBy(inside, (one) => one[level]);
    const [name, some] = [...groups].toSorted(([, one], [, other]) => other.length - one.length)[0] ?? [];
    if (name === undefined || some === undefined || some.length < share * texts.length) return folder || null;
    folder += name;
    inside = some;
  }
}

/** Returns the form of a text: each run of letters and each number as one sign, all else as it stands. */
export const shapeOf = (text: string): string => text.replaceAll(/\p{L}+/gu, "a").replaceAll(/\d+/g, "9");

/** Returns the signs in a text beside letters, digits and those of ordinary names, and one for letters beyond Latin. */
export function signsIn(text: string): Set<string> {
  const signs = new Set(text.match(/[^\p{L}\p{N}\s.,_-]/gu));
  if (/[^\P{L}\u0000-\u024f]/u.test(text)) signs.add("letters beyond Latin");
  return signs;
}
