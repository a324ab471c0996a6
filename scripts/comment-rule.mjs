/** The rule for comments, which lint and `npm run house` share (CONTRIBUTING, "Style"). */

const BEGINNING = /^[\s*]*(What|Whoever|Whom|Of a|Of the)\b/;
const NEGATION = /\bis (none|no more)\b/;

/** Returns the words of a comment that break the rule; null where it keeps it. */
export function wordsAgainstRule(comment) {
  const text = comment.replaceAll(/\n\s*\*? ?/g, " ");
  return (BEGINNING.exec(text)?.[1] ?? NEGATION.exec(text)?.[0]) || null;
}
