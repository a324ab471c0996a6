import type { SimpleCommand } from "./simple-command.ts";

/** Programs that run code of a word or of their standard input, and the options that such a word stands behind. */
const INTERPRETERS: readonly [name: RegExp, code: RegExp][] = [
  [/^(?:python|pypy)[\d.]*$/, /^-(?!-)[A-Za-z]*c/],
  [
    /^(?:node|bun|deno)$/,
    /^(?:-(?!-).*[epr]|--(?:eval|print|require|import|loader|experimental-loader|env-file).*|eval|repl)$/,
  ],
  [/^(?:perl|ruby)[\d.]*$/, /^-(?!-)[A-Za-z]*[eErMI]/],
  [/^php[\d.]*$/, /^-[rBRFEd]/],
  [
    /^(?:lua|luajit|osascript|Rscript|R|julia|elixir|groovy|scala|tclsh|expect|gdb|pwsh|powershell)[\d.]*$/,
    /^-(?:e|c|r|Command|EncodedCommand|ex)/i,
  ],
];

/** Options of other programs that name a program to run, or a file that holds such a name. */
const RUNS_OPTION: Readonly<Record<string, RegExp>> = {
  git: /^--(?:upload-pack|receive-pack|exec|ext-diff|textconv|open-files-in-pager|template)|^-[xO]$/,
  tar: /^(?:--(?:to-c|checkpoint-a|use|rsh|rmt|info|new-v)|-[A-EGHJ-Za-z]*[IF]|[A-EGHJ-Za-z]*[IF][A-Za-z]*$)/,
  rg: /^--(?:pre|hostname-bin)/,
  ssh: /^-o|^-F/,
  scp: /^-[oSF]/,
  sftp: /^-[oSFb]/,
  rsync: /^(?:-e|--rsh|--rsync-path)/,
  less: /^\+|^-(?:k|o|-lesskey)/,
  more: /^\+/,
  man: /^-[PH]|^--(?:pag|h)/,
  vim: /^(?:\+|-c|-S|-s|--cmd)/,
  npm: /^--(?:sc|pre|node-o|userc|globalc|git|editor|she)|^-C/,
  pnpm: /^--(?:sc|dir|pre)|^-C/,
  yarn: /^--(?:cwd|script-shell|use-yarnrc)/,
  make: /^(?:[A-Za-z_.]+\??[:+]?=|-f|-C|-I|--eval|--file|--makefile|--directory|-E)/,
  curl: /^(?:-K|--config)/,
  wget: /^--(?:use-askpass|config)|^-e/,
  sort: /^--compress-program/,
  split: /^--filter/,
  zip: /^-(?:T|TT|-unzip-command)/,
  xargs: /^(?!)/,
  docker: /^(?:--config|-c|--context|-H|--host)/,
  cargo: /^--config/,
  go: /^--?(?:exec|toolexec|vettool|overlay)/,
  pip: /^--(?:global-option|install-option|config-settings)/,
  sqlite3: /^(?:-cmd|-init|\.(?:shell|system))/,
};
/** A file with commands is their first word. */
const NO_FILE = /^(?:-|--version|-V|-v)$/;
/** An address of lines, then one command that prints or deletes; a substitution without the flags that run or write. */
const PLAIN_SED =
  /^(?:(?:\d+|\$|\/(?:[^/\\]|\\.)*\/)(?:,(?:\d+|\$|\/(?:[^/\\]|\\.)*\/))?)?(?:[pdq=]|s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpIi\d]*)(?:;(?:\d+q|p|d|q))?$/;

/**
 * Returns whether a program runs code that is not read here: of a word, of its standard input, or of a program that an
 * option names.
 */
export function runsCode({ program, words, hasInput }: SimpleCommand): boolean {
  const interpreter = INTERPRETERS.find(([name]) => name.test(program));
  if (interpreter !== undefined) {
    const script = words.find(({ text }) => !text.startsWith("-"));
    const isMade = words
      .slice(0, script === undefined ? undefined : words.indexOf(script) + 1)
      .some(({ text }) => interpreter[1].test(text));
    const needsInput = script === undefined && !words.some(({ text }) => NO_FILE.test(text) && text !== "-");
    return (
      isMade ||
      words.some(({ isExact, text }) => !isExact && text.startsWith("-")) ||
      needsInput ||
      (hasInput && words.some(({ text }) => text === "-" || text.startsWith("/dev/")))
    );
  }
  if (/^[gmn]?awk$/.test(program))
    return words.some(
      ({ text, isExact }) => !isExact || /system|getline|[|>@]|^-(?!$|[Fv]|-(?:field|assign|version))/.test(text),
    );
  if (program === "sed" || program === "gsed") return sedRunsCode(words);
  // An option before the subcommand changes the configuration, and with it the programs that run.
  if (program === "git" && /^-(?!-(?:version|help|no-pager|no-optional-locks)$)/.test(words[0]?.text ?? ""))
    return true;
  if (program === "git" && gitRunsCode(words)) return true;
  const option = Object.hasOwn(RUNS_OPTION, program) ? RUNS_OPTION[program] : undefined;
  const mayHide = option !== undefined && words.some(({ text, isExact }) => !isExact && /^[-{]/.test(text));
  return mayHide || (option !== undefined && words.some(({ text }) => option.test(text)));
}

/** Subcommands of git with what of their words names a program; short options may stand in one word. */
const GIT_RUNS: Readonly<Record<string, RegExp>> = {
  bisect: /^run$/,
  clone: /^-[a-z]*[uc]|^--(?:c|u)/,
  grep: /^-[A-Za-z]*O/,
  rebase: /^-[a-z]*x/,
  submodule: /^foreach$/,
};

function gitRunsCode([subcommand, ...words]: SimpleCommand["words"]): boolean {
  const name = subcommand?.text ?? "";
  const runs = Object.hasOwn(GIT_RUNS, name) ? GIT_RUNS[name] : undefined;
  return runs !== undefined && words.some(({ text }) => runs.test(text));
}

/** `e` runs a command and `w` writes a file, also as flags of a substitution. */
function sedRunsCode(words: SimpleCommand["words"]): boolean {
  const scripts: (string | null)[] = [];
  const rest: SimpleCommand["words"][number][] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    if (word.text === "-e" || word.text === "--expression")
      scripts.push(words[(at += 1)]?.isExact ? (words[at]?.text ?? null) : null);
    else if (/^-(?:f|-file|s)/.test(word.text) || (!word.isExact && word.text.startsWith("-"))) return true;
    else if (!word.text.startsWith("-")) rest.push(word);
    else if (!/^-(?:[nErzu]+|i\S*|-in-place.*|-quiet|-silent|-regexp-extended|-null-data)$/.test(word.text))
      return true;
  }
  if (scripts.length === 0) scripts.push(rest[0]?.isExact === true ? rest[0].text : null);
  return !scripts.every((script) => script !== null && PLAIN_SED.test(script));
}
