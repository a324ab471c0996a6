import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { codexTurn, escalated, type Home } from "./codex-app-server.ts";
import { APPROVE, folderIn, type HookedSite, openHookedSite, PROGRAMS, REASON, REJECT, TASK } from "./hooked-site.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { stepModel } from "./step-model.ts";

const LONGEST_MS = 120_000;

/** How each agent runs one command, for which it needs a permission. */
const RUNS = {
  codex: {
    tool: "Bash",
    // Codex tells no exit status.
    failedEnd: "done",
    file: ".codex/config.toml",
    settings: "",
    step: escalated,
    async run(home: Home, model: string) {
      assert.deepEqual(await codexTurn(home, model), ["permissionRequest", "postToolUse"]);
    },
  },
  gemini: {
    tool: "run_shell_command",
    failedEnd: "failed, exit 3",
    file: ".gemini/settings.json",
    settings: '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }',
    step: REAL_AGENTS.gemini.run,
    run({ folder, env }: Home, model: string) {
      const variables = { ...env, ...REAL_AGENTS.gemini.surroundings(model).env, GEMINI_CLI_TRUST_WORKSPACE: "true" };
      return new Promise<void>((resolve, reject) => {
        const options = { cwd: folder, timeout: LONGEST_MS, env: variables };
        const child = execFile(join(PROGRAMS, "gemini"), ["-p", TASK, "--yolo"], options, (error, out, err) =>
          error ? reject(new Error(`${out}${err}`, { cause: error })) : resolve(),
        );
        child.stdin?.end();
      });
    },
  },
} as const;

for (const [name, agent] of Object.entries(RUNS)) {
  const missing = isMissing(REAL_AGENTS[name as keyof typeof RUNS]);
  describe(`permission prompts of an unmodified ${name}`, { skip: missing }, () => {
    /** Runs the agent with the hook that parley wrote; returns its results, and whether the command ran. */
    async function release(
      decide: (site: HookedSite) => Promise<void>,
      { command = "touch released.txt", wantsEnd = false } = {},
    ) {
      await using site = await openHookedSite(name, { [agent.file]: agent.settings });
      await using model = await stepModel([agent.step(command), { say: "That was that." }]);
      const running = agent.run(site, model.url);
      await Promise.race([decide(site), running]);
      await running;
      return {
        results: model.results().join("\n"),
        isReleased: site.isReleased(),
        isTried: site.isReleased("tried.txt"),
        ends: wantsEnd ? await site.ends() : [],
        read: JSON.stringify(model.latest()),
      };
    }

    it("let a command run that a person approved, who saw the folder", async () => {
      const { results, isReleased } = await release(async (site) => {
        assert.equal(folderIn(await site.waiting(agent.tool)), realpathSync(site.folder));
        await site.decide(agent.tool, APPROVE);
      });
      assert.equal(isReleased, true, results);
    });

    for (const [command, end] of [
      ["touch released.txt", "done"],
      ["touch released.txt; exit 3", agent.failedEnd],
    ] as const) {
      it(`have the end ${end} after ${command}`, async () => {
        const approve = (site: HookedSite) => site.decide(agent.tool, APPROVE);
        const { ends } = await release(approve, { command, wantsEnd: true });
        assert.deepEqual(ends, [end]);
      });
    }

    it("are the way of a note to its model, which has it after the tool", async () => {
      const { read } = await release(async (site) => {
        await site.note(agent.tool, "Count the stars next.");
        await site.decide(agent.tool, APPROVE);
      });
      assert.match(read, /a person, by Parley\. It approves nothing.*Count the stars next\./);
    });

    it("keep a command from running that a person rejected, and give the reason", async () => {
      const { results, isReleased } = await release((site) => site.decide(agent.tool, REJECT));
      assert.equal(isReleased, false);
      assert.match(results, REASON);
    });

    it("run nothing where the server was killed in the middle, until it is back and a person approves", async () => {
      const { results, isReleased } = await release(async (site) => {
        await site.waiting(agent.tool);
        await site.killServer();
        await site.restartServer();
        assert.equal(site.isReleased(), false);
        await site.decide(agent.tool, APPROVE);
      });
      assert.equal(isReleased, true, results);
    });

    if (name !== "gemini") return;
    it("run the command as a person has changed it", async () => {
      const tried = await release(async (site) => {
        const kwargs = { command: "touch tried.txt", cwd: folderIn(await site.waiting(agent.tool)) };
        await site.post(agent.tool, { approved: true, kwargs });
      });
      assert.deepEqual([tried.isReleased, tried.isTried], [false, true], tried.results);
    });
  });
}
