import type { GrantPattern } from "./pattern.ts";
import { comment, flow, text } from "./yaml-words.ts";

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

const LISTS: ReadonlySet<string> = new Set(["command", "path"]);
const LONGEST_SLUG = 40;

/** Returns the lines of proposed rules, as they stand under `rules:`, each below a comment that says why. */
export function suggestedLines(rules: readonly PrintedRule[]): string[] {
  return rules.flatMap(({ id, when, approved, examples, notCovered }) => [
    `  # ${approved} approved calls, such as: ${comment(examples.join("; "))}`,
    ...(notCovered.length > 0 ? [`  # Not covered: ${comment(notCovered.join("; "))}`] : []),
    `  - id: ${id}`,
    "    when:",
    ...Object.entries(when).flatMap(([name, value]) => lineOf(name, value)),
    "    decision: ALLOW",
  ]);
}

function lineOf(name: string, value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.filter((one) => typeof one === "string");
  if (!LISTS.has(name)) return [`      ${name}: ${text(value)}`];
  if (texts.length === 1) return [`      ${name}: ${flow(texts)}`];
  return [`      ${name}:`, ...texts.map((one) => `        - ${text(one)}`)];
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
