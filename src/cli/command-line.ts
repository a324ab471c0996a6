import { WrongUsage } from "./arguments.ts";
import { type Command, commandIn, EXIT, type Io } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import {
  commandHelp,
  commandsUnder,
  fieldSentence,
  firstHelp,
  inFlags,
  misreadSentence,
  noSuchCommand,
  usageOf,
  wholeHelp,
} from "./help.ts";
import { VERSION } from "../lib/version.ts";

/** The relay's messages for every invalid field; the details name the field and the fault (spec/relay 6). */
const RELAY_REFUSAL = /^(Request body|Query) is not valid$/;

/** Runs one command line, all that follows the program's name, and returns its exit code (docs/reference/command-line.md). */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<number> {
  const name = commandIn(argv, COMMANDS);
  const command = name === undefined ? undefined : await COMMANDS.get(name)?.load();
  if (name === undefined || !command) return withoutCommand(argv, io);

  const rest = argv.slice(name.split(" ").length);
  if (isHelpWanted(rest)) {
    for (const line of commandHelp(name, command)) io.out(line);
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
  return (end < 0 ? rest : rest.slice(0, end)).some(isHelpFlag);
}

const isHelpFlag = (word: string) => word === "--help" || word === "-h";

async function withoutCommand(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...more] = argv;
  if (first === "--version" || first === "-v") {
    io.out(VERSION);
    return EXIT.done;
  }
  if (first === undefined) {
    for (const line of firstHelp()) io.tell(line);
    return EXIT.usage;
  }
  if (first === "help" || isHelpFlag(first)) return help(more, io);
  const group = commandsUnder(first);
  const isAsked = more.length === 0 || more.some(isHelpFlag);
  if (group.length > 0 && isAsked) {
    for (const line of group) io.out(line);
    return more.length === 0 ? EXIT.usage : EXIT.done;
  }
  for (const line of [...noSuchCommand(argv), ...group]) io.tell(line);
  return EXIT.usage;
}

async function help(words: readonly string[], io: Io): Promise<number> {
  const asked = words.filter((word) => !word.startsWith("-"));
  const name = asked.join(" ");
  const command = await COMMANDS.get(name)?.load();
  const group = commandsUnder(name);
  if (asked.length > 0 && !command && group.length === 0) {
    for (const line of noSuchCommand(asked)) io.tell(line);
    return EXIT.usage;
  }
  const general = words.includes("--all") ? wholeHelp() : firstHelp();
  for (const line of command ? commandHelp(name, command) : asked.length > 0 ? group : general) io.out(line);
  return EXIT.done;
}

/** Prints why a command failed, in a sentence if that is enough. */
async function failed(
  error: unknown,
  { name, command, rest }: { name: string; command: Command; rest: readonly string[] },
  io: Io,
): Promise<number> {
  const isMisread = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (error instanceof WrongUsage || isMisread) {
    io.tell(
      `parley ${name}: ${isMisread ? misreadSentence(error.message, command) : (error as Error).message}`,
      "fatal",
    );
    io.tell(`usage: parley ${name} ${usageOf(command)}`);
    return EXIT.usage;
  }
  if (io.interrupted.aborted) return EXIT.interrupted;
  const sentence = await sentenceOf(error, rest, io);
  const said = inFlags(sentence, command);
  io.tell(`parley: ${said}`, "fatal");
  // The verb itself, or the server, refuses the form of a flag or a word.
  const { code, status, details } = error as { code?: unknown; status?: unknown; details?: { constraint?: unknown } };
  const isOfForm = code === "invalid_input" && details?.constraint === "format";
  const isOfFlag = said !== sentence && (status === 400 || status === 422);
  return isOfForm || isOfFlag ? EXIT.usage : EXIT.refused;
}

/** Returns the message of one of our own errors; for any other error, also where it came from. */
async function sentenceOf(error: unknown, rest: readonly string[], io: Io): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "ParleyError" && "code" in error) {
    const details = "details" in error ? (error.details as Record<string, unknown>) : {};
    const ofField = RELAY_REFUSAL.test(error.message) ? fieldSentence(details) : undefined;
    if (ofField !== undefined) return ofField;
    if (error.code === "UNREACHABLE") {
      const flag = rest.find((word, i) => rest[i - 1] === "--url" || word.startsWith("--url="))?.replace("--url=", "");
      const { serverUrl } = await import("./server-client.ts");
      return `no server answers at ${serverUrl(flag, io.env)}; start one with npm start, or set PARLEY_URL.`;
    }
    if ("status" in error && error.status === 401) {
      return `${error.message} Set PARLEY_KEY; whoever runs the server makes one with: parley keys create NAME --scope agent`;
    }
  }
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return isBug ? (error.stack ?? error.message) : error.message;
}
