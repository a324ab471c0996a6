import { type Command, EXIT, type Io, WrongUsage } from "./command.ts";
import { VERSION } from "../lib/version.ts";

/** Every command; each is loaded when it is wanted, so that asking does not load the server. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.ts")).serve,
  ask: async () => (await import("./ask.ts")).ask,
  check: async () => (await import("./asked.ts")).check,
  cancel: async () => (await import("./asked.ts")).cancel,
  answer: async () => (await import("./answer.ts")).answer,
  inbox: async () => (await import("./inbox.ts")).inbox,
  "keys create": async () => (await import("./keys.ts")).keysCreate,
  "keys list": async () => (await import("./keys.ts")).keysList,
  "keys revoke": async () => (await import("./keys.ts")).keysRevoke,
  mcp: async () => (await import("./mcp.ts")).mcp,
  "mcp install": async () => (await import("./mcp-install.ts")).mcpInstall,
  "mcp config": async () => (await import("./mcp-install.ts")).mcpConfig,
  "hook install": async () => (await import("./hook-install.ts")).hookInstall,
  "hook claude": async () => (await import("./hook-claude.ts")).hookClaude,
  link: async () => (await import("./link.ts")).link,
  "people add": async () => (await import("./people.ts")).peopleAdd,
  "people list": async () => (await import("./people.ts")).peopleList,
  "people remove": async () => (await import("./people.ts")).peopleRemove,
  "channel test": async () => (await import("./channel.ts")).channelTest,
  "webhook list": async () => (await import("./webhook.ts")).webhookList,
  "webhook test": async () => (await import("./webhook.ts")).webhookTest,
  record: async () => (await import("./record.ts")).record,
  verify: async () => (await import("./verify.ts")).verify,
  "roles list": async () => (await import("./roles.ts")).rolesList,
  "roles show": async () => (await import("./roles.ts")).rolesShow,
  "roles test": async () => (await import("./roles.ts")).rolesTest,
  "roles check": async () => (await import("./roles.ts")).rolesCheck,
  "prompt executor": async () => (await import("./roles.ts")).promptExecutor,
  "slack manifest": async () => (await import("./slack.ts")).slackManifest,
  "tools list": async () => (await import("./tools.ts")).toolsList,
  "tools accept": async () => (await import("./tools.ts")).toolsAccept,
  "policy test": async () => (await import("./policy.ts")).policyTest,
  "policy lint": async () => (await import("./policy.ts")).policyLint,
  "policy explain": async () => (await import("./policy.ts")).policyExplain,
  "policy show": async () => (await import("./policy-store.ts")).policyShow,
  "policy accept": async () => (await import("./policy-store.ts")).policyAccept,
  "policy dismiss": async () => (await import("./policy-store.ts")).policyDismiss,
  "policy reload": async () => (await import("./policy-store.ts")).policyReload,
  "policy revoke": async () => (await import("./policy-store.ts")).policyRevoke,
  "cache clear": async () => (await import("./cache.ts")).cacheClear,
  work: async () => (await import("./work.ts")).work,
  assign: async () => (await import("./assign.ts")).assign,
  "task list": async () => (await import("./task.ts")).taskList,
  "task show": async () => (await import("./task.ts")).taskShow,
  "task log": async () => (await import("./task.ts")).taskLog,
  "task open": async () => (await import("./task.ts")).taskOpen,
  "task retry": async () => (await import("./task.ts")).taskRetry,
  "task cancel": async () => (await import("./task.ts")).taskCancel,
  "task review": async () => (await import("./task.ts")).taskReview,
  agents: async () => (await import("./agents.ts")).agents,
  exec: async () => (await import("./exec.ts")).exec,
  forward: async () => (await import("./forward.ts")).forward,
  backup: async () => (await import("./backup.ts")).backup,
  restore: async () => (await import("./restore.ts")).restore,
  doctor: async () => (await import("./doctor.ts")).doctor,
  stop: async () => (await import("./stop.ts")).stop,
};

/** Runs one command line, all that follows the program's name, and returns its exit code (docs/command-line.md). */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<number> {
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
    return await failed(error, { name, command, rest }, io);
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
async function failed(
  error: unknown,
  { name, command, rest }: { name: string; command: Command; rest: readonly string[] },
  io: Io,
): Promise<number> {
  const isMisread = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (error instanceof WrongUsage || isMisread) {
    io.tell(`parley ${name}: ${(error as Error).message.split(". To specify")[0]}`);
    io.tell(`usage: parley ${name} ${command.usage}`);
    return EXIT.usage;
  }
  if (io.interrupted.aborted) return EXIT.interrupted;
  io.tell(`parley: ${await sentenceOf(error, rest, io)}`);
  return EXIT.refused;
}

/** Our own errors are sentences; what is none of ours shows where it came from. */
async function sentenceOf(error: unknown, rest: readonly string[], io: Io): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "ParleyError" && "code" in error) {
    if (error.code === "UNREACHABLE") {
      const flag = rest.find((word, i) => rest[i - 1] === "--url" || word.startsWith("--url="))?.replace("--url=", "");
      const { serverUrl } = await import("./questions.ts");
      return `no server answers at ${serverUrl(flag, io.env)}; start one with npm start, or set PARLEY_URL.`;
    }
    if (error.code === "UNAUTHORIZED") {
      return `${error.message} Set PARLEY_KEY; whoever runs the server makes one with: parley keys create NAME --scope agent`;
    }
  }
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return isBug ? (error.stack ?? error.message) : error.message;
}
