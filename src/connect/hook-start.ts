import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { addressFault } from "../lib/network/server-address.ts";
import { hookCommand, hookProgram, reinstalling } from "../lib/own-program.ts";
import { programOf } from "./agent.ts";
import { type HookStart, startIn } from "./own-hooks.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const NEEDED_NODE = 24;
const TELLS_WITHIN_MS = 10_000;
/** A text in JSON, and in a plugin that Parley wrote. */
const STRING = /"(?:[^"\\]|\\.)*"/g;
/** Two inputs about which nobody is asked: every version denies the first, and says nothing to the second. */
const NO_EVENT = "";
const OTHER_EVENT = JSON.stringify({ hook_event_name: "ParleyStatus", hookName: "ParleyStatus" });
/** The end of the words of a Node that could not run its file. */
const NODE_FAILED = /^Node\.js v\d/m;
const IS_SCRIPT = /\.(cjs|mjs|js)$/;

/** An installed hook: how it is started, and the whole line of its command. */
export interface InstalledHook extends HookStart {
  line: string;
}

/** Returns Parley's hooks in the text of an agent's file. */
export function startsIn(text: string, name: string, env: Environment): InstalledHook[] {
  const lines = new Set((text.match(STRING) ?? []).flatMap(textOf));
  return [...lines].flatMap((line) => {
    const start = startIn(line, name, env);
    return start ? [{ ...start, line }] : [];
  });
}

function textOf(literal: string): string[] {
  try {
    return [JSON.parse(literal) as string];
  } catch {
    return [];
  }
}

/** The fault of a hook, as the end of a sentence about it, and the mend where connecting again does not help. */
interface StartProblem {
  why: string;
  mend?: string;
}

/** Returns why a hook cannot start, as the end of a sentence about it; null where all that it names is there. It runs nothing. */
export function missingPart({ program, script }: HookStart, env: Environment): string | null {
  const place = placeOf(program, env);
  if (place === null || !existsSync(place)) return `starts ${program}, which is not there`;
  if (!isRunnable(place)) return `starts ${program}, which may not be run`;
  if (script === undefined || existsSync(script)) return null;
  return `names ${script}, which is not there: Parley was moved or removed`;
}

/** Does the same, and tries whether the program starts, is whole, and takes its flags. Nobody is asked. */
export async function startProblem(hook: InstalledHook, env: Environment): Promise<StartProblem | null> {
  const { program, script, isFetched, flags } = hook;
  const missing = missingPart(hook, env);
  if (missing !== null) return { why: missing };
  const version = await saidBy(placeOf(program, env) ?? program, ["--version"]);
  if (version === null) return { why: `starts ${program}, which does not run` };
  if (script !== undefined && Number.parseInt(version.replace(/^v/, ""), 10) < NEEDED_NODE) {
    return { why: `starts ${program}, which is Node ${version.trim()}, and it needs Node ${NEEDED_NODE}` };
  }
  // A hook after a tool says nothing, whatever it is sent.
  if (isFetched || flags.includes("--over")) return null;
  const [denied, passed] = await Promise.all([NO_EVENT, OTHER_EVENT].map((event) => replyTo(event, hook.line, env)));
  if (denied === undefined || denied === "" || NODE_FAILED.test(denied)) {
    const isOwn = script !== undefined && isSameFile(script, hookProgram());
    return { why: `names ${script ?? program}, which is empty or cut`, ...(isOwn && { mend: reinstalling() }) };
  }
  const why = denied === passed ? reasonIn(denied) : faultOfUrl(flags);
  return why === null ? null : { why: `denies every prompt, because ${why}` };
}

/** The server's address is read only for a prompt. */
function faultOfUrl(flags: readonly string[]): string | null {
  const at = flags.findLastIndex((word) => /^--url(=|$)/.test(word));
  const url = flags[at]?.startsWith("--url=") ? flags[at].slice("--url=".length) : flags[at + 1];
  const fault = at < 0 || url === undefined ? null : addressFault(url);
  return fault === null ? null : `its --url ${fault}`;
}

const isSameFile = (one: string, other: string): boolean =>
  existsSync(other) && realpathSync(one) === realpathSync(other);

/** Returns why a hook denied, as it tells its agent. */
function reasonIn(reply: string): string {
  return (/could not ask anybody: ([^"\n]*)/.exec(reply)?.[1] ?? reply.trim().split("\n")[0] ?? "").replace(/\.$/, "");
}

/** Returns a remark about a hook that starts, as the end of a sentence about it; null for one in the present form. */
export function startRemark(start: HookStart, env: Environment): string | null {
  const { program, script } = start;
  if ([program, script ?? ""].some((path) => path.split(sep).includes("_npx"))) {
    return "stands in npm's cache, which npm may empty: install Parley by npm install --global @parley/parley";
  }
  const [, present] = hookCommand();
  // Where the program of hooks is not built, an older form is all there is.
  if (present !== undefined && !isProgramOfHooks(present)) return null;
  return isDirect(start, env) ? null : "has an older form, which takes longer for each prompt";
}

/** True where nothing stands between the agent and the program of hooks, or the single executable. */
function isDirect({ program, script }: HookStart, env: Environment): boolean {
  if (script !== undefined) return isProgramOfHooks(script);
  const place = placeOf(program, env);
  return isAbsolute(program) && place !== null && !IS_SCRIPT.test(realpathSync(place));
}

const isProgramOfHooks = (path: string): boolean => path.endsWith(join("hook", "parley.cjs"));

/** Returns where a program is, as a shell would find it; null where it is not on the PATH. */
function placeOf(program: string, env: Environment): string | null {
  return /[/\\]/.test(program) ? program : programOf({ programs: [program] }, env);
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Resolves with what a program prints; null where it fails. */
function saidBy(program: string, words: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(program, words, { timeout: TELLS_WITHIN_MS }, (error, out) => resolve(error ? null : out));
  });
}

/** Resolves with all that a hook says to this event, run by a shell as its agent would; undefined where it does not end by itself. */
function replyTo(event: string, line: string, env: Environment): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: { ...env }, timeout: TELLS_WITHIN_MS };
    const child = execFile("/bin/sh", ["-c", line], options, (_error, out, err) =>
      resolve(child.exitCode === null ? undefined : out + err),
    );
    child.stdin?.on("error", () => undefined).end(event);
  });
}
