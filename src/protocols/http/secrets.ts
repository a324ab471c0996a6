import type { Find } from "../../lib/secrets/secret-scan.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import type { DoorContext } from "./door.ts";
import type { NormalizedQuestion } from "./new-question.ts";

/** The places of secrets in a question, as its wire form stores them: never the secrets themselves. */
export interface SecretFlags {
  secrets?: readonly (Omit<Find, "path"> & { field: string })[];
}

/**
 * Returns the flags of a question for the crowd, which its ask keeps for the operator; a question that strangers would
 * see is refused instead. `name` is what this door calls the question's text.
 *
 * A search that took too long counts as a find where strangers would see the question, and as none where a team does
 * (spec/security 5).
 *
 * @throws {Refusal} `invalid_input` with the constraint `secret`, the rule and the position
 */
export async function flagSecrets(
  { ctx, config }: Pick<DoorContext, "ctx" | "config">,
  { prompt, options = [] }: NormalizedQuestion,
  name: string,
): Promise<SecretFlags> {
  const texts = [{ path: name, text: prompt }, ...options.map((text, i) => ({ path: `options[${i}]`, text }))];
  const { finds, timedOut } = await ctx.secrets.find(texts);
  if (!config.crowd.public) return finds.length > 0 ? { secrets: finds.map(flagOf) } : {};
  if (finds.length > 0) throw refuseFields(finds.map(problemOf));
  if (timedOut) {
    const message = `${name} could not be searched for secrets in time; write it shorter`;
    throw refuseFields([{ message, field: name, constraint: "secret", rule: "not-searched" }]);
  }
  return {};
}

function flagOf({ path, ...found }: Find): { field: string } & Omit<Find, "path"> {
  return { field: path, ...found };
}

function problemOf(find: Find) {
  const { field, rule, from, to } = flagOf(find);
  const message = `${field} holds a secret (${rule}, characters ${from} to ${to}), and strangers would see it`;
  return { message, field, constraint: "secret", rule, from, to };
}
