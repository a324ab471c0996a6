/** The one place that calls git (spec/assignment 4): never through a shell, in an environment of our own. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { systemClock } from "../../lib/clock.ts";
import { openDeadline } from "../../lib/deadline.ts";
import { cutTo } from "../../core/model/title.ts";

/** The options of one call of git. */
export interface GitCall {
  /** The store, or the `.git` of the user's repository: never one that an agent could write. */
  gitDir?: string;
  workTree?: string;
  indexFile?: string;
  input?: string | Uint8Array | Readable;
  /** Added to the environment. */
  env?: Readonly<Record<string, string>>;
  /** Settings for this call alone, each `name=value`. */
  config?: readonly string[];
  /** Exit codes that are no failure, beside 0. */
  allow?: readonly number[];
  mostBytes?: number;
  /** Whether more than `mostBytes` is cut there instead of refused. */
  isCut?: boolean;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface GitReply {
  code: number;
  /** Whether there was more. */
  isCut: boolean;
  stdout: Buffer;
  stderr: string;
}

/** A call of git that did not go well. `code` is null when it was ended: by a signal, a limit, or because it never began. */
export class GitFailure extends Error {
  readonly code: number | null;
  readonly stderr: string;
  constructor(args: readonly string[], code: number | null, stderr: string) {
    super(`git ${args[0] ?? ""} failed${code === null ? "" : ` (${code})`}: ${reasonIn(stderr)}`);
    this.code = code;
    this.stderr = stderr;
  }
}

const MOST_BYTES = 64 * 1024 * 1024;
const KEPT_STDERR_BYTES = 8192;
const MOST_REASON_CHARS = 500;
const TIMEOUT_MS = 10 * 60_000;
const OLDEST = [2, 38] as const;

/**
 * Excludes the machine's configuration, hooks, monitors and other programs. The settings here override those by which a
 * repository's own configuration could start a program, because the command line wins. No transport is allowed: objects
 * go between repositories as packs (`objects.ts`), and nothing is fetched lazily.
 */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.alternateRefsCommand=:",
  "core.attributesFile=/dev/null",
  "core.excludesFile=/dev/null",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.commitGraph=false",
  "core.quotePath=false",
  "core.pager=cat",
  "core.fsync=committed",
  "core.fsyncMethod=fsync",
  "core.protectHFS=true",
  "core.protectNTFS=true",
  "core.autocrlf=false",
  "commit.gpgsign=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "protocol.allow=never",
  "submodule.recurse=false",
  "pack.packSizeLimit=0",
  "advice.graftFileDeprecated=false",
];

const ENVIRONMENT = {
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_GRAFT_FILE: "/dev/null",
  GIT_DEFAULT_REF_FORMAT: "files",
};

/** Returns git's output; a code that is neither 0 nor allowed is a failure. @throws {GitFailure} */
export async function git(args: readonly string[], call: GitCall = {}): Promise<GitReply> {
  const child = start(args, call);
  feed(child, call.input);
  const [ended, { stdout, isCut }] = await Promise.all([ending(child), collect(child, call.mostBytes ?? MOST_BYTES)]);
  if (isCut && call.isCut) return { code: 0, stdout, stderr: ended.stderr, isCut };
  if (isCut) throw new GitFailure(args, null, "its output is too long");
  if (ended.code === null || (ended.code !== 0 && !call.allow?.includes(ended.code))) {
    throw new GitFailure(args, ended.code, ended.stderr);
  }
  return { code: ended.code, stdout, stderr: ended.stderr, isCut };
}

/** Returns git's output as text, without the last line's end. @throws {GitFailure} */
export async function gitText(args: readonly string[], call: GitCall = {}): Promise<string> {
  const { stdout } = await git(args, call);
  return stdout.toString("utf8").replace(/\n$/, "");
}

/**
 * Pipes the output of one git into another, which is chosen once the first bytes are known.
 *
 * @throws {GitFailure} of the one that failed
 */
export async function gitInto(
  from: { args: readonly string[]; call: GitCall },
  into: (head: Buffer) => { args: readonly string[]; call: GitCall },
  headBytes: number,
): Promise<void> {
  const source = start(from.args, from.call);
  feed(source, from.call.input);
  const sourceEnd = ending(source);
  const head = await firstBytes(source, headBytes);
  if (head.length < headBytes) {
    const { code, stderr } = await sourceEnd;
    throw new GitFailure(from.args, code, stderr);
  }
  const target = into(head);
  const sink = start(target.args, target.call);
  const sinkEnd = ending(sink);
  sink.stdout.resume();
  sink.stdin.write(head);
  // One that ends early breaks the pipe; its own words say why.
  const carried = pipeline(source.stdout, sink.stdin).catch(() => undefined);
  const [, given, taken] = await Promise.all([carried, sourceEnd, sinkEnd]);
  if (taken.code !== 0 && given.code === 0) throw new GitFailure(target.args, taken.code, taken.stderr);
  if (given.code !== 0) throw new GitFailure(from.args, given.code, given.stderr);
}

