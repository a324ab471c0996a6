import { once } from "node:events";
import { createWriteStream } from "node:fs";

const MOST_BYTES = 52_428_800;
const MOST_TOLD = 2000;

/** What a setup command says, on its way into a file and to whoever is told. */
export interface SetupLog {
  /** Resolves when there is room for more. */
  append(text: string): Promise<void>;
  /** Resolves when all of it is written and told. */
  close(): Promise<void>;
}

/**
 * Opens the log of a setup command. Its lines are added to a file, 50 MiB of them, and told one after another, the first
 * 2000; that the disk is full, or that nobody can be told, stops neither the command nor anything else.
 */
export function openSetupLog(path: string, onLine: (text: string) => Promise<void>): SetupLog {
  // eslint-disable-next-line no-restricted-syntax -- a log to read; nothing goes by it
  const file = createWriteStream(path, { flags: "a", mode: 0o600 });
  const closed = new Promise<void>((resolve) => file.once("close", resolve));
  file.on("error", () => {});
  let bytes = 0;
  let told = 0;
  let telling = Promise.resolve();
  const tell = (text: string) => {
    telling = telling.then(() => onLine(text)).catch(() => {});
  };

  return {
    async append(text) {
      told += 1;
      if (told <= MOST_TOLD) tell(text);
      if (told === MOST_TOLD + 1) tell("It says more than is told here; the rest is in its log.");
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
