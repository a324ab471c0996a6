import type { PolicySuggested } from "./relay/wire.ts";

type AddedRule = Pick<PolicySuggested["rules"][number], "lines" | "flow">;

/** A line ends at its own characters alone: others that JavaScript takes for an end may stand in a comment. */
const KEY = /(?:^|(?<=[\n\ufeff]))(["']?)rules\1[ \t]*:(?=\s|$)/;
const DOCUMENT_END = /(?<=\n)\.\.\.(?=\s|$)/;
const NOTHING = /^[ \t]+(?:\[[ \t]*\]|null)(?=\s|$)/;
/** A list in brackets, behind its anchor and below its comments. */
const BRACKET = /^[ \t]*(?:[&!]\S+[ \t]+)*(?:(?:#[^\r\n]*)?\r?\n[ \t]*)*\[[ \t]*/;

/** Returns the text of a policy file with these rules before its own ones, indented as these are. */
export function withRules(file: string, rules: readonly AddedRule[]): string {
  const found = KEY.exec(file);
  if (!found) {
    const end = DOCUMENT_END.exec(file)?.index ?? file.length;
    return withRules(`${file.slice(0, end).trimEnd()}\nrules:\n${file.slice(end)}`, rules);
  }
  const at = found.index + found[0].length;
  const [before, after] = [file.slice(0, at), file.slice(at).replace(NOTHING, "")];
  const [bracket] = BRACKET.exec(after) ?? [];
  if (bracket !== undefined) {
    const flow = rules.map((rule) => `  ${rule.flow},\n`).join("");
    return `${before}${bracket.trimEnd()}\n${flow}  ${after.slice(bracket.length)}`;
  }
  const [, indent = "  "] = /(?<=\n)( *)-\s/.exec(after) ?? [];
  const lines = rules.flatMap((rule) => rule.lines.map((line) => `\n${indent}${line.slice(2)}`)).join("");
  const [head = ""] = /^[^\r\n]*/.exec(after) ?? [];
  return `${before}${head}${lines}${after.slice(head.length)}`;
}
