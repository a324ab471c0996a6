import { type Command, EXIT, type Io, WrongUsage } from "./cli/command.ts";
import { systemClock } from "./lib/clock.ts";
import { VERSION } from "./lib/version.ts";

/** Every command; each is loaded when it is wanted, so that asking does not load the server. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./cli/serve.ts")).serve,
  ask: async () => (await import("./cli/ask.ts")).ask,
  check: async () => (await import("./cli/asked.ts")).check,
  cancel: async () => (await import("./cli/asked.ts")).cancel,
  answer: async () => (await import("./cli/answer.ts")).answer,
  inbox: async () => (await import("./cli/inbox.ts")).inbox,
  "keys create": async () => (await import("./cli/keys.ts")).keysCreate,
  "keys list": async () => (await import("./cli/keys.ts")).keysList,
  "keys revoke": async () => (await import("./cli/keys.ts")).keysRevoke,
  mcp: async () => (await import("./cli/mcp.ts")).mcp,
  "mcp install": async () => (await import("./cli/mcp-install.ts")).mcpInstall,
  "mcp config": async () => (await import("./cli/mcp-install.ts")).mcpConfig,
  "hook install": async () => (await import("./cli/hook-install.ts")).hookInstall,
  "hook claude": async () => (await import("./cli/hook-claude.ts")).hookClaude,
  link: async () => (await import("./cli/link.ts")).link,
  "people add": async () => (await import("./cli/people.ts")).peopleAdd,
  "people list": async () => (await import("./cli/people.ts")).peopleList,
  "people remove": async () => (await import("./cli/people.ts")).peopleRemove,
  "channel test": async () => (await import("./cli/channel.ts")).channelTest,
  "webhook list": async () => (await import("./cli/webhook.ts")).webhookList,
  "webhook test": async () => (await import("./cli/webhook.ts")).webhookTest,
  verify: async () => (await import("./cli/verify.ts")).verify,
  "roles list": async () => (await import("./cli/roles.ts")).rolesList,
  "roles show": async () => (await import("./cli/roles.ts")).rolesShow,
  "roles test": async () => (await import("./cli/roles.ts")).rolesTest,
  "roles check": async () => (await import("./cli/roles.ts")).rolesCheck,
  "prompt executor": async () => (await import("./cli/roles.ts")).promptExecutor,
  "slack manifest": async () => (await import("./cli/slack.ts")).slackManifest,
  "tools list": async () => (await import("./cli/tools.ts")).toolsList,
  "tools accept": async () => (await import("./cli/tools.ts")).toolsAccept,
  "policy test": async () => (await import("./cli/policy.ts")).policyTest,
  "policy lint": async () => (await import("./cli/policy.ts")).policyLint,
  "policy explain": async () => (await import("./cli/policy.ts")).policyExplain,
  "policy show": async () => (await import("./cli/policy-store.ts")).policyShow,
  "policy accept": async () => (await import("./cli/policy-store.ts")).policyAccept,
  "policy dismiss": async () => (await import("./cli/policy-store.ts")).policyDismiss,
  "policy reload": async () => (await import("./cli/policy-store.ts")).policyReload,
  "policy revoke": async () => (await import("./cli/policy-store.ts")).policyRevoke,
  "cache clear": async () => (await import("./cli/cache.ts")).cacheClear,
  work: async () => (await import("./cli/work.ts")).work,
  assign: async () => (await import("./cli/assign.ts")).assign,
  "task list": async () => (await import("./cli/task.ts")).taskList,
  "task show": async () => (await import("./cli/task.ts")).taskShow,
  "task log": async () => (await import("./cli/task.ts")).taskLog,
  "task open": async () => (await import("./cli/task.ts")).taskOpen,
  "task retry": async () => (await import("./cli/task.ts")).taskRetry,
  "task cancel": async () => (await import("./cli/task.ts")).taskCancel,
  "task review": async () => (await import("./cli/task.ts")).taskReview,
  agents: async () => (await import("./cli/agents.ts")).agents,
  exec: async () => (await import("./cli/exec.ts")).exec,
  forward: async () => (await import("./cli/forward.ts")).forward,
  doctor: async () => (await import("./cli/doctor.ts")).doctor,
  stop: async () => (await import("./cli/stop.ts")).stop,
};

/** Runs one command line and returns its exit code. */
async function main(argv: readonly string[], io: Io): Promise<number> {
  const name = [argv.slice(0, 2).join(" "), argv[0] ?? ""].find((words) => Object.hasOwn(COMMANDS, words));
  const load = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || !load) return withoutCommand(argv, io);

  const command = await load();
  const rest = argv.slice(name.split(" ").length);
  if (isHelpWanted(rest)) {
    for (const line of helpFor(name, command)) io.out(line);
    return EXIT.done;
  }
  try {
    return await command.run(rest, io);
  } catch (error) {
    io.progress("");
    return failed(error, { name, command, rest }, io);
  }
}

