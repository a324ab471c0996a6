import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { AGENTS } from "../../src/connect/registry.ts";
import { testPrompt } from "../../src/cli/connect/test-prompt.ts";
import { itAtTerminal, sitDown } from "../support/at-terminal.ts";
import { ROOMY, sharedWorld, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { HOOK_PROGRAM, newFolder, parley, start } from "../support/program.ts";

/** A home in which these agents are in use. */
function homeWith(...folders: string[]): string {
  const home = newFolder();
  mkdirSync(home);
  for (const folder of folders) mkdirSync(join(home, folder));
  return home;
}

describe("parley connect, with a server", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });

  it("writes the agents that are here, and raises one prompt of each that people decide", async () => {
    const operator = await decider(world(), "1");
    const home = homeWith(".gemini", ".cursor");
    const run = start(["connect"], { HOME: home, PARLEY_URL: world().url });
    const asks = await until(async () => {
      const inbox = await operator.inbox();
      return inbox.length === 2 ? inbox : undefined;
    });
    const agents: string[] = [];
    for (const { id } of asks) {
      const { body } = await operator.whole(id);
      agents.push(String(body.agent));
      assert.match(JSON.stringify(body.arguments), /printf hello/);
      const approved = String(body.agent).startsWith("gemini");
      await operator.decide(id, { approved, digest: body.digest, ...(!approved && { comment: "no" }) });
    }
    assert.deepEqual(agents.toSorted(), ["cursor (without a key)", "gemini-cli (without a key)"]);
    const { code, out, err } = await run.ended;
    assert.equal(code, 0, err);
    assert.match(out, /^Gemini CLI: allowed/m);
    assert.match(out, /^Cursor: denied\. Rejected by operator: no$/m);
    assert.match(err, /^Not found here: .*Claude Code/m);
    const settings = readFileSync(join(home, ".gemini/settings.json"), "utf8");
    assert.ok(settings.includes(`${HOOK_PROGRAM} hook gemini`) && settings.includes(`${world().url}/mcp`));
    assert.ok(!existsSync(join(home, ".claude")));
  });

  it("shows the last prompt of each agent that is here, and how to connect the others", async () => {
    const operator = await decider(world(), "1");
    const env = { HOME: homeWith(".codex", ".copilot"), PARLEY_URL: world().url };
    const run = start(["connect", "codex"], env);
    await operator.decides({ approved: false, comment: "no" });
    assert.equal((await run.ended).code, 0);
    const { out, err } = await parley(["connect", "status"], env);
    assert.match(out, /^1 of 2 agents of this computer go through Parley\nAGENT .* MCP +LAST PROMPT +FILES$/m);
    assert.match(out, /^Codex .* yes +(?:just now|\d+ min ago): Bash, rejected by operator +~/m);
    assert.match(out, /^Copilot CLI .* none +~/m);
    assert.match(err, /^To connect the others: parley connect copilot$/m);
    const rows = JSON.parse((await parley(["connect", "status", "--json"], env)).out);
    assert.deepEqual(
      rows.map((row: { agent: string; last_prompt: { outcome: string } | null }) => [
        row.agent,
        row.last_prompt?.outcome,
      ]),
      [
        ["codex", "rejected"],
        ["copilot", undefined],
      ],
    );
  });

  it("withdraws its prompts when it is interrupted", async () => {
    const operator = await decider(world(), "1");
    const run = start(["connect", "codex"], { HOME: homeWith(), PARLEY_URL: world().url });
    await until(async () => ((await operator.inbox()).length === 1 ? true : undefined));
    run.child.kill("SIGINT");
    assert.equal((await run.ended).code, 130);
    await until(async () => ((await operator.inbox()).length === 0 ? true : undefined));
  });
});

