/**
 * In messages, an agent's words stand beside this server's own: the code, the page's address, how to answer. An agent's
 * words must never look like one of these.
 */

import { plainView } from "../../lib/secrets/decoded-views.ts";
import { withPlaces } from "./find-credentials.ts";

const SIGN = "[2-9CDFGHJKMNPQRTVWX]";
const APART = String.raw`[\s\p{Pd}_.·•*|/\\~+:]{1,3}`;
/** A code as it is written, in two halves, or spelled out. */
const CODE = `(?:${SIGN}{4}|${SIGN}{2}[\\p{Pd}_.·/]${SIGN}{2}|${SIGN}(?:${APART}${SIGN}){3})`;
/** The words that a code stands behind in our messages, and in the answers to them. An order may have its no. 4711. */
const BEFORE =
  "y[ .]?e[ .]?s|(?-i:N[ .]?O)|(?:or|reply|send|answer)[ ]+no|o[ .]?k|approved?|rejected?|den(?:y|ied)|answer|reply|confirm|codes?";
const GAP = String.raw`[\s\p{P}\p{S}]{1,5}(?:(?:is|with|by|then)(?:[ ](?:type|send|reply|enter|answer))?[\s\p{P}]{1,3})?`;
const CODES = new RegExp(String.raw`(?<=\b(?:${BEFORE})${GAP})${CODE}(?![\p{L}\p{N}])`, "giu");

/** The page of a one-time link, at whatever host, and a reply address. */
const DECIDES = /\/r\/[\w-]{20}|\bask\+[a-z2-7]{8,}@/iu;

const NO_ADDRESS = "[address left out]";
const NO_CODE = "[code left out]";

/**
 * Returns an agent's words without what could be taken for a code of ours, for the address of a one-time link or of a
 * reply, or for this server's own name in an address that leads elsewhere.
 */
export function withoutForgery(text: string, publicUrl: string): string {
  const ours = new URL(publicUrl);
  return withoutCodes(
    text.replace(/\S+/gu, (word) => (isForgedAddress(plainView(word).text, ours) ? NO_ADDRESS : word)),
  );
}

/** Looks at the words as they look: full-width letters and the digits of other scripts make a code, too. */
function withoutCodes(text: string): string {
  const view = plainView(text);
  const places = [...view.text.matchAll(CODES)].map(({ 0: code, index }) => ({
    from: view.starts[index] ?? 0,
    to: view.ends[index + code.length - 1] ?? 0,
    by: NO_CODE,
  }));
  return withPlaces(text, places);
}

/** An address of this very server that decides nothing, such as that of a task on the board, may stay. */
function isForgedAddress(word: string, { host, origin }: URL): boolean {
  if (DECIDES.test(word)) return true;
  if (!word.toLowerCase().includes(host)) return false;
  const [address = ""] = /https?:\/\/.*/iu.exec(word) ?? [];
  if (!URL.canParse(address)) return true;
  const { origin: leadsTo, username } = new URL(address);
  return leadsTo !== origin || username !== "";
}

/** Returns somebody's words with a mark before each of their lines, so that none can pass for a line of ours. */
export function quoted(text: string, mark = "> "): string {
  return text.replace(/^/gm, mark);
}

/** Returns somebody's words between marks that nothing in them closes. */
export function inQuotes(text: string): string {
  return `“${text.replace(/[“”„‟]/g, '"')}”`;
}
