import { isDeepStrictEqual } from "node:util";
import { readYaml } from "../lib/strict-yaml.ts";
import { PolicyMistake } from "./model/check.ts";
import { FIRST_POLICY, loadPolicy, POLICY_LIMITS } from "./model/text.ts";

const COMMENT = FIRST_POLICY.slice(FIRST_POLICY.indexOf("  # - id: agents-look-and-test\n"));

/** The rules for coding agents that the first policy has as a comment: lines for `rules:` of a policy file. */
export const STARTER_RULES = COMMENT.replaceAll(/^ {2}# /gm, "  ");

/** The place of these rules in a policy file; `after` is its text with them in force. */
export type StarterState = { kind: "in force" | "changed" } | { kind: "comment"; after: string; count: number };

/**
 * Returns whether a policy file has the rules for coding agents as the comment of the first policy, letter for letter, or
 * one of them in force. Only the signs of this comment differ in `after`, and the policy only by these rules.
 *
 * @throws {PolicyMistake} for a text that is no policy
 */
export async function starterRulesIn(text: string, name?: string): Promise<StarterState> {
  await loadPolicy(text, name);
  const [before, { rules: starters }] = [contentOf(text), contentOf(`rules:\n${STARTER_RULES}`)];
  const isStarter = ({ id }: { id?: unknown }) => starters.some((one) => one.id === id);
  if (before.rules.some(isStarter)) return { kind: "in force" };
  const at = `\n${text}`.indexOf(`\n${COMMENT}`);
  if (at === -1 || text.includes(COMMENT, at + 1)) return { kind: "changed" };
  const after = text.slice(0, at) + STARTER_RULES + text.slice(at + COMMENT.length);
  // A comment may stand within another rule, or behind the rules.
  if (!(await isPolicy(after))) return { kind: "changed" };
  const { rules, ...others } = contentOf(after);
  const isExact =
    isDeepStrictEqual({ ...others, rules: rules.filter((rule) => !isStarter(rule)) }, before) &&
    isDeepStrictEqual(rules.filter(isStarter), starters);
  return isExact ? { kind: "comment", after, count: starters.length } : { kind: "changed" };
}

/** Returns the members of a text that is a policy. */
function contentOf(text: string): { rules: { id?: unknown }[] } {
  const content = readYaml(text, POLICY_LIMITS).value as { rules?: { id?: unknown }[] | null };
  return { ...content, rules: content.rules ?? [] };
}

async function isPolicy(text: string): Promise<boolean> {
  try {
    await loadPolicy(text);
    return true;
  } catch (error) {
    if (!(error instanceof PolicyMistake)) throw error;
    return false;
  }
}