describe("parley connect, without a server", () => {
  it("says which agents go through Parley, before and after", async () => {
    const home = homeWith(".codex", ".copilot");
    const env = { HOME: home };
    assert.match((await parley(["connect", "status"], env)).out, /^0 of 2 agents of this computer go through Parley\n/);
    assert.equal((await parley(["connect", "codex", "--no-test"], env)).code, 0);
    const after = await parley(["connect", "status"], env);
    assert.match(after.out, /^1 of 2 agents/);
    assert.match(after.out, /^Codex +- +yes +yes +~\/\.codex\/hooks\.json, ~\/\.codex\/config\.toml$/m);
    assert.match(after.out, /^Copilot CLI +- +no +- /m);
    assert.equal((await parley(["disconnect"], env)).code, 0);
    assert.match((await parley(["connect", "status"], env)).out, /^0 of 2 agents/);
    assert.match((await parley(["disconnect"], env)).err, /There is no Parley/);
  });

  it("writes nothing when tried, and knows no other agent", async () => {
    const home = homeWith(".gemini");
    const tried = await parley(["connect", "--dry-run"], { HOME: home });
    assert.equal(tried.code, 0, tried.err);
    assert.match(tried.out, /^AGENT +VERSION +HOOK +MCP +FILES +REACHES PEOPLE\nGemini CLI /);
    assert.match(tried.err, /^Gemini CLI keeps for itself: .*\nNothing was written\.\n$/m);
    assert.ok(!existsSync(join(home, ".gemini/settings.json")));
    assert.equal((await parley(["connect", "emacs"], { HOME: home })).code, 2);
    assert.equal((await parley(["connect"], { HOME: homeWith() })).code, 1);
  });

  it("leaves a file that it does not understand as it is, and goes on with the other agents", async () => {
    const home = homeWith(".gemini", ".cursor");
    writeFileSync(join(home, ".gemini/settings.json"), "{ not JSON");
    const first = await parley(["connect", "--no-test"], { HOME: home });
    assert.equal(first.code, 1);
    assert.match(first.err, /settings\.json was left as it is: /);
    assert.match(first.out, /^Gemini CLI +- +\? +\? /m);
    assert.ok(existsSync(join(home, ".cursor/hooks.json")));
    assert.match((await parley(["connect", "status"], { HOME: home })).out, /^1 of 2 agents/);
    assert.equal((await parley(["disconnect"], { HOME: home })).code, 1);
    assert.ok(!existsSync(join(home, ".cursor/hooks.json")));
    assert.equal(readFileSync(join(home, ".gemini/settings.json"), "utf8"), "{ not JSON");
  });

  it("takes away the folders that it made, and those alone", async () => {
    const env = { HOME: homeWith(".gemini") };
    assert.equal((await parley(["connect", "gemini", "opencode", "--no-test"], env)).code, 0);
    assert.ok(existsSync(join(env.HOME, ".config/opencode/plugin/parley.js")));
    assert.equal((await parley(["disconnect"], env)).code, 0);
    assert.deepEqual([existsSync(join(env.HOME, ".gemini")), existsSync(join(env.HOME, ".config"))], [true, false]);
  });

  it("says that nobody could be asked", async () => {
    const env = { HOME: homeWith(), PARLEY_URL: "http://127.0.0.1:1" };
    const { code, out } = await parley(["connect", "gemini"], env);
    assert.equal(code, 3);
    assert.match(out, /^Gemini CLI: not decided\. Parley could not ask anybody\. No Parley server answers/m);
  });

  itAtTerminal("asks once whoever sits at a terminal", async () => {
    const home = homeWith(".gemini", ".cursor");
    const sitting = sitDown(["connect", "--no-test"], { HOME: home });
    await sitting.sees("Write it? [Y/n]");
    assert.ok(!existsSync(join(home, ".cursor/hooks.json")));
    sitting.types("\r");
    assert.equal(await sitting.ended, 0);
    for (const file of [".cursor/hooks.json", ".gemini/settings.json"]) assert.ok(existsSync(join(home, file)), file);
  });

  it("has a test prompt that each agent's hook takes for its own", async () => {
    for (const row of Object.values(AGENTS)) {
      const agent = await row.load();
      const prompt = agent.read(Buffer.from(JSON.stringify(testPrompt(agent))));
      assert.match(JSON.stringify(prompt?.shown), /printf hello/, agent.title);
    }
  });
});
