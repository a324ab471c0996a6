/** One word of a command. Its text is without quotes; what the shell puts in its place is known only if it is exact. */
export interface CommandWord {
  text: string;
  isExact: boolean;
}

/** A program that a command line runs, with its arguments. A wrapper, such as `sudo`, stands before the program that it runs. */
export interface SimpleCommand {
  /** As written: `git`, `./git` and `/tmp/git` are three programs. */
  program: string;
  words: readonly CommandWord[];
  redirects: readonly { operator: string; path: CommandWord | null }[];
  /** Names of variables that are set for it or by it. */
  sets: readonly string[];
  /** Something is written to its standard input: by a pipe or by the line itself. */
  hasInput: boolean;
}
