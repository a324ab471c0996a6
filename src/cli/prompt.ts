import { createInterface, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { Clock } from "../lib/clock.ts";

/** Lines that come this close together were pasted, and are one text. */
const PASTE_MS = 30;

/**
 * Returns what asks whoever sits at a terminal: it resolves with what they typed, or with null at its end (Ctrl-D) and
 * when the program is interrupted.
 *
 * What was typed before the question stood there is no answer to it and is dropped. A pasted text is one answer however
 * many lines it has: its first line must not be sent while the rest answers what is asked next.
 */
export function openPrompt(terminal: {
  input: ReadStream;
  output: WriteStream;
  clock: Clock;
  signal: AbortSignal;
  interrupt: () => void;
}): (question: string) => Promise<string | null> {
  const { input, output, clock, signal, interrupt } = terminal;
  let reader: Interface | undefined;
  let lines: string[] = [];
  let isOver = false;
  let wake = () => {};

  function open(): Interface {
    const opened = createInterface({ input, output, historySize: 0 });
    opened.on("line", (line) => {
      lines.push(line);
      wake();
    });
    opened.on("close", () => {
      isOver = true;
      wake();
    });
    opened.on("SIGINT", interrupt);
    signal.addEventListener("abort", () => opened.close(), { once: true });
    return opened;
  }

  return async (question) => {
    if (isOver || signal.aborted) return null;
    reader ??= open();
    lines = [];
    reader.setPrompt(question);
    reader.prompt();
    while (lines.length === 0 && !isOver) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    for (let seen = 0; !isOver && (lines.length > seen || reader.line !== "");) {
      seen = lines.length;
      await clock.sleep(PASTE_MS);
    }
    if (isOver) output.write("\n");
    return signal.aborted || lines.length === 0 ? null : lines.join("\n");
  };
}
