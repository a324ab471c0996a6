import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Block, blocksOf, ROOT_FOLDER } from "./documents.ts";
import { environment, MAIN, newFolder, until } from "./program.ts";

/** The actions of a person in a browser while a block waits; `said` returns the output of the block so far. */
export type Hand = (said: () => string) => Promise<void>;
/** The actions by hand, by the last line of their block. */
export type Hands = Readonly<Record<string, Hand>>;

/** The texts with which a reader replaces the page's own, such as the address of their computer. */
export type Replacements = readonly (readonly [from: string, to: string])[];

/** A command of a tutorial, and what the page says it prints. */
export interface Step {
  command: Block;
  expected?: Block;
}

/** Returns the commands of a tutorial in their order, each with the output that is shown after it. */
export function stepsOf(file: string): Step[] {
  const steps: Step[] = [];
  for (const block of blocksOf(file)) {
    const last = steps.at(-1);
    if (block.language === "sh") steps.push({ command: block });
    else if (block.language === "text" && last && !last.expected) last.expected = block;
    else throw new Error(`${file}:${block.line}: a block that is neither a command nor the output of the one before`);
  }
  return steps;
}

/** Tells whether output is as a page shows it: `…` stands for anything in a line, and a line `...` for any lines. */
export function isAsShown(shown: string, output: string): boolean {
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const lineOf = (line: string) => `${line.split("…").map(literal).join(".*?")} *\n`;
  const lines = shown.trimEnd().split("\n");
  const pattern = lines.map((line) => (line === "..." ? "(?:.*\n)*?" : lineOf(line))).join("");
  return new RegExp(`^${pattern}$`).test(output.endsWith("\n") ? output : `${output}\n`);
}

/**
 * Somebody new to Parley: an empty home, an empty folder, two terminals. The first holds the server, the second keeps
 * its folder and its variables from block to block.
 */
export class Walker {
  readonly home = newFolder();
  readonly #port: string;
  readonly #folder = join(this.home, "work");
  #server?: { child: ChildProcess } | undefined;

  constructor(port: string) {
    this.#port = port;
    mkdirSync(join(this.home, "bin"), { recursive: true });
    mkdirSync(this.#folder);
    const programs = {
      // `npm` links this checkout's packages into a clone. test/project/readme.large.test.ts runs the real `npm`.
      npm: `[ "$*" = start ] || exit 1; [ -e node_modules ] || ln -s "${join(ROOT_FOLDER, "node_modules")}" node_modules; exec "${process.execPath}" "${MAIN}" serve`,
      npx: `[ "$1" = parley ] || exit 1; shift; exec "${process.execPath}" "${MAIN}" "$@"`,
    };
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(this.home, "bin", name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(this.home, "bin", name), 0o755);
    }
  }

  /** Walks through a tutorial from its first block to its last. */
  async walk(file: string, hands: Hands, replacements: Replacements): Promise<void> {
    const used = new Set<string>();
    const asTyped = (text: string) => replacements.reduce((typed, [from, to]) => typed.replaceAll(from, to), text);
    for (const { command, expected } of stepsOf(file)) {
      const place = `${file}:${command.line}`;
      const text = asTyped(command.text);
      const shown = expected && asTyped(expected.text);
      if (/npm start$/m.test(text)) {
        await this.#serve(text, place);
        continue;
      }
      const name = command.text.trimEnd().split("\n").at(-1) ?? "";
      const hand = hands[name];
      if (hand) used.add(name);
      const output = await this.#run(text, hand, place);
      if (shown !== undefined) assert.ok(isAsShown(shown, output), `${place} shows\n${shown}\nand prints\n${output}`);
    }
    assert.deepEqual([...used], Object.keys(hands), `${file}: something is done by hand for a block that is not there`);
  }

  /** Ends the server, as Ctrl-C does: by one signal to everybody in the terminal. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server?.child.pid || server.child.exitCode !== null || server.child.signalCode !== null) return;
    const ended = once(server.child, "close");
    process.kill(-server.child.pid, "SIGINT");
    await ended;
  }

  async #serve(text: string, place: string): Promise<void> {
    await this.stop();
    const started = this.#start(`cd parley\n${text}`);
    this.#server = started;
    const isOver = () => started.child.exitCode !== null || started.child.signalCode !== null;
    // The greeting on the page is for a terminal. Without a terminal the server logs the same as lines.
    await until(() => started.said().includes("Parley listens") || isOver(), `${place}: the greeting`);
    assert.ok(!isOver(), `${place}: the server ended: ${started.said()}${started.warned()}`);
  }

  /** Runs a block in the second terminal, with what is done by hand meanwhile, and returns what it printed. */
  async #run(text: string, hand: Hand | undefined, place: string): Promise<string> {
    const state = join(this.home, "terminal");
    const restore = existsSync(state) ? `. "${state}"; cd "$PWD"\n` : "";
    const started = this.#start(`set -euo pipefail\n${restore}${text}\nexport -p > "${state}"\n`);
    // A block that fails has nothing to wait for by hand.
    const ended = once(started.child, "close").then(([code]) => {
      assert.equal(code, 0, `${place} failed: ${started.said()}${started.warned()}`);
    });
    await Promise.all([ended, hand?.(started.said)]);
    return started.said();
  }

  #start(text: string) {
    const child = spawn("bash", ["--norc", "-c", text], {
      cwd: this.#folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: environment({
        HOME: this.home,
        PATH: `${join(this.home, "bin")}:${dirname(process.execPath)}:${process.env["PATH"]}`,
        PARLEY_PORT: this.#port,
      }),
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (more: string) => (out += more));
    child.stderr.setEncoding("utf8").on("data", (more: string) => (err += more));
    return { child, said: () => out, warned: () => err };
  }
}
