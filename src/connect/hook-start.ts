import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { basename, isAbsolute, join, sep } from "node:path";
import { hookCommand } from "../lib/own-program.ts";
import { homeOf, programOf } from "./agent.ts";
import { type HookStart, startIn } from "./own-hooks.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const NEEDED_NODE = 24;
const TELLS_WITHIN_MS = 10_000;
/** A text in JSON, and in a plugin that Parley wrote. */
const STRING = /"(?:[^"\\]|\\.)*"/g;
const IS_NODE = /^node(js)?(\.exe)?$/;
const IS_SCRIPT = /\.(cjs|mjs|js)$/;

/** Returns how Parley's hooks in the text of an agent's file are started. */
export function startsIn(text: string, name: string): HookStart[] {
  const lines = (text.match(STRING) ?? []).flatMap(textOf);
  return [...new Set(lines)].flatMap((line) => startIn(line, name) ?? []);
}

function textOf(literal: string): string[] {
  try {
    return [JSON.parse(literal) as string];
  } catch {
    return [];
  }
}

/** Returns why a hook cannot start, as the end of a sentence about it; null where all that it names is there. It runs nothing. */
export function missingPart({ program, script }: HookStart, env: Environment): string | null {
  const place = placeOf(program, env);
  if (place === null || !existsSync(place)) return `starts ${program}, which is not there`;
  if (!isRunnable(place)) return `starts ${program}, which may not be run`;
  if (script === undefined || !IS_NODE.test(basename(program)) || existsSync(homely(script, env))) return null;
  return `names ${script}, which is not there: Parley was moved or removed`;
}

/** Does the same, and tries whether the program starts and reads its file. */
export async function startProblem(start: HookStart, env: Environment): Promise<string | null> {
  const { program, script } = start;
  const missing = missingPart(start, env);
  if (missing !== null) return missing;
  const place = placeOf(program, env) ?? program;
  const said = await saidBy(place, ["--version"]);
  if (said === null) return `starts ${program}, which does not run`;
  if (script === undefined || !IS_NODE.test(basename(program))) return null;
  if (Number.parseInt(said.replace(/^v/, ""), 10) < NEEDED_NODE) {
    return `starts ${program}, which is Node ${said.trim()}, and it needs Node ${NEEDED_NODE}`;
  }
  const isRead = !IS_SCRIPT.test(script) || (await saidBy(place, ["--check", homely(script, env)])) !== null;
  return isRead ? null : `names ${script}, which Node cannot read: install Parley again`;
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
  if (script !== undefined) return IS_NODE.test(basename(program)) && isProgramOfHooks(script);
  const place = placeOf(program, env);
  return isAbsolute(program) && place !== null && !IS_SCRIPT.test(realpathSync(place));
}

const isProgramOfHooks = (path: string): boolean => path.endsWith(join("hook", "parley.cjs"));

/** Returns where a program is, as a shell would find it; null where it is not on the PATH. */
function placeOf(program: string, env: Environment): string | null {
  return /[/\\]/.test(program) ? homely(program, env) : programOf({ programs: [program] }, env);
}

/** Returns a path without the shell's mark of the home folder. */
function homely(path: string, env: Environment): string {
  return path.startsWith("~/") ? join(homeOf(env), path.slice(2)) : path;
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
