import { type ChildProcess, fork } from "node:child_process";

/** A process that plays stories by their seeds, several at a time where it can. */
export interface Player<Result> {
  /** Plays the story of a seed. A process that dies of it is followed by another. */
  play(seed: number): Promise<Result>;
  close(): void;
}

/** Starts a process of a file that answers each seed with a result; `died` makes that of a seed it died of. */
export function openPlayer<Result extends { seed: number }>(
  file: URL,
  died: (seed: number) => Result,
  env: Readonly<Record<string, string>> = {},
): Player<Result> {
  const waiting = new Map<number, (result: Result) => void>();
  const settle = (result: Result) => {
    waiting.get(result.seed)?.(result);
    waiting.delete(result.seed);
  };
  const start = (): ChildProcess => {
    const started = fork(file, { env: { ...process.env, ...env } });
    started.on("message", (result) => settle(result as Result));
    started.once("exit", () => {
      if (waiting.size > 0) child = start();
      for (const seed of [...waiting.keys()]) settle(died(seed));
    });
    return started;
  };
  let child = start();
  return {
    play: (seed) =>
      new Promise((resolve) => {
        waiting.set(seed, resolve);
        child.send(seed);
      }),
    close: () => child.disconnect(),
  };
}
