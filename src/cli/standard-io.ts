import { EXIT, type Io } from "./command.ts";

/** From now on messages beside the output may have no reader, and no work ends because of that. */
export function outliveReader(): void {
  if (process.stderr.listenerCount("error") === 0) process.stderr.on("error", () => {});
}

/** Returns the streams, environment and signals of this process, for a command that asks nothing at a terminal. */
export function standardIo(interrupted: AbortController): Io {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  // A reader that went away, as in `parley keys list | head -1`, is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) =>
    process.exit(error.code === "EPIPE" ? EXIT.done : EXIT.refused),
  );
  return {
    env: process.env,
    out: (line) => void process.stdout.write(`${line}\n`),
    tell(line) {
      outliveReader();
      process.stderr.write(`${line}\n`);
    },
    progress: () => {},
    interrupted: interrupted.signal,
  };
}
