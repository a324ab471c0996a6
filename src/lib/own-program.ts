import { existsSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";

/**
 * The arguments between `process.execPath` and the script when Parley starts one of its own programs. Under Node there
 * are no such arguments. The single executable has Node inside and runs the command `parley`; this argument makes it
 * run a script instead (scripts/binary-main.cjs). Threads do not need it.
 */
export const AS_NODE: readonly string[] = isSea() ? ["--as-node"] : [];

/**
 * Returns the options of Node that a program of ours is started with, as arguments before `AS_NODE`, or, where Node is
 * inside the single executable and takes none from its command line, in the environment.
 */
export function nodeOptions(options: readonly string[]): {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
} {
  if (!isSea()) return { args: options, env: {} };
  const quoted = options.map((option) => `"${option.replaceAll(/["\\]/g, "\\$&")}"`);
  return { args: [], env: { NODE_OPTIONS: quoted.join(" ") } };
}

/** Returns the command `parley` as any program of this machine can start it, whatever its folder and its `PATH`. */
export function ownCommand(): [string, ...string[]] {
  return isSea() ? [process.execPath] : [process.execPath, ...process.argv.slice(1, 2).map(outsideNpx)];
}

/** Returns the program of hooks, which a checkout builds (scripts/setup.mjs) and a package brings along. */
export const hookProgram = (): string => fileURLToPath(new URL("../../bin/hook/parley.cjs", import.meta.url));

/** Returns a sentence about how this Parley gets a whole program of hooks again. */
export function reinstalling(): string {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const isCheckout = existsSync(join(root, "scripts", "setup.mjs"));
  return isCheckout
    ? `To build it again: npm run setup, in ${root}`
    : "To install it again: npm install --global @parley/parley";
}

/** Returns the command that decides hooks: that program by this Node, and the command `parley` where it is not built. */
export function hookCommand(): [string, ...string[]] {
  return isSea() || !existsSync(hookProgram()) ? ownCommand() : [process.execPath, hookProgram()];
}

/**
 * Returns where a script itself is. `npx` starts the program of a checkout by a link in npm's cache, which npm may empty
 * at any time. Other links are kept: an update of a package manager points them to the new version.
 */
const outsideNpx = (script: string): string => (script.split(sep).includes("_npx") ? realpathSync(script) : script);

/** Returns the command line that starts this process's program again, with the words that it was started with. */
export function ownCommandLine(): [string, ...string[]] {
  if (isSea()) return [process.execPath, ...process.argv.slice(2)];
  return [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
}
