/** The addresses that agents may ask. */
export interface RecipientRules {
  /**
   * `any`: anybody; `enrolled`: enrolled people, and those whom a pattern names; `listed`: those whom a pattern names.
   * Null: `enrolled` once somebody beside the operator is enrolled, and `any` until then.
   */
  whom: "any" | "enrolled" | "listed" | null;
  /** Addresses, numbers and Slack ids, with `*` for anything. */
  patterns: readonly string[];
}

/** True where one of the patterns names an address, whatever its case. */
export function isListed(patterns: readonly string[], to: string): boolean {
  const text = to.toLowerCase();
  return patterns.some((pattern) => matches(pattern.toLowerCase(), text));
}

/** True where a text is as a pattern says, in which `*` stands for anything. */
function matches(pattern: string, text: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  const end = rest.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start) || !text.endsWith(end) || text.length < start.length + end.length) return false;
  let from = start.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found < 0 || found + part.length > text.length - end.length) return false;
    from = found + part.length;
  }
  return true;
}
