import { type Arguments, readArguments, type Takes } from "./arguments.ts";
import type { LineLevel } from "./serve/log-line.ts";

/** The streams, environment and signals of a command. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>;
  /** Data. */
  out(line: string): void;
  /** Everything else; how much it matters is seen where it becomes a line of the server's log. */
  tell(line: string, level?: LineLevel): void;
  /** A line that is written over by the next one; nothing where nobody watches. */
  progress(line: string): void;
  /** Asks whoever sits at the terminal; null when they are done (Ctrl-D). Absent where nobody sits at one. */
  prompt?(question: string): Promise<string | null>;
  /** Aborted by Ctrl-C or SIGTERM. */
  interrupted: AbortSignal;
}

/** One command of the program. */
export interface Command {
  takes: Takes;
  example: string;
  /** Does it and returns the exit code (docs/reference/command-line.md). */
  run(argv: readonly string[], io: Io): Promise<number>;
}

/** Returns the command that takes these words and flags; its usage, help and completion follow from them. */
export function command<const T extends Takes>({
  run,
  ...declared
}: {
  takes: T;
  example: string;
  run: (given: Arguments<T>, io: Io) => Promise<number>;
}): Command {
  return { ...declared, run: async (argv, io) => run(readArguments(declared.takes, argv, io.env), io) };
}

/** A command as lists of commands know it; what it needs is loaded when it is wanted: asking does not load the server. */
export interface Listed {
  does: string;
  load: () => Promise<Command>;
}

/** Commands by their names, of one word or two. */
export type Commands = ReadonlyMap<string, Listed>;

/** Returns the name of the command that a command line begins with. */
export function commandIn(words: readonly string[], commands: Commands): string | undefined {
  return [words.slice(0, 2).join(" "), words[0] ?? ""].find((name) => commands.has(name));
}

export const EXIT = { done: 0, refused: 1, usage: 2, unanswered: 3, interrupted: 130 } as const;

/** The exit code by which a hook keeps a tool from running in every agent, whatever else allows it. */
export const HOOK_BLOCKS = 2;

export const JSON_FLAG = { "--json": "print JSON" } as const satisfies Takes;

export const STORE_FLAGS = {
  "--data-dir DIR": "the data directory (PARLEY_DATA_DIR)",
  "--config FILE": "the settings file (PARLEY_CONFIG)",
} as const satisfies Takes;

/** The store and the settings that flags name. */
export type StorePlace = Arguments<typeof STORE_FLAGS>;

export const CLIENT_FLAGS = {
  "--url URL": "the server, else PARLEY_URL, else A2H_BASE_URL, else the one that runs on this computer",
  ...JSON_FLAG,
} as const satisfies Takes;
