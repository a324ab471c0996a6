import type { CommandWord } from "./simple-command.ts";

/** A program that another one starts: by words, or by a line that a shell reads. */
interface Started {
  words: readonly CommandWord[];
  line?: string;
  sets?: readonly string[];
}

/** Options without a value, then those with one, of programs that start the program behind their options. */
interface Wrapper {
  flags: RegExp;
  valued: RegExp;
  /** So many words stand between the options and the program. */
  before?: number;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    flags: /^-(?:[AbEHnPSk]+|-non-interactive|-preserve-env(?:=.*)?)$/,
    valued: /^-(?:u|g|p|-user|-group|-prompt)$/,
  },
  doas: { flags: /^-[nL]$/, valued: /^-u$/ },
  nohup: { flags: /^(?!)/, valued: /^(?!)/ },
  setsid: { flags: /^-(?:[cfw]+|-fork|-wait)$/, valued: /^(?!)/ },
  nice: { flags: /^-(?:-?\d+|n-?\d+|-adjustment=-?\d+)$/, valued: /^-(?:n|-adjustment)$/ },
  ionice: { flags: /^-(?:t|[cn]\d)$/, valued: /^-[cn]$/ },
  stdbuf: { flags: /^-[ioe](?:L|\d+)$/, valued: /^-[ioe]$/ },
  time: { flags: /^-(?:p|v)$/, valued: /^-[fo]$/ },
  timeout: {
    flags: /^-(?:v|-foreground|-preserve-status|-verbose|[ks]\w+|-(?:kill-after|signal)=\w+)$/,
    valued: /^-[ks]$/,
    before: 1,
  },
  command: { flags: /^-p$/, valued: /^(?!)/ },
  exec: { flags: /^-[cl]+$/, valued: /^-a$/ },
  flock: { flags: /^-(?:[nesux]+|-nonblock|-exclusive|-shared)$/, valued: /^-[wE]$/, before: 1 },
  caffeinate: { flags: /^-[dimsu]+$/, valued: /^-[tw]$/ },
  busybox: { flags: /^(?!)/, valued: /^(?!)/ },
  strace: { flags: /^(?!)/, valued: /^(?!)/ },
  taskset: { flags: /^(?!)/, valued: /^(?!)/, before: 1 },
  unshare: { flags: /^(?!)/, valued: /^(?!)/ },
  pkexec: { flags: /^(?!)/, valued: /^(?!)/ },
  "systemd-run": { flags: /^(?!)/, valued: /^(?!)/ },
  xargs: {
    flags: /^-(?:[0rtxp]+|[nPLI]\S+|d\S+|-(?:null|no-run-if-empty|verbose|max-args=\d+|max-procs=\d+))$/,
    valued: /^-[nPLIda]$/,
  },
};

/**
 * Returns the programs that a program starts by its words; "itself" for one that starts none. Null if that is not
 * certain, as behind an option that is not known.
 */
export function unwrapped(program: string, words: readonly CommandWord[]): Started[] | "itself" | null {
  if (program === "env") return environment(words);
  if (program === "find" || program === "fd") return found(program, words);
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (wrapper === undefined) return "itself";
  if (program === "command" && /^-[vV]$/.test(words[0]?.text ?? "")) return "itself";
  const at = afterOptions(words, wrapper);
  if (at === null) return null;
  const started = words.slice(at + (wrapper.before ?? 0));
  if (started.length === 0) return program === "xargs" || program === "exec" ? "itself" : null;
  if (program === "sudo" && /^\w+=/.test(started[0]?.text ?? "")) return environment(started);
  if (program === "flock" && started[0]?.text === "-c") return null;
  // Names that nobody sees beforehand follow the words that are written.
  return [{ words: program === "xargs" ? [...started, { text: "…", isExact: false }] : started }];
}

function afterOptions(words: readonly CommandWord[], { flags, valued }: Wrapper): number | null {
  for (let at = 0; at < words.length; at += 1) {
    const { text = "", isExact = false } = words[at] ?? {};
    if (!isExact) return text.startsWith("-") ? null : at;
    if (text === "--") return at + 1;
    if (!text.startsWith("-") || text === "-") return at;
    if (valued.test(text)) at += 1;
    else if (!flags.test(text)) return null;
  }
  return words.length;
}

function environment(words: readonly CommandWord[]): Started[] | "itself" | null {
  const sets: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const { text = "", isExact = false } = words[at] ?? {};
    const name = /^(\w+)=/.exec(text)?.[1];
    if (name !== undefined) sets.push(name);
    else if (/^(?:-S|--split-string=?)/.test(text)) {
      const line = /^-S.|=/.test(text) ? text.replace(/^-S|^[^=]*=/, "") : (words[at + 1]?.text ?? "");
      return isExact && words.length <= at + 2 ? [{ words: [], line, sets }] : null;
    } else if (text === "-u" || text === "--unset") at += 1;
    else if (text === "--") return [{ words: words.slice(at + 1), sets }];
    else if (!/^(?:-i|--ignore-environment|-0|--null)$/.test(text)) {
      return text.startsWith("-") ? null : [{ words: words.slice(at), sets }];
    }
  }
  return "itself";
}

/** An option of `fd` that starts a program, behind others or with the program in the same word. */
const BUNDLED_START = /^-(?:[A-Za-z\d]*[xX]|-exe)/;

/** Each `-exec` of `find` runs to `;` or `+`, with the name of a file for `{}`. */
function found(program: string, words: readonly CommandWord[]): Started[] | "itself" | null {
  const starts = program === "find" ? /^-(?:exec|execdir|ok|okdir)$/ : /^(?:-x|-X|--exec|--exec-batch)$/;
  if (words.some(({ text, isExact }) => !isExact && text.startsWith("-"))) return null;
  if (program === "fd" && words.some(({ text }) => BUNDLED_START.test(text) && !starts.test(text))) return null;
  const started: Started[] = [];
  for (let at = 0; at < words.length; at += 1) {
    if (!starts.test(words[at]?.text ?? "")) continue;
    const from = at + 1;
    while (at < words.length && words[at]?.text !== ";" && !(words[at]?.text === "+" && words[at - 1]?.text === "{}"))
      at += 1;
    if (at >= words.length && program === "find") return null;
    started.push({
      words: words.slice(from, at).map((word) => (word.text.includes("{}") ? { ...word, isExact: false } : word)),
    });
  }
  return started.length === 0 ? "itself" : started;
}
