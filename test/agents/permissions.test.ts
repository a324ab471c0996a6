import assert from "node:assert/strict";
import { execFile, type ExecFileException } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { blocksOf } from "../support/documents.ts";
import { parley, until } from "../support/program.ts";
import { APPROVE, type HookedSite, openHookedSite, REASON, REJECT } from "./hooked-site.ts";
import { stepModel } from "./step-model.ts";

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
  /** Runs Claude Code in a shell; returns what it told its model of the command it wanted to run, and what it printed. */
  async function release(command: string, { folder, env, isReleased }: HookedSite) {
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
    return { out, told: model.results().join("\n"), isReleased: isReleased() };
  }

  it("are two requests to people where the hook and the permission prompt tool are both on", async () => {
    await using place = await openHookedSite("claude");
    writeFileSync(join(place.folder, ".mcp.json"), (await parley(["mcp", "config", "claude"], place.env)).out);
    const running = release(shownIn(PAGE, "claude -p"), place);
    const two = async () => ((await place.inbox()).length === 2 ? place.inbox() : undefined);
    const asks = await Promise.race([until(two, "two requests"), running]);
    assert.ok(Array.isArray(asks), "it has ended without them");
    assert.deepEqual(
      asks.map(({ title }) => title),
      ["Bash", "Bash"],
    );
    await place.postTo(asks[0]?.id ?? "", { approved: true });
    assert.equal((await running).isReleased, true);
  });

  const ways = {
    "the permission prompt tool, as the page says": async ({ folder, env }: HookedSite) => {
      const { out } = await parley(["mcp", "config", "claude"], env);
      writeFileSync(join(folder, ".mcp.json"), out);
      const { code, err } = await parley(["hook", "uninstall", "claude"], env);
      assert.equal(code, 0, err);
      return shownIn(PAGE, "claude -p");
    },
    "the hook that parley wrote": async () => RELEASE,
  };
  for (const [way, prepare] of Object.entries(ways)) {
    it(`let a command run that a person approved, by ${way}`, async () => {
      await using place = await openHookedSite("claude");
      const running = release(await prepare(place), place);
      await Promise.race([place.decide("Bash", APPROVE), running]);
      const { out, isReleased } = await running;
      assert.deepEqual([isReleased, out.trim()], [true, "That was that."]);
    });

    it(`keep a command from running that a person rejected, and say why, by ${way}`, async () => {
      await using place = await openHookedSite("claude");
      const running = release(await prepare(place), place);
      await Promise.race([place.decide("Bash", REJECT), running]);
      const { told, isReleased } = await running;
      assert.equal(isReleased, false);
      assert.match(told, REASON);
    });
  }
});
