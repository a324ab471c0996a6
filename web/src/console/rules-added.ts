import type { PolicySuggested } from "./relay/wire.ts";

type AddedRule = Pick<PolicySuggested["rules"][number], "lines" | "flow">;

const KEY = /^rules:(.*)$/m;

/** Returns the text of a policy file with these rules before its own ones, indented as these are. */
export function withRules(file: string, rules: readonly AddedRule[]): string {
  const found = KEY.exec(file);
  if (!found) return withRules(`${file.trimEnd()}\nrules:\n`, rules);
  const [, indent = "  "] = /^( *)-\s/m.exec(file.slice(found.index)) ?? [];
  const lines = rules.flatMap((rule) => rule.lines.map((line) => indent + line.slice(2)));
  const flow = rules.map((rule) => `  ${rule.flow},`);
  return file.replace(KEY, (_, rest: string) => {
    const value = rest.trim().replace(/^\[\s*\]/, "");
    const isFlow = value.startsWith("[");
    return (isFlow ? ["rules: [", ...flow, `  ${value.slice(1)}`] : [`rules: ${value}`.trimEnd(), ...lines]).join("\n");
  });
}
