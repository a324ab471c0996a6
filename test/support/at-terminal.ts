import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { itWith } from "./parts.ts";
import { MAIN, ROOT, until } from "./program.ts";
import { afterLast } from "./shared.ts";

/** Python's standard library opens a terminal, without which nothing here would know that somebody sits at one. */
const RELAY = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
const SIZED = 'stty cols 100 rows 40; exec "$0" "$@"';

/** `it` for tests in which somebody sits at a terminal. */
export const itAtTerminal = await itWith("Python 3");

const running = new Set<ChildProcessWithoutNullStreams>();
afterLast(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** A command at a real terminal, and the person who types there. */
export interface Sitting {
  /** All that the terminal has shown, without its colours and cursor movements. */
  shown(): string;
  /** Waits until the terminal has shown this, after all that was waited for before. */
  sees(text: string): Promise<void>;
  types(keys: string): void;
  ended: Promise<number | null>;
}

/** Starts a command at a terminal of 100 columns. */
export function sitDown(args: readonly string[], env: Record<string, string> = {}): Sitting {
  const command = ["sh", "-c", SIZED, process.execPath, MAIN, ...args];
  const child = spawn("python3", ["-c", RELAY, ...command], {
    env: { PATH: process.env["PATH"], HOME: ROOT, TERM: "xterm", LANG: "C.UTF-8", ...env },
  });
  running.add(child);
  let raw = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (raw += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (raw += text));
  const shown = () => stripVTControlCharacters(raw).replaceAll("\r\n", "\n");
  return {
    shown,
    async sees(text) {
      const at = await until(
        () => shown().indexOf(text, seen) + 1,
        `${JSON.stringify(text)} after ${JSON.stringify(shown().slice(seen))}`,
      );
      seen = at - 1 + text.length;
    },
    types: (keys) => void child.stdin.write(keys),
    ended: once(child, "close").then(([code]) => {
      running.delete(child);
      return code as number | null;
    }),
  };
}
