import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { until } from "./contract.ts";
import { reservePort } from "./ports.ts";
import { environment, newFolder } from "./program.ts";
import { afterLast } from "./shared.ts";

const run = promisify(execFile);
const TREE = join(import.meta.dirname, "../..");
/** Nothing of the product stands in these. */
const LEFT_OUT = new Set([".git", ".ci", "bin"]);

/** An addition to a copy of this tree. */
export interface Addition {
  /** The text of each new file. */
  files: Readonly<Record<string, string>>;
  /** Lines that are added to a file: before or behind the text `at`, which it has once. */
  lines: readonly { file: string; at: string; before?: string; behind?: string }[];
  /** Folders and files that may change in the copy, beside `src`. */
  copied?: readonly string[];
}

/** Returns the folder of a copy of this tree that has the addition. */
export function treeWith({ files, lines, copied = [] }: Addition): string {
  const copy = newFolder();
  copyInto(copy, "", ["src", ...copied]);
  for (const { file, at, before = "", behind = "" } of lines) {
    const text = readFileSync(join(copy, file), "utf8");
    assert.equal(text.split(at).length, 2, `${file} has one ${at}`);
    writeFileSync(
      join(copy, file),
      text.replace(at, () => before + at + behind),
    );
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    writeFileSync(join(copy, file), text);
  }
  return copy;
}

/** Copies these paths below a folder, and links all others to those of the tree. */
function copyInto(copy: string, folder: string, copied: readonly string[]): void {
  mkdirSync(join(copy, folder), { recursive: true });
  for (const name of readdirSync(join(TREE, folder))) {
    const path = join(folder, name);
    if (LEFT_OUT.has(path)) continue;
    if (copied.includes(path)) cpSync(join(TREE, path), join(copy, path), { recursive: true });
    else if (copied.some((one) => one.startsWith(`${path}/`))) copyInto(copy, path, copied);
    else symlinkSync(join(TREE, path), join(copy, path));
  }
}

/** Returns the files of a copy that the tree has not, or has with other text. */
export function touchedIn(copy: string): string[] {
  const textOf = (root: string, file: string) => {
    try {
      return readFileSync(join(root, file), "utf8");
    } catch {
      return null;
    }
  };
  return globSync("{src,scripts,docs}/**/*.{ts,mjs,json,md}", { cwd: copy })
    .filter((file) => textOf(copy, file) !== textOf(TREE, file))
    .sort();
}

/** The program of a copy, with a home and a data directory of its own. */
export interface CopiedProgram {
  env: Record<string, string | undefined>;
  /** Runs a command to its end. @throws {Error} for another exit code than 0 */
  parley(...argv: string[]): Promise<{ stdout: string; stderr: string }>;
  /** Makes a key, and returns the headers that show it. */
  headersOf(...argv: string[]): Promise<{ authorization: string }>;
  /** Starts the server, and resolves with its address once it answers. */
  serve(): Promise<{ url: string; stop: () => Promise<void> }>;
}

export function programOf(copy: string, more: Record<string, string> = {}): CopiedProgram {
  const env = environment({ PARLEY_DATA_DIR: newFolder(), ...more });
  const main = join(copy, "src/main.ts");
  const parley: CopiedProgram["parley"] = (...argv) => run(process.execPath, [main, ...argv], { env });
  return {
    env,
    parley,
    async headersOf(...argv) {
      return { authorization: `Bearer ${(await parley("keys", "create", ...argv)).stdout.trim()}` };
    },
    async serve() {
      const port = String(await reservePort());
      const server = spawn(process.execPath, [main, "serve", "--port", port], { env, stdio: "ignore" });
      afterLast(() => void server.kill("SIGKILL"));
      const url = `http://127.0.0.1:${port}`;
      await until(async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok || undefined);
      const stop = async () => {
        const closed = once(server, "close");
        server.kill("SIGTERM");
        await closed;
      };
      return { url, stop };
    },
  };
}