export interface GitVersion {
  version: string | null;
  /** Why Agent Assignment stays off with this git, as a sentence; null when it is new enough. */
  why: string | null;
}

/** Returns which git is here, and whether it will do: 2.38 or newer merges without a working tree. */
export async function gitVersion(): Promise<GitVersion> {
  let output: string;
  try {
    output = await gitText(["version"]);
  } catch (error) {
    const isMissing = error instanceof GitFailure && error.code === null;
    return { version: null, why: isMissing ? "git was not found." : "git could not be started." };
  }
  const [, version = "", major = "0", minor = "0"] = /(?:^| )((\d+)\.(\d+)[^ ]*)/.exec(output) ?? [];
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
  if (isNew) return { version, why: null };
  return { version, why: `git ${OLDEST.join(".")} or newer is needed; here is ${version === "" ? output : version}.` };
}

function start(args: readonly string[], call: GitCall): ChildProcessWithoutNullStreams {
  const { gitDir, workTree, indexFile } = call;
  const line = [
    ...[...SETTINGS, ...(call.config ?? [])].flatMap((setting) => ["-c", setting]),
    ...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]),
    ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
    ...args,
  ];
  // The limit of `spawn` itself goes on counting where there was no program to start.
  const deadline = openDeadline(systemClock, call.timeoutMs ?? TIMEOUT_MS, call.signal ?? new AbortController().signal);
  const child = spawn("git", line, {
    cwd: workTree ?? "/",
    env: {
      ...ENVIRONMENT,
      PATH: searchPath(),
      ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }),
      ...call.env,
    },
    stdio: ["pipe", "pipe", "pipe"],
    signal: deadline.signal,
    // Unlike SIGKILL it lets git take its lock files away.
    killSignal: "SIGTERM",
  });
  child.once("error", () => deadline[Symbol.dispose]()).once("close", () => deadline[Symbol.dispose]());
  return child;
}

/** A folder that is named relative to where git runs could hold anything. */
function searchPath(): string {
  return (process.env.PATH ?? "").split(delimiter).filter(isAbsolute).join(delimiter);
}

/** A git that ends early breaks the pipe; its own words say why. */
function feed(child: ChildProcessWithoutNullStreams, input: GitCall["input"]): void {
  child.stdin.on("error", () => undefined);
  if (input instanceof Readable) void pipeline(input, child.stdin).catch(() => child.kill("SIGTERM"));
  else child.stdin.end(input);
}

function ending(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; stderr: string }> {
  let stderr = "";
  child.stderr.on("data", (some: Buffer) => {
    stderr = (stderr + some.toString("utf8")).slice(-KEPT_STDERR_BYTES);
  });
  return new Promise((resolve) => {
    child.on("error", (error) => {
      stderr = `${stderr}${error.message}\n`;
      // One that never began says nothing more.
      if (child.pid === undefined) resolve({ code: null, stderr });
    });
    child.on("close", (code, signal) => {
      if (signal !== null) stderr = `${stderr}it was ended by ${signal}\n`;
      resolve({ code, stderr });
    });
  });
}

/** Returns the whole output, up to a limit at which the child is ended. */
async function collect(
  child: ChildProcessWithoutNullStreams,
  mostBytes: number,
): Promise<{ stdout: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const some of child.stdout as AsyncIterable<Buffer>) {
      bytes += some.length;
      chunks.push(some);
      if (bytes > mostBytes) {
        child.kill("SIGTERM");
        return { stdout: Buffer.concat(chunks).subarray(0, mostBytes), isCut: true };
      }
    }
  } catch {
    // Its end says why.
  }
  return { stdout: Buffer.concat(chunks), isCut: false };
}

async function firstBytes(child: ChildProcessWithoutNullStreams, wanted: number): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < wanted) {
    const some = child.stdout.read(wanted - head.length) as Buffer | null;
    if (some) {
      head = Buffer.concat([head, some]);
    } else if (child.stdout.readableEnded || !(await readable(child))) {
      break;
    }
  }
  return head;
}

function readable(child: ChildProcessWithoutNullStreams): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (more: boolean) => () => {
      child.stdout.off("readable", yes).off("end", no).off("error", no).off("close", no);
      resolve(more);
    };
    const [yes, no] = [done(true), done(false)];
    child.stdout.on("readable", yes).on("end", no).on("error", no).on("close", no);
  });
}

/** Returns the reason of a failure: all lines marked as errors, else the last line. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split("\n");
  const reasons = lines.filter((line) => /^(?:fatal|error): /.test(line));
  return cutTo(MOST_REASON_CHARS, (reasons.length === 0 ? lines.slice(-1) : reasons).join("; "));
}