function isHelpWanted(rest: readonly string[]): boolean {
  const end = rest.indexOf("--");
  return (end < 0 ? rest : rest.slice(0, end)).some((word) => word === "--help" || word === "-h");
}

async function withoutCommand(argv: readonly string[], io: Io): Promise<number> {
  const [first] = argv;
  if (first === "--version" || first === "-v") {
    io.out(VERSION);
    return EXIT.done;
  }
  const isAsked = first === "--help" || first === "-h" || first === "help";
  const group = Object.keys(COMMANDS).filter((name) => first !== undefined && name.startsWith(`${first} `));
  const names = group.length > 0 ? group : Object.keys(COMMANDS);
  const write = isAsked || group.length > 0 ? io.out : io.tell;

  if (first !== undefined && !isAsked && group.length === 0) io.tell(`parley: there is no command "${first}"\n`);
  write("Parley, the line between agents and people.\n");
  for (const name of names) write(`  parley ${name.padEnd(17)}${(await COMMANDS[name]?.())?.does ?? ""}`);
  write("\nparley COMMAND --help says more, with an example.");
  return isAsked || (group.length > 0 && argv.some((word) => word === "--help" || word === "-h"))
    ? EXIT.done
    : EXIT.usage;
}

function helpFor(name: string, { usage, does, flags, example }: Command): string[] {
  const width = Math.max(...Object.keys(flags).map((flag) => flag.length));
  return [
    `parley ${name} ${usage}`,
    "",
    `${does[0]?.toUpperCase()}${does.slice(1)}.`,
    "",
    ...Object.entries(flags).map(([flag, about]) => `  ${flag.padEnd(width)}  ${about}`),
    "",
    `Example: ${example}`,
  ];
}

/** Says why a command did not do what it was told to, in a sentence where that is enough. */
function failed(
  error: unknown,
  { name, command, rest }: { name: string; command: Command; rest: readonly string[] },
  io: Io,
): number {
  const isMisread = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (error instanceof WrongUsage || isMisread) {
    io.tell(`parley ${name}: ${(error as Error).message.split(". To specify")[0]}`);
    io.tell(`usage: parley ${name} ${command.usage}`);
    return EXIT.usage;
  }
  if (io.interrupted.aborted) return EXIT.interrupted;
  io.tell(`parley: ${sentenceOf(error, rest, io)}`);
  return EXIT.refused;
}

/** Our own errors are sentences; what is none of ours shows where it came from. */
function sentenceOf(error: unknown, rest: readonly string[], io: Io): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "ParleyError" && "code" in error) {
    if (error.code === "UNREACHABLE") {
      const flag = rest.find((word, i) => rest[i - 1] === "--url" || word.startsWith("--url="))?.replace("--url=", "");
      const url = flag ?? (io.env["PARLEY_URL"] || "http://127.0.0.1:3415");
      return `no server answers at ${url}; start one with npm start, or set PARLEY_URL.`;
    }
    if (error.code === "UNAUTHORIZED") {
      return `${error.message} Set PARLEY_KEY; whoever runs the server makes one with: parley keys create NAME --scope agent`;
    }
  }
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return isBug ? (error.stack ?? error.message) : error.message;
}

function terminal(): Io {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const watched = process.stderr.isTTY && !process.env["CI"];
  const isSatAt = process.stdin.isTTY && process.stderr.isTTY;
  return {
    env: process.env,
    out: (line) => void process.stdout.write(`${line}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
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

process.exit(await main(process.argv.slice(2), terminal()));
