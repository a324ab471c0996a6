import { createInterface, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { Clock } from "../lib/clock.ts";

/** Lines that come this close together were pasted, and are one text. */
const PASTE_MS = 30;

/**
 * Returns a function that asks the person at the terminal a question. It resolves with the text that they typed, or
 * with null at the terminal's end (Ctrl-D) and when the program is interrupted.
 *
 * Text typed before the question appeared is dropped: it is not an answer to it. A pasted text is one answer, however
 * many lines it has: otherwise its other lines would answer the next questions.
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
