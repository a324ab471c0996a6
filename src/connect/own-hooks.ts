import { realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_NODE, ownCommand } from "../lib/own-program.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The marks by which Parley knows the hooks of one agent that it wrote itself; every other hook is somebody else's. */
export interface OwnHooks {
  /** The agent's word in commands. */
  name: string;
  /** Addresses that Parley wrote, or would write now. */
  addresses: readonly string[];
}

/** An address that Parley writes has no other members in its query. */
const QUERY = new Set(["to", "timeout", "reports"]);
/** Names that the program of Parley has, or had. */
const PROGRAM = /^parley(-(linux|darwin|macos|win|windows)-(x64|arm64))?(\.(mjs|cjs|js|exe|cmd))?$/;
/** Package managers that start the package of the next word that is no flag, and words that belong to them. */
const PACKAGE_RUNNER = /^(bun|npx|bunx|pnpx|pnpm|yarn|npm)(\.(exe|cmd))?$/;
const RUNNER_WORD = /^(-.*|dlx|exec|x)$/;
/** Names that systems and version managers give to Node: `nodejs`, `node24`, `node-v24.1.0-linux-x64`. */
const NODE = /^node(js)?([-_.@]?v?\d+(\.\d+)*)?([-_](linux|darwin|macos|win|alpine|musl|x64|x86|arm)\w*)*(\.exe)?$/i;
const SHELL = /^(sh|bash|dash|zsh|ksh)$/;
const SHELL_FLAG = /^-l?c$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** A word of one command. What joins commands, or opens a file, belongs to none. */
const WORD = /[ \t]*((?:'[^']*'|"(?:[^"\\`$]|\\.|\$(?!\())*"|\\.|(?!\$\()[^\s'"\\;&|<>`()])+)/y;

/** Returns whether a hook of an agent's configuration is Parley's own. */
export function isOwnHook(hook: unknown, { name, addresses }: OwnHooks): boolean {
  const { command, bash, type, url } = Object(hook) as Readonly<Record<string, unknown>>;
  if (type === "http") return typeof url === "string" && isOwnAddress(url, addresses);
  // Copilot CLI writes the command as `bash`.
  const line = command ?? bash;
  return typeof line === "string" && isOwnCommand(line, name);
}

function isOwnAddress(url: string, addresses: readonly string[]): boolean {
  const place = placeOf(url);
  const isPlain = [...(URL.parse(url)?.searchParams.keys() ?? [])].every((member) => QUERY.has(member));
  return place !== undefined && isPlain && addresses.some((own) => placeOf(own) === place);
}

/** Returns an address without its query; undefined for another text. */
function placeOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.username}@${parsed.origin}${parsed.pathname}${parsed.hash}` : undefined;
}

/**
 * Returns whether a command line runs `parley hook NAME` and nothing else: the program under any path, by Node, by a
 * package runner, by a shell, or with variables before it. A command that has these words among its arguments, or
 * joins several commands, is another's.
 */
export const isOwnCommand = (line: string, name: string): boolean => startIn(line, name) !== null;

/** How a command line starts Parley. */
export interface HookStart {
  /** The first program: Node, a package manager, or Parley itself. */
  program: string;
  /** The file that Node is to run. */
  script?: string;
  /** A package manager looks for Parley, or even fetches it. */
  isFetched: boolean;
  /** The words after `hook NAME`. */
  flags: readonly string[];
}

/**
 * Returns how a command line starts `parley hook NAME`; null for one that is not `isOwnCommand`. The shell's variables
 * are those of `env`; one that is not there stays as it is written.
 */
export function startIn(line: string, name: string, env: Environment = {}): HookStart | null {
  const all = wordsOf(line, env);
  if (all === null) return null;
  const words = all.slice(all.findIndex((word) => !ASSIGNMENT.test(word) && word !== "exec"));
  const [first = "", flag = "", script = ""] = words;
  if (SHELL.test(baseOf(first))) return SHELL_FLAG.test(flag) && words.length === 3 ? startIn(script, name, env) : null;
  const isFetched = PACKAGE_RUNNER.test(baseOf(first));
  const isByNode = !isFetched && isNode(first);
  const at = isFetched || isByNode ? words.findIndex((word, i) => i > 0 && !RUNNER_WORD.test(word)) : 0;
  const program = words[at] ?? "";
  if (!isOwnProgram(program) || words[at + 1] !== "hook" || words[at + 2] !== name) return null;
  return { program: first, ...(isByNode && { script: program }), isFetched, flags: words.slice(at + 3) };
}

/**
 * Returns whether a program is Node, by its own name, by the name of the file behind it, or because it runs this very
 * process. Another program may check what it then starts: a hook by it is not ours.
 */
function isNode(program: string): boolean {
  if (NODE.test(baseOf(program))) return true;
  const file = realPath(program);
  return file !== null && (NODE.test(baseOf(file)) || (AS_NODE.length === 0 && file === realPath(process.execPath)));
}

function realPath(program: string): string | null {
  try {
    return isAbsolute(program) ? realpathSync(program) : null;
  } catch {
    return null;
  }
}

function isOwnProgram(word: string): boolean {
  const [program, script = AS_NODE.length > 0 ? program : undefined] = ownCommand();
  // A package runner may name a version.
  return PROGRAM.test(baseOf(word).replace(/@[\w.-]+$/, "")) || word === script || word === sourceProgram();
}

/** The program where it runs from its sources. */
const sourceProgram = (): string => fileURLToPath(new URL("../main.ts", import.meta.url));
const baseOf = (path: string): string => path.split(/[/\\]/).at(-1) ?? "";

/** Returns the words of a line as a shell splits them; null for more than one command, and for an empty line. */
function wordsOf(line: string, env: Environment): string[] | null {
  const text = line.trimEnd();
  const words: string[] = [];
  for (WORD.lastIndex = 0; WORD.lastIndex < text.length;) {
    const word = WORD.exec(text)?.[1];
    if (word === undefined) return null;
    const home = env["HOME"];
    const fromHome = home === undefined ? word : word.replace(/^~(?=\/)/, () => `'${home}'`);
    words.push(fromHome.replaceAll(PART, (...part: (string | undefined)[]) => expanded(part, env)));
  }
  return words.length > 0 ? words : null;
}

/** A part of a word: in single quotes, in double ones, an escaped mark, or plain. */
const PART = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^'"\\]+)/g;
/** An escaped mark between double quotes, or a variable. */
const VARIABLE = /\\([\\"$`])|\$(?:(\w+)|\{(\w+)\})/g;

function expanded([, single, double, escaped, plain]: readonly (string | undefined)[], env: Environment): string {
  const valueOf = (whole: string, mark?: string, bare?: string, braced?: string) =>
    mark ?? env[bare ?? braced ?? ""] ?? whole;
  return single ?? escaped ?? (double ?? plain ?? "").replaceAll(VARIABLE, valueOf);
}
