import { once } from "node:events";
import { createWriteStream } from "node:fs";

const MOST_BYTES = 52_428_800;
const MOST_SENT_LINES = 2000;

/** Writes the output of a setup command to a file, and sends it to a receiver. */
export interface SetupLog {
  /** Resolves when there is room for more. */
  append(text: string): Promise<void>;
  /** Resolves when all of it is written and sent. */
  close(): Promise<void>;
}

/**
 * Opens the log of a setup command. Its lines, up to 50 MiB, are added to a file. The first 2000 lines are also sent to
 * `onLine`, one after another. A full disk or a failing receiver does not stop the command.
 */
export function openSetupLog(path: string, onLine: (text: string) => Promise<void>): SetupLog {
  // eslint-disable-next-line no-restricted-syntax -- a log to read; nothing goes by it
  const file = createWriteStream(path, { flags: "a", mode: 0o600 });
  const closed = new Promise<void>((resolve) => file.once("close", resolve));
  file.on("error", () => {});
  let bytes = 0;
  let lines = 0;
  let telling = Promise.resolve();
  const tell = (text: string) => {
    telling = telling.then(() => onLine(text)).catch(() => {});
  };

  return {
    async append(text) {
      lines += 1;
      if (lines <= MOST_SENT_LINES) tell(text);
      if (lines === MOST_SENT_LINES + 1) tell("The rest of its output is in its log.");
      const line = `${text}\n`;
      bytes += Buffer.byteLength(line);
      if (bytes > MOST_BYTES || file.destroyed || file.write(line)) return;
      await Promise.race([once(file, "drain").catch(() => {}), closed]);
    },
    async close() {
      file.end();
      await Promise.all([closed, telling]);
    },
  };
}
