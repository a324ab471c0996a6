import type { Io } from "./cli/command.ts";
import { blockAfterCrash } from "./cli/hook/block-after-crash.ts";
import { logLine } from "./cli/serve/log-line.ts";
import { outliveReader, standardIo } from "./cli/standard-io.ts";
import { systemClock } from "./lib/clock.ts";
import { keepCompiled } from "./lib/compile-cache.ts";

function terminal(argv: readonly string[]): Io {
  const interrupted = new AbortController();
  const watched = process.stderr.isTTY && !process.env["CI"];
  // A server without a terminal writes its messages as lines of its log, so that programs can read all of it.
  outliveReader();
  const isLogged = argv[0] === "serve" && !process.stderr.isTTY;
  if (isLogged) {
    process.removeAllListeners("warning");
    process.on("warning", ({ name, message }) => process.stderr.write(`${logLine(`${name}: ${message}`, "warn")}\n`));
  }
  const isSatAt = process.stdin.isTTY && process.stderr.isTTY;
  return {
    ...standardIo(interrupted),
    tell: (line, level) => void process.stderr.write(`${isLogged ? logLine(line, level) : line}\n`),
    progress: (line) => void (watched && process.stderr.write(`\r\x1b[2K${line}`)),
    ...(isSatAt && { prompt: promptOn(interrupted) }),
  };
}

/** The terminal is taken over when something is asked, and not before. */
function promptOn(interrupted: AbortController): NonNullable<Io["prompt"]> {
  let prompt: Promise<NonNullable<Io["prompt"]>> | undefined;
  return async (question) => {
    prompt ??= import("./cli/prompt.ts").then(({ openPrompt }) =>
      openPrompt({
        input: process.stdin,
        output: process.stderr,
        clock: systemClock,
        signal: interrupted.signal,
        interrupt: () => interrupted.abort(),
      }),
    );
    return (await prompt)(question);
  };
}

const argv = process.argv.slice(2);
blockAfterCrash(argv);
keepCompiled();
const io = terminal(argv);
const { runCommandLine } = await import("./cli/command-line.ts");
process.exit(await runCommandLine(argv, io));
