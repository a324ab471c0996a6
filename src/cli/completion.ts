import { type Command, command, type Commands, EXIT } from "./command.ts";
import { type Offered, offeredWords } from "./ask/offered-words.ts";

/** How a shell asks `parley completion SHELL -- WORDS` for the last of the words, and how it reads the reply. */
interface Shell {
  script: readonly string[];
  line(offered: Offered): string;
}

/**
 * Written here and not by a library: those that were looked at pass what is half typed through `eval`, where pressing
 * the tabulator would run a command substitution, or never offer files.
 */
const SHELLS = {
  bash: {
    script: [
      "_parley() {",
      `  local IFS=$'\\n'`,
      `  COMPREPLY=($(parley completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null))`,
      "}",
      "complete -o default -F _parley parley",
    ],
    line: ({ word }) => word,
  },
  zsh: {
    script: [
      "#compdef parley",
      "_parley() {",
      "  local -a offered",
      `  offered=("\${(@f)$(parley completion zsh -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")`,
      `  if [[ -n "\${offered[1]}" ]]; then _describe parley offered; else _files; fi`,
      "}",
      "compdef _parley parley",
    ],
    line: ({ word, does }) => `${word.replaceAll(":", "\\:")}${does === "" ? "" : `:${does}`}`,
  },
  fish: {
    script: [
      "function __parley_offered",
      "  set -l words (commandline -opc)",
      "  set -l offered (parley completion fish -- $words[2..-1] (commandline -ct) 2> /dev/null)",
      "  if set -q offered[1]",
      `    printf '%s\\n' $offered`,
      "  else",
      "    __fish_complete_path (commandline -ct)",
      "  end",
      "end",
      "complete -c parley -f -a '(__parley_offered)'",
    ],
    line: ({ word, does }) => `${word}\t${does}`,
  },
} as const satisfies Record<string, Shell>;

const NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

/** Returns the command that completes these. */
export const completionOf = (commands: Commands): Command =>
  command({
    takes: {
      SHELL: { help: NAMES.join(", "), choices: NAMES },
      "[-- WORDS]": "what may stand in the place of the last; shells ask so",
    },
    example: 'eval "$(parley completion bash)"',
    async run({ shell, words }, io) {
      const { script, line: lineOf }: Shell = SHELLS[shell];
      const lines = words === undefined ? script : (await offeredWords(words, commands)).map(lineOf);
      for (const line of lines) io.out(line);
      return EXIT.done;
    },
  });
