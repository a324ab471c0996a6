import { listLines, NotedValue } from "../../lib/yaml-text.ts";
import type { GrantPattern } from "./pattern.ts";

/** A proposed rule as it is printed. */
export interface PrintedRule {
  id: string;
  when: GrantPattern["when"];
  /** So many approved calls are covered. */
  approved: number;
  /** Sentences of calls that are covered, and of calls that are not. */
  examples: readonly string[];
  notCovered: readonly string[];
}

const LONGEST_SLUG = 40;

/** Returns the lines of proposed rules, as they stand under `rules:`, each below a comment that says why. */
export function suggestedLines(rules: readonly PrintedRule[]): string[] {
  const noted = rules.map(({ id, when, approved, examples, notCovered }) => {
    const notes = [`${approved} approved calls, such as: ${examples.join("; ")}`];
    if (notCovered.length > 0) notes.push(`Not covered: ${notCovered.join("; ")}`);
    return new NotedValue({ id, when, decision: "ALLOW" }, notes);
  });
  return listLines("rules", noted).slice(1);
}

/** Returns an id for a rule about this agent and function that none of these has. */
export function freshId({ agent, fn }: Readonly<Record<string, unknown>>, taken: ReadonlySet<string>): string {
  const slug = `${String(agent)}-${String(fn)}`
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, LONGEST_SLUG);
  for (let number = 1; ; number += 1) {
    const id = `suggested-${slug}${number === 1 ? "" : `-${number}`}`;
    if (!taken.has(id)) return id;
  }
}
