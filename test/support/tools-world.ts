import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal } from "../../src/refusals.ts";
import { heldClock, type HeldClock } from "./held-clock.ts";
import { openRunnerWorld, type RunnerWorld } from "./runner-world.ts";
import type { Line, Script } from "./scripted-llm.ts";

const MISBEHAVING = fileURLToPath(new URL("./misbehaving-tools.ts", import.meta.url));
const FILESYSTEM = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url),
);
const MINT = `console.log(JSON.stringify({ DB_TOKEN: "minted-" + process.pid }))`;

/** How long `db.slow`, which takes longer, may take. */
export const SLOW_MS = 300;

export const call = (name: string, args: unknown = {}): Line => ({ calls: [{ name, args }] });
export const done = (words = "done"): Line => JSON.stringify({ answer_text: words });

/** A runner with the official filesystem server and one that misbehaves. */
export interface ToolsWorld extends AsyncDisposable {
  world: RunnerWorld;
  /** The clock of the runner's limits. A tool takes no time unless this clock moves. */
  clock: HeldClock;
  /** Where the filesystem server may read; `orders.csv` is there. */
  dir: string;
  /** The model says these one after another, and the last one for ever. */
  says(...lines: Line[]): void;
  /** The newest tool results that the model got. */
  results(): readonly string[];
  /** Changes what `db.read` says of itself. */
  describe(text: string): void;
  /** Whether policy allows tools to change something. */
  allows: boolean;
}

export async function openToolsWorld(): Promise<ToolsWorld> {
  const dir = mkdtempSync(join(tmpdir(), "parley-tools-"));
  const description = join(dir, "description.txt");
  writeFileSync(description, "Reads tables");
  writeFileSync(join(dir, "orders.csv"), "id,currency\n1,EUR\n");
  const clock = heldClock();
  let script: Script = () => "";
  const own = (tool: string, more = {}) => ({ server: "own", tool, ...more });
  const world: RunnerWorld = await openRunnerWorld({
    script: (heard, number) => script(heard, number),
    canaries: ["CANARY-77"],
    servers: {
      own: { command: [process.execPath, MISBEHAVING, description], mint: [process.execPath, "-e", MINT] },
      files: { command: [process.execPath, FILESYSTEM, dir] },
      gone: { command: ["/nowhere/at-all"] },
    },
    tools: {
      "db.read": own("reader", { caps_args: { database: "db", tables: "tables" } }),
      "db.slow": own("slow", { timeout_ms: SLOW_MS }),
      "db.huge": own("huge"),
      "db.broken": own("broken"),
      "db.dies": own("dies"),
      "db.leaky": own("leaky"),
      "db.env": own("environment"),
      "db.write": own("writer", { read_only: false }),
      "db.pretender": own("pretender"),
      "db.uncheckable": own("uncheckable"),
      "db.missing": own("nothing-of-that-name"),
      "fs.read": { server: "files", tool: "read_text_file" },
      "fs.write": { server: "files", tool: "write_file" },
      "gone.tool": { server: "gone", tool: "x" },
    },
    more: {
      clock,
      async allowWrite({ tool }) {
        world.happened.push(`policy: ${tool}`);
        return { isAllowed: tools.allows, reason: "writes are for people to allow" };
      },
      artifacts: {
        async write({ jobId, epoch }, path, bytes) {
          if (path.includes("..")) throw new Refusal("invalid_input", {}, "the path leads out of the folder");
          world.artifacts.set(`${jobId}/${epoch}/${path}`, new TextDecoder().decode(bytes));
        },
      },
    },
  });
  const tools: ToolsWorld = {
    world,
    clock,
    dir,
    allows: false,
    says(...lines) {
      world.llm.heard.splice(0);
      script = () => lines[Math.min(world.llm.heard.length, lines.length) - 1] ?? "";
    },
    results: () => world.llm.heard.at(-1)?.results ?? [],
    describe: (text) => writeFileSync(description, text),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true });
    },
  };
  return tools;
}
