import type { SimpleCommand } from "./simple-command.ts";

/** They change what other words mean, or run text that a parser of the line does not see. */
const UNJUDGED = new Set(
  (
    "eval source . alias unalias trap enable hash builtin bind complete compgen mapfile readarray let parallel watch script su " +
    "chroot fc history coproc rbash do done then fi elif else esac in } )"
  ).split(" "),
);

/** More of them: options of the shell, references to variables, and the words that zsh takes before a command. */
const MORE_UNJUDGED = new Set(
  "shopt declare typeset local noglob nocorrect repeat foreach always - sched zmodload".split(" "),
);
/** `set` with them changes when a script ends, and not what its words mean. */
const PLAIN_SET = /^(?:[-+][eux]*o?|errexit|nounset|xtrace|pipefail)$/;

export const SHELLS = new Set(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"]);

/** Variables that choose the programs that run, or what code they load. */
export const CHOOSES_PROGRAM =
  /^(?:PATH|IFS|ENV|CDPATH|HOME|BASH.*|LD_.*|DYLD_.*|GIT_(?!AUTHOR_|COMMITTER_).*|NODE_(?:OPTIONS|PATH)|PYTHON.*|PERL.*|RUBY.*|LUA_.*|JAVA_.*|.*PAGER|.*EDITOR|.*SHELL.*|PROMPT_COMMAND|PS\d|.*_COMMAND|.*_OPTIONS|.*OPTS|.*OPEN|.*WRAPPER.*|npm_config_.*|CC|CXX|MAKEFLAGS|BROWSER|SSH_.*|RUSTC.*|GO(?:FLAGS|ENV|ROOT))$/i;

/** `declare` and its kind set variables, and a subscript in one of their words may run a command. */
export function setsProgram({ program, words }: SimpleCommand): boolean {
  const sets = ["export", "declare", "typeset", "local", "readonly", "unset", "read", "printf", "test", "[", "getopts"];
  if (!sets.includes(program)) return false;
  const named = words.some(({ text }) => CHOOSES_PROGRAM.test(text.split("=")[0]?.replace("+", "") ?? ""));
  const isCondition = program === "test" || program === "[" || program === "printf";
  return (named && !isCondition) || words.some(({ text }) => text.includes("[") && /[$`]/.test(text));
}

/** Whether a command changes what the words of a line mean, as `alias`, `eval`, `exec > FILE` and `printf -v NAME` do. */
export function changesMeaning({ program, words, redirects }: SimpleCommand): boolean {
  if (UNJUDGED.has(program) || MORE_UNJUDGED.has(program)) return true;
  if (program === "exec") return words.length === 0 && redirects.length > 0;
  if (program === "set") return !words.every(({ text, isExact }) => isExact && PLAIN_SET.test(text));
  const named = program === "printf" ? "-v" : program === "wait" ? "-p" : null;
  const first = words[0];
  return named !== null && first !== undefined && (!first.isExact || first.text.startsWith(named));
}
