import assert from "node:assert/strict";
import { execFile, type ExecFileException } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { blocksOf } from "../support/documents.ts";
import { MAIN, newFolder, parley, type Run, serve, stop } from "../support/program.ts";
import { stepModel } from "./step-model.ts";

const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));
const PAGE = "docs/how-to/claude-code.md";
const LONGEST_MS = 120_000;
const RELEASE = 'claude -p "Release version 1.4.2"';

/** The command of the page whose first words are these. */
function shownIn(page: string, begins: string): string {
  const block = blocksOf(page).find(({ text }) => text.startsWith(begins));
  assert.ok(block, `${page} has no block that begins with ${begins}`);
  return block.text.trim();
}

describe("permission prompts of an unmodified Claude Code", () => {
  const dataDir = newFolder();
  let server: Run & { url: string };
  let [key, inbox]: [string, Record<string, string>] = ["", {}];
  before(async () => {
    server = await serve(dataDir);
    const store = { PARLEY_DATA_DIR: dataDir };
    key = (await parley(["keys", "create", "coder", "--scope", "agent"], store)).out.trim();
    const mine = ["keys", "create", "phone", "--scope", "answer", "--person", "1"];
    inbox = { PARLEY_URL: server.url, PARLEY_KEY: (await parley(mine, store)).out.trim() };
  });
  after(() => stop(server));

  /** Decides the next request in the inbox, as its person would from another terminal. */
  async function decide(fn: string, flags: (digest: string) => string[]): Promise<void> {
    for (;;) {
      const [ask] = JSON.parse((await parley(["inbox", "--json"], inbox)).out) as { id: string; title: string }[];
      if (ask?.title !== fn) continue;
      const { digest } = JSON.parse((await parley(["inbox", ask.id, "--json"], inbox)).out) as { digest: string };
      const { code, err } = await parley(["inbox", ask.id, ...flags(digest)], inbox);
      assert.equal(code, 0, err);
      return;
    }
  }

  /** A home of its own, in which the shell finds `claude` and `parley`. */
  function home(): { folder: string; env: Record<string, string> } {
    const folder = newFolder();
    mkdirSync(join(folder, "bin"), { recursive: true });
    const script = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
    writeFileSync(join(folder, "bin/parley"), script);
    chmodSync(join(folder, "bin/parley"), 0o755);
    const path = [join(folder, "bin"), PROGRAMS, dirname(process.execPath), process.env["PATH"]].join(delimiter);
    return { folder, env: { PATH: path, HOME: folder, PARLEY_URL: server.url, PARLEY_KEY: key } };
  }

  /** Runs Claude Code in a shell; returns what it told its model of the command it wanted to run, and what it printed. */
  async function release(command: string, { folder, env }: ReturnType<typeof home>) {
    const wanted = { command: "touch released.txt", description: "Release it" };
    await using model = await stepModel([{ call: "Bash", input: wanted }, { say: "That was that." }]);
    const running = new Promise<string>((resolve, reject) => {
      const child = execFile(
        "bash",
        ["--norc", "-euc", `${command} --model claude-sonnet-4-5`],
        {
          cwd: folder,
          timeout: LONGEST_MS,
          env: {
            ...env,
            ANTHROPIC_BASE_URL: model.url,
            ANTHROPIC_API_KEY: "none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
            DISABLE_AUTOUPDATER: "1",
          },
        },
        (error: ExecFileException | null, out, err) =>
          error ? reject(new Error(`${out}${err}`, { cause: error })) : resolve(out),
      );
      child.stdin?.end();
    });
    const out = await running;
    return { out, told: model.results().join("\n"), isReleased: existsSync(join(folder, "released.txt")) };
  }

  const ways = {
    "the permission prompt tool, as the page says": async ({ folder, env }: ReturnType<typeof home>) => {
      const { out } = await parley(["mcp", "config", "claude"], env);
      writeFileSync(join(folder, ".mcp.json"), out);
      return shownIn(PAGE, "claude -p");
    },
    "the hook that parley wrote": async ({ env }: ReturnType<typeof home>) => {
      const { code, err } = await parley(["hook", "install", "claude"], env);
      assert.equal(code, 0, err);
      return RELEASE;
    },
  };
  for (const [way, prepare] of Object.entries(ways)) {
    it(`let a command run that a person approved, by ${way}`, async () => {
      const place = home();
      const running = release(await prepare(place), place);
      await Promise.race([decide("Bash", (digest) => ["--approve", digest]), running]);
      const { out, isReleased } = await running;
      assert.deepEqual([isReleased, out.trim()], [true, "That was that."]);
    });

    it(`keep a command from running that a person rejected, and say why, by ${way}`, async () => {
      const place = home();
      const running = release(await prepare(place), place);
      await Promise.race([decide("Bash", () => ["--reject", "--comment", "use the staging bucket"]), running]);
      const { told, isReleased } = await running;
      assert.equal(isReleased, false);
      assert.match(told, /use the staging bucket/);
    });
  }
});
