import { patternProblem } from "../../lib/shell/command-pattern.ts";
import type { PolicyEffect } from "../model/policy.ts";
import type { RulePart } from "./agent-list.ts";

/** The pattern that stands for an entry about commands; null where none stands for it. */
interface CommandPattern {
  pattern: string | null;
  note?: string;
}

/** How an agent reads the text of an entry: it is the whole command, its beginning up to the end of a word, or a glob. */
export type CommandForm = "whole" | "prefix" | "glob";

const NOT_PLAIN = "it holds a sign that a shell reads";
const UNSEEN = /[\p{C}\p{DI}\p{Zl}\p{Zp}]/u;
const SETS = /^[A-Za-z_]\w*\+?=/;

/**
 * Returns the part about the commands of an entry, which names several of which each counts. For an ALLOW it covers at
 * most what the entry covers; for a DENY or an ESCALATE at least that.
 */
export function commandParts(
  fn: readonly string[],
  texts: readonly string[],
  { form, decision, more }: { form: CommandForm; decision: PolicyEffect; more?: Partial<RulePart> },
): { parts: RulePart[]; note?: string } {
  const read = texts.map((text) => {
    const words = text.split(/[ \t]+/).filter((word) => word !== "");
    return decision === "ALLOW" ? narrowPattern(words, form) : widePattern(words, form);
  });
  const notes = [...new Set(read.flatMap(({ note }) => note ?? []))];
  const command = read.flatMap(({ pattern }) => pattern ?? []);
  const part = command.includes(ANY) ? { fn } : { fn, command, ...(decision === "ALLOW" && more) };
  return { parts: command.length > 0 ? [part] : [], ...(notes.length > 0 && { note: notes.join("; ") }) };
}

/** It stands for no pattern, which has no blank in front. */
const ANY = " ";
/** A rule that allows every command is never printed. */
export const ANY_COMMAND = "it allows any command: write such a rule yourself";

function narrowPattern(words: readonly string[], form: CommandForm): CommandPattern {
  const none = (note: string): CommandPattern => ({ pattern: null, note });
  const [program = "", ...rest] = words;
  const hasStar = words.some((word) => /[*?]/.test(word));
  if (form !== "glob" && hasStar) return none("a * or ? in it stands for itself");
  if (words.join("") === "*" || program === "") return none(ANY_COMMAND);
  const [, name] = /^([^*?]+)\*$/.exec(program) ?? [];
  if (name !== undefined && rest.length === 0 && patternProblem(name) === null)
    return { pattern: `${name} *`, note: `narrower: the program ${name} alone` };
  if (/[*?]/.test(program)) return none("its * stands for the name of a program");
  if (SETS.test(program)) return none("it sets a variable, and no rule allows that");
  if (words.some((word) => word.includes("?"))) return none("a ? stands for one character, which no pattern does");
  const pattern = [...words, ...(form === "prefix" || endsOpen(words) ? ["*"] : [])].join(" ");
  if (UNSEEN.test(pattern) || patternProblem(pattern) !== null || pattern.length > 512) return none(NOT_PLAIN);
  const isInner = form === "glob" && words.slice(0, -1).some((word) => word.includes("*"));
  // A second star must take a word where the agent's does.
  const last = isInner && rest.at(-1) === "*" ? `${pattern} *` : pattern;
  return { pattern: last, ...(isInner && { note: "narrower: a * before the end stands for one word" }) };
}

/** A glob such as `git log*` goes on behind its last word. */
const endsOpen = (words: readonly string[]): boolean => /[^*]\*$/.test(words.at(-1) ?? "");

/** The words up to the first that is not certain, and anything behind them. */
function widePattern(words: readonly string[], form: CommandForm): CommandPattern {
  const set = words.findIndex((word) => !SETS.test(word));
  if (set < 0) return anyCommand(false);
  const plain = words.slice(set);
  const isWider = plain.length < words.length;
  const wider = (note: string | undefined) => (note === undefined ? {} : { note });
  const kept: string[] = [];
  for (const [at, word] of plain.entries()) {
    const star = word.search(/[*?]/);
    const isLast = at === plain.length - 1;
    if (form === "glob" && star >= 0) {
      const isExact = isLast && word.endsWith("*") && star === word.length - 1 && !isWider;
      const begin = word.slice(0, star);
      if (kept.length === 0) return anyCommand(begin === "" && isExact);
      if (patternProblem(`x ${begin}`) === null)
        return {
          pattern: [...kept, ...(begin === "" ? [] : [`${begin}*`]), "*"].join(" "),
          ...wider(isExact ? undefined : "wider: any words from its * on"),
        };
    }
    if (star >= 0 || patternProblem(kept.length === 0 ? word : `x ${word}`) !== null) {
      if (kept.length === 0) return anyCommand(false);
      return { pattern: `${kept.join(" ")} *`, note: `wider: any words behind them, since ${NOT_PLAIN}` };
    }
    kept.push(word);
  }
  if (kept.length === 0) return anyCommand(false);
  const pattern = form === "prefix" ? `${kept.join(" ")} *` : kept.join(" ");
  return { pattern, ...wider(isWider ? "wider: with any variables" : undefined) };
}

const anyCommand = (isExact: boolean): CommandPattern => ({
  pattern: ANY,
  ...(!isExact && { note: "wider: every command, since it names no program that can be compared" }),
});
