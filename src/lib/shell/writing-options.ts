/** Long options, and a pattern of short ones, by which a program that reads writes a file, deletes, or runs a program. */
const WRITING: Readonly<Record<string, { long: string; short?: RegExp }>> = {
  git: {
    long:
      "output ext-diff textconv upload-pack receive-pack exec exec-path extcmd open-files-in-pager template config " +
      "git-dir work-tree separate-git-dir",
    short: /^-o/,
  },
  shuf: { long: "output", short: /^-[A-Za-z]*o/ },
  find: { long: "", short: /^-(?:delete|fprint|fls)/ },
  rg: { long: "pre hostname-bin" },
  sort: { long: "output compress-program files0-from temporary-directory", short: /^-[A-Za-z]*[oT]/ },
  tree: { long: "output", short: /^-[A-Za-z\d]*[oR]/ },
  sed: { long: "in-place file", short: /^-[A-Za-z]*[if]/ },
  less: { long: "log-file LOG-FILE lesskey-file lesskey-src", short: /^(?:\+|-[A-Za-z]*[oOk])/ },
  bat: { long: "pager" },
  date: { long: "set", short: /^-[A-Za-z]*s/ },
  file: { long: "compile", short: /^-[A-Za-z]*C/ },
  yq: { long: "inplace in-place", short: /^-[A-Za-z]*[is]/ },
  curl: {
    long:
      "output output-dir remote-name remote-name-all config upload-file dump-header cookie-jar trace trace-ascii stderr hsts " +
      "alt-svc etag-save libcurl form form-string data data-ascii data-binary data-raw data-urlencode json next proxy",
    short: /^-[A-Za-z#]*[oOJKTDcFd:x]/,
  },
};
/** They read, and their options change nothing of that, but for those above. */
const READS = new Set(
  (
    "ls cat head tail wc grep egrep fgrep stat which uniq xxd pwd echo diff cmp basename dirname realpath readlink du df cut tr " +
    "nl tac rev fold column comm paste sha256sum md5sum whoami id uname printf seq strings od hexdump"
  ).split(" "),
);

const SEARCH_OR_SORT = new Set(["find", "rg", "sort", "tree", "shuf", "file"]);

/** Whether a program only reads, but for the options by which `isWritingOption` says that it does more. */
export function onlyReads(program: string): boolean {
  return READS.has(program) || SEARCH_OR_SORT.has(program);
}

/** A file with options, the value of an option before it, as of `tsc --noEmit false`, or a module from elsewhere. */
const ACTS_AS_OPTION = /^@|^(?:true|false)$|^(?:jsr|npm|data):/i;

/**
 * Whether a word is, or acts as, an option of a program whose options are not known here: it may write, or run a program.
 */
export function isUnknownOption(program: string, text: string): boolean {
  const isKnown = READS.has(program) || RUNS_TASKS.has(program) || Object.hasOwn(WRITING, program);
  if (isKnown) return false;
  return ACTS_AS_OPTION.test(text) || (text.length > 1 && text.startsWith("-") && text !== "--");
}

/** Options of subcommands of git that pass over a guard: the hooks, or the list of files that stay out. */
const GIT_PASSES_OVER: Readonly<Record<string, RegExp>> = {
  add: /^(?:-[A-Za-z]*f|--f)/,
  commit: /^(?:-[aeiopqsvz]*n|--no-v)/,
};

/** Whether a command, by one of its words, passes over a guard that otherwise holds. */
export function passesOverGuard(program: string, [task = "", ...texts]: readonly string[]): boolean {
  const option = program === "git" && Object.hasOwn(GIT_PASSES_OVER, task) ? GIT_PASSES_OVER[task] : undefined;
  return option !== undefined && texts.some((text) => option.test(text));
}

/** Each of their words is one more task, a file of tasks or a variable, but for these options. */
const RUNS_TASKS = new Set(["make", "gmake", "ninja", "just", "rake", "gradle", "gradlew", "mvn", "ant"]);
const OPTION_OF_TASKS =
  /^-(?:[jknsB]|j\d+|-(?:jobs(?:=\d+)?|keep-going|silent|quiet|dry-run|no-print-directory|offline|info|stacktrace))$/;
/** Their second file is the one that they write. */
const WRITES_SECOND = new Set(["uniq", "xxd"]);

/**
 * Whether a word of a program is an option by which a program that otherwise reads does more, or one more task. A long
 * option may be shortened, as programs let it.
 */
export function isWritingOption(program: string, text: string): boolean {
  if (RUNS_TASKS.has(program)) return !OPTION_OF_TASKS.test(text);
  const options = Object.hasOwn(WRITING, program) ? WRITING[program] : undefined;
  if (options === undefined) return false;
  if (options.short?.test(text) === true) return true;
  const name = /^--([A-Za-z][\w-]+)/.exec(text)?.[1];
  return name !== undefined && options.long.split(" ").some((long) => long.startsWith(name));
}

/** Whether a program writes the second of these words. */
export function writesSecond(program: string, words: readonly string[]): boolean {
  return WRITES_SECOND.has(program) && words.filter((text) => !/^-./.test(text)).length > 1;
}
