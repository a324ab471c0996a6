import { type FieldProblem, refuseFields } from "../../core/model/field-problem.ts";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { BadYaml, readYaml, type ReadYaml } from "../../lib/strict-yaml.ts";
import { type ItemChange, itemTexts, withItem } from "../../lib/yaml-items.ts";
import { asciiJson } from "../../lib/yaml-text.ts";
import { pathText, PolicyMistake } from "./check.ts";
import type { Policy } from "./policy.ts";
import { loadPolicy, POLICY_LIMITS } from "./text.ts";

/** A change of one rule of a policy file. */
export interface RuleChange {
  do: "replace" | "add" | "remove";
  /** The place of the rule in the file, from 0. */
  place: number;
  /** The rule as YAML; empty for one that is removed. */
  rule: string;
}

/** A policy file with one rule changed. */
export interface ChangedPolicy {
  text: string;
  policy: Policy;
  /** The name of the rule that was changed. */
  rule: string;
}

/** Returns the rules of a policy file as they stand in it, without the indentation of the list. */
export function ruleTexts(text: string): string[] {
  return itemTexts(text, "rules");
}

/**
 * Changes one rule of a policy file. Every byte outside of the rule stays.
 *
 * @throws {Refusal} `invalid_input` for each mistake of the rule, with the member that it concerns
 */
export async function changeRule(text: string, change: RuleChange): Promise<ChangedPolicy> {
  const before = valueOf(text);
  const rules = before["rules"] ?? [];
  const { place } = change;
  const most = Array.isArray(rules) ? rules.length - (change.do === "add" ? 0 : 1) : -1;
  if (!Array.isArray(rules) || place > most) throw refuseFields([fault("place", "there is no rule at this place")]);
  const read = change.do === "remove" ? null : readRule(change.rule);
  const isFlow = isListInBrackets(text) && read !== null && !change.rule.trimStart().startsWith("{");
  const item = isFlow ? asciiJson(read.value) : change.rule.trim();
  const changed = withItem(text, "rules", itemChange(change, item));
  const expected = rules.toSpliced(place, change.do === "add" ? 0 : 1, ...(read ? [read.value] : []));
  const policy = await loadChanged(changed, { before: { ...before, rules: expected }, place, read });
  const [old, fresh] = [rules[place] as unknown, read?.value];
  return { text: changed, policy, rule: nameIn(fresh) ?? nameIn(old) ?? `rules[${place}]` };
}

const itemChange = (change: RuleChange, item: string): ItemChange =>
  change.do === "remove" ? { do: "remove", place: change.place } : { do: change.do, place: change.place, item };

const isListInBrackets = (text: string): boolean => /(?:^|\n)(["']?)rules\1[ \t]*:[ \t]*\[(?!\s*\])/.test(text);

function nameIn(rule: unknown): string | null {
  const id = typeof rule === "object" && rule !== null && "id" in rule ? rule.id : null;
  return typeof id === "string" ? id : null;
}

function valueOf(text: string): Record<string, unknown> {
  const { value } = readYaml(text, POLICY_LIMITS);
  return (value ?? {}) as Record<string, unknown>;
}

function fault(field: string, message: string): FieldProblem {
  return { message, field, constraint: "format" };
}

function readRule(rule: string): ReadYaml {
  try {
    const read = readYaml(rule.trim(), POLICY_LIMITS);
    const { value } = read;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return read;
    throw refuseFields([
      fault("rule", "rule must be one rule: members as id, when and decision, without a dash in front"),
    ]);
  } catch (error) {
    if (!(error instanceof BadYaml)) throw error;
    throw refuseFields([fault("rule", `line ${error.line}: ${error.message}`)]);
  }
}

/** The values that the changed file must have, so that no layout makes more of a change than it is. */
interface Expected {
  before: Record<string, unknown>;
  place: number;
  read: ReadYaml | null;
}

async function loadChanged(text: string, { before, place, read }: Expected): Promise<Policy> {
  try {
    const policy = await loadPolicy(text);
    const after = valueOf(text);
    if (canonicalExact({ ...after, rules: after["rules"] ?? [] }) === canonicalExact(before)) return policy;
  } catch (error) {
    if (!(error instanceof PolicyMistake)) throw error;
    const problems = error.faults.flatMap(({ path, says }) => {
      if (path[0] !== "rules" || path[1] !== place || !read) return [];
      const rest = path.slice(2);
      const where = rest.length === 0 ? "rule" : `rule.${pathText(rest)}`;
      const member = rest.length === 0 ? "the rule" : pathText(rest);
      return [fault(where, `line ${read.lineOf(rest)}: ${member} ${says}`)];
    });
    throw refuseFields(problems.length > 0 ? problems : [fault("rule", error.message)]);
  }
  throw refuseFields([fault("rule", "rule does not fit into the layout of this file; change the file on the server")]);
}
