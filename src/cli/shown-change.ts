import { lineDiff } from "../lib/line-diff.ts";
import { findByOwnRules, settleFinds } from "../lib/secrets/secret-rules.ts";

const KEY = /parley_([a-z]+)_[0-9A-Za-z]{38}/g;
/** A text in quotes, and the sign that makes a name of it. */
const QUOTED = /("(?:[^"\\\n]|\\.)*"|'[^'\n]*')(\s*[:=])?/g;
/** Words that Parley's own part shares with those of others. */
const COMMON = /^["'](?:command|http|stdio|local|remote|\*)?["']$/;

/**
 * Returns the lines by which a change is shown. A terminal is read by others too: what stood in the file before, and
 * stays, is other programs', and its values are left out, with every secret outside of quotes and each key of Parley's.
 */
export function shownChange(before: string, after: string): string[] {
  const old = valuesIn(before);
  const kept = new Set([...valuesIn(after)].filter((value) => old.has(value) && !COMMON.test(value)));
  return lineDiff(before, after).map((line) => {
    const parts: string[] = [];
    let end = 0;
    for (const { 0: whole, 1: value = "", 2: naming, index } of line.matchAll(QUOTED)) {
      const isOthers = naming === undefined && kept.has(value);
      parts.push(withoutSecrets(line.slice(end, index)), isOthers ? '"…"' : whole);
      end = index + whole.length;
    }
    return [...parts, withoutSecrets(line.slice(end))].join("").replace(KEY, "parley_$1_[key]");
  });
}

function valuesIn(text: string): Set<string> {
  return new Set([...text.matchAll(QUOTED)].flatMap(({ 1: value = "", 2: naming }) => (naming ? [] : [value])));
}

function withoutSecrets(text: string): string {
  return settleFinds(text, findByOwnRules(text)).reduceRight(
    (left, { from, to }) => `${left.slice(0, from)}[secret]${left.slice(to)}`,
    text,
  );
}
