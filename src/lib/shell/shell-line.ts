import type { CommandWord, SimpleCommand } from "./simple-command.ts";

/** A part of a word in whose place the shell puts something else. `at` is its place within the word as written. */
export interface Expansion {
  kind: "variable" | "substitution" | "arithmetic" | "glob" | "brace" | "tilde" | "translation" | "assignment" | "test";
  at: number;
  text: string;
}

/** A word without its quotes. It is exact if no part of it is expanded. */
export interface ShellWord extends CommandWord {
  expansions: readonly Expansion[];
}

export interface ShellRedirect {
  operator: ">" | ">>" | "<" | "<>" | "<&" | ">&" | ">|" | "&>" | "&>>" | "<<" | "<<-" | "<<<";
  /** The number in front of the operator; null if the operator's own is meant. */
  descriptor: number | null;
  /** The file, the descriptor of `>&`, the text of `<<<` or the delimiter of a here-document. */
  path: ShellWord;
}

/** The constructs around a command. A command behind `&&` or `||` is conditional. */
export type Surrounding = "pipeline" | "background" | "subshell" | "conditional" | "loop" | "substitution";

/**
 * One command of a line. Its program is empty for assignments or redirections alone, as those of a group, and `[[` for a
 * test.
 */
export interface ShellCommand extends SimpleCommand {
  words: readonly ShellWord[];
  redirects: readonly ShellRedirect[];
  surroundings: readonly Surrounding[];
}

/** Why a line is not read. */
export type UnreadReason =
  | "too long"
  | "too deep"
  | "unseen character"
  | "syntax"
  | "program name"
  | "changed meaning"
  | "variable"
  | "evaluation"
  | "shells differ"
  | "code by input";

/** Every command of a line, also those within substitutions; or the reason why they are not certain. */
export type ShellLine =
  | { kind: "read"; commands: readonly ShellCommand[]; /** Whether every file is below its folder. */ isAtRoot?: true }
  | { kind: "unread"; reason: UnreadReason };
