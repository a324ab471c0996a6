import { EXIT, HOOK_BLOCKS, type Io } from "./cli/command.ts";
import { logLine } from "./cli/serve/log-line.ts";
import { isAgent } from "./connect/registry.ts";
import { systemClock } from "./lib/clock.ts";
import { keepCompiled } from "./lib/compile-cache.ts";

function terminal(argv: readonly string[]): Io {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const watched = process.stderr.isTTY && !process.env["CI"];
  // A server without a terminal writes its messages as lines of its log, so that programs can read all of it.
  const isLogged = argv[0] === "serve" && !process.stderr.isTTY;
  if (isLogged) {
    process.removeAllListeners("warning");
    process.on("warning", ({ name, message }) => process.stderr.write(`${logLine(`${name}: ${message}`, "warn")}\n`));
  }
  const isSatAt = process.stdin.isTTY && process.stderr.isTTY;
  return {
    env: process.env,
    out: (line) => void process.stdout.write(`${line}\n`),
    tell: (line, level) => void process.stderr.write(`${isLogged ? logLine(line, level) : line}\n`),
    progress: (line) => void (watched && process.stderr.write(`\r\x1b[2K${line}`)),
    ...(isSatAt && { prompt: promptOn(interrupted) }),
    interrupted: interrupted.signal,
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

// A reader that went away, as in `parley keys list | head -1`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) =>
  process.exit(error.code === "EPIPE" ? EXIT.done : EXIT.refused),
);
// Messages beside the output may have no reader either, and no work ends because of that.
process.stderr.on("error", () => {});

const argv = process.argv.slice(2);
if (argv[0] === "hook" && isAgent(argv[1])) {
  // A crash of the hook must not let a tool run.
  process.on("uncaughtException", (error) => {
    console.error(`parley hook ${argv[1] ?? ""}: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(HOOK_BLOCKS);
  });
}
keepCompiled();
const io = terminal(argv);
const { runCommandLine } = await import("./cli/command-line.ts");
process.exit(await runCommandLine(argv, io));
